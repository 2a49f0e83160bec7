#include "dav/groupware/sync_state.hpp"

#include "welkin/core/text.hpp"

namespace welkin::dav::groupware {
namespace {

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

}  // namespace welkin::dav::groupware
