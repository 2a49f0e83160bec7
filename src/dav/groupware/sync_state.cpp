#include "dav/groupware/sync_state.hpp"

#include "dav/groupware/spot.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav::groupware {
namespace {

[[noreturn]] void refuse(const char* why) { throw Error(Errc::invalid, "bad_report", why); }

std::string prefix(const collections::Collection& collection) {
  return "urn:welkin:collection:" + collection.uid + '/' + std::to_string(collection.epoch) + '-';
}

}  // namespace

std::string write_token(const collections::Collection& collection) {
  return write_token(collection, collection.seq);
}

std::string write_token(const collections::Collection& collection, std::int64_t seq) {
  return prefix(collection) + std::to_string(seq);
}

std::optional<std::int64_t> read_token(const collections::Collection& collection, std::string_view token) {
  const auto before = prefix(collection);
  if (!token.starts_with(before)) return std::nullopt;
  const auto seq = text::signed_number(token.substr(before.size()));
  // A number that is still to come was given away before the database was restored.
  if (!seq || *seq < 0 || *seq > collection.seq || write_token(collection, *seq) != token)
    return std::nullopt;
  return seq;
}

SyncQuestion read_sync_question(const http::Request& rq, const wire::XmlElement& body) {
  SyncQuestion question;
  const auto* token = body.child(kDav, "sync-token");
  if (token == nullptr) refuse("A sync-collection has a sync-token, be it empty");
  question.token = token->trimmed();
  if (const auto* level = body.child(kDav, "sync-level")) {
    question.is_infinite = level->trimmed() == "infinite" || level->trimmed() == "infinity";
    if (!question.is_infinite && level->trimmed() != "1") refuse("The sync-level is 1 or infinite");
  } else {
    const auto depth = text::trim(rq.header("depth"));
    if (depth != "0" && depth != "1") refuse("A sync-collection has a sync-level");
  }
  if (const auto* limit = body.child(kDav, "limit")) {
    const auto* nresults = limit->child(kDav, "nresults");
    question.limit = nresults == nullptr ? std::nullopt : text::number(nresults->trimmed());
    if (!question.limit) refuse("A limit holds a number of results");
  }
  return question;
}

}  // namespace welkin::dav::groupware
