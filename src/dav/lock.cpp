#include "dav/lock.hpp"

#include <algorithm>
#include <limits>

#include "dav/user_lock.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/errors.hpp"
#include "welkin/wire/multistatus.hpp"

namespace welkin::dav {
namespace {

using http::Status;
using wire::XmlElement;

constexpr std::string_view kDav = "DAV:";
constexpr std::string_view kXmlType = "application/xml; charset=utf-8";
constexpr std::size_t kOwnerBytesMax = 8192;
constexpr std::uint32_t kSecondsMin = 60, kSecondsMax = 3600;

/// Of the list, the first that is understood (RFC 4918 §10.7); nullopt: none is, or there is no list.
std::optional<std::uint32_t> asked_seconds(const http::Request& rq) {
  const std::string all = rq.headers().joined("timeout");
  for (auto one : text::split(all, ',')) {
    one = text::trim(one);
    if (text::iequals(one, "infinite")) return kSecondsMax;
    if (one.size() <= 7 || !text::iequals(one.substr(0, 7), "second-")) continue;
    const auto seconds = text::number(one.substr(7));
    if (!seconds || *seconds > std::numeric_limits<std::uint32_t>::max()) continue;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(*seconds, kSecondsMin, kSecondsMax));
  }
  return std::nullopt;
}

std::string owner_of(const XmlElement& info) {
  const auto* const owner = info.child(kDav, "owner");
  if (!owner) return {};
  std::string out;
  wire::append_escaped(out, owner->text);
  for (const auto& child : owner->children) {
    wire::append_xml(out, child);
    wire::append_escaped(out, child.tail);
  }
  if (out.size() > kOwnerBytesMax)
    throw Error(Errc::too_large, "owner_too_long", "The owner of a lock takes at most 8 KiB");
  return out;
}

files::LockRequest request_of(const http::Request& rq, const XmlElement& info) {
  const auto refuse = [](const char* what) { throw Error(Errc::invalid, "bad_lockinfo", what); };
  if (!info.is(kDav, "lockinfo")) refuse("The body of LOCK is a DAV:lockinfo");
  const auto* const scope = info.child(kDav, "lockscope");
  const auto* const type = info.child(kDav, "locktype");
  if (!scope || !type) refuse("A DAV:lockinfo holds a lockscope and a locktype");
  if (!type->child(kDav, "write"))
    throw Error(Errc::unprocessable, "bad_locktype", "There are only write locks");
  files::LockRequest request;
  request.exclusive = scope->child(kDav, "exclusive") != nullptr;
  if (request.exclusive == (scope->child(kDav, "shared") != nullptr))
    refuse("A lockscope is either exclusive or shared");
  const auto depth = depth_of(rq);
  if (depth && depth->depth == Depth::one) throw Error(Errc::invalid, "bad_depth", "Depth is 0 or infinity");
  request.infinite = !depth || depth->depth == Depth::infinity;
  request.seconds = asked_seconds(rq).value_or(kSecondsMax);
  request.owner_xml = owner_of(info);
  return request;
}

/// The property as LOCK answers it. The lock meant stands first: some clients read the first token.
std::string discovery(const Change& change, const files::Lock& meant, std::vector<files::Lock> all) {
  std::string out = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<d:prop xmlns:d=\"DAV:\"><d:lockdiscovery>";
  const auto append = [&](const files::Lock& lock) {
    append_active_lock(out, lock, root_of(lock, change.place).href(lock.on_folder),
                       change.services.clock.now());
  };
  append(meant);
  for (const auto& lock : all)
    if (lock.token != meant.token) append(lock);
  return out += "</d:lockdiscovery></d:prop>";
}

Task<> answer_lock(Change& change, Status status, const files::Lock& lock, NodeId node) {
  auto all = co_await change.services.files.locks().covering(change.rq.caller(), node);
  co_await change.rp.send(status, kXmlType, discovery(change, lock, std::move(all)));
}

/// What is in the way: below, the answer tells of several resources (RFC 4918 §9.10.9); else 423 with the
/// roots.
Task<> answer_conflicts(Change& change, const std::vector<files::Lock>& conflicts) {
  const bool below = std::any_of(conflicts.begin(), conflicts.end(),
                                 [](const auto& lock) { return !lock.names_below.empty(); });
  std::string out;
  if (!below) {
    for (const auto& lock : conflicts)
      ((out += "<d:href>") += root_of(lock, change.place).href(lock.on_folder)) += "</d:href>";
    co_await change.rp.send(Status::locked, kXmlType,
                            error_xml("no_conflicting_lock", "A lock is in the way", out));
    co_return;
  }
  out = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";
  wire::Multistatus multistatus(out);
  multistatus.begin();
  for (const auto& lock : conflicts) {
    multistatus.begin_response(root_of(lock, change.place).href(lock.on_folder));
    multistatus.status(423, "<d:no-conflicting-lock/>");
    multistatus.end_response();
  }
  multistatus.begin_response(change.place.href(true));
  multistatus.status(424);
  multistatus.end_response();
  multistatus.end();
  co_await change.rp.send(Status::multi_status, kXmlType, std::move(out));
}

Task<> refresh(Change& change) {
  const auto& node = change.require_node();
  auto& locks = change.services.files.locks();
  const auto covering = co_await locks.covering(change.rq.caller(), node.id);
  if (change.submitted.tokens.empty() && !change.submitted.present) {
    if (covering.empty())
      throw Error(Errc::invalid, "no_lockinfo", "A LOCK without a body refreshes the lock in its If header");
    change.touched.push_back({change.place, {.node = node.id}});
    throw Error(Errc::locked, "lock_token_submitted", "It is locked");
  }
  co_await require_if(change.services, change.rq, change.submitted, change.place, change.at);
  const auto is_meant = [&](const files::Lock& lock) {
    const auto& tokens = change.submitted.tokens;
    return lock.mine && std::find(tokens.begin(), tokens.end(), lock.token) != tokens.end();
  };
  const auto meant = std::find_if(covering.begin(), covering.end(), is_meant);
  if (meant == covering.end())
    throw Error(Errc::precondition_failed, "lock_token_matches_request_uri", "That lock does not cover this");
  const auto lock =
      co_await locks.refresh(change.rq.caller(), node.id, meant->token, asked_seconds(change.rq));
  co_await answer_lock(change, Status::ok, lock, node.id);
}

/// One attempt; nullopt: what was free has been taken meanwhile, or the other way round.
Task<std::optional<files::LockResult>> take(Change& change, const files::LockRequest& request,
                                            const files::Expect& expect) {
  auto& locks = change.services.files.locks();
  if (change.at.node) co_return co_await locks.lock(change.rq.caller(), change.at.node->id, request);
  if (change.place.has_slash)
    throw Error(Errc::conflict, "is_a_folder_name",
                "A LOCK makes a file, whose address has no slash at its end");
  const auto parent = change.require_parent().id;
  try {
    co_return co_await locks.lock_new(change.rq.caller(), parent, change.at.name, request,
                                      change.submitted.tokens);
  } catch (const Error& e) {
    if (e.code() != Errc::precondition_failed || expect.kind == files::Expect::Kind::must_be_new) throw;
  }
  co_return std::nullopt;
}

}  // namespace

Task<> lock(Change& change) {
  if (is_user_lock(change)) {
    co_await lock_by_hand(change);
    co_return;
  }
  const auto info = co_await read_xml(change.rq);
  if (!info) {
    co_await refresh(change);
    co_return;
  }
  const auto request = request_of(change.rq, *info);
  if (change.at.node) {
    change.require_node();
  } else {
    change.require_parent();
  }
  const auto expect = co_await change.require_conditions();
  if (!change.at.node) change.touch_target(false, false);
  auto taken = co_await take(change, request, expect);
  if (!taken) {
    change.at = co_await change.services.files.locate(change.rq.caller(), change.place.names);
    taken = co_await take(change, request, {files::Expect::Kind::must_be_new, {}});
  }
  if (!taken->lock) {
    co_await answer_conflicts(change, taken->conflicts);
    co_return;
  }
  change.rp.set("Lock-Token", '<' + files::lock_token_uri(taken->lock->token) + '>');
  const bool made = taken->made.has_value();
  if (made) set_validators(change.rp, *taken->made);
  co_await answer_lock(change, made ? Status::created : Status::ok, *taken->lock,
                       made ? taken->made->id : change.at.node->id);
}

Task<> unlock(Change& change) {
  if (is_user_lock(change)) {
    co_await unlock_by_hand(change);
    co_return;
  }
  auto given = text::trim(change.rq.header("lock-token"));
  if (given.starts_with('<') && given.ends_with('>')) given = given.substr(1, given.size() - 2);
  if (given.empty()) throw Error(Errc::invalid, "no_lock_token", "UNLOCK needs a Lock-Token header");
  const auto& node = change.require_node();
  co_await require_if(change.services, change.rq, change.submitted, change.place, change.at);
  const auto token = files::parse_lock_token(given);
  if (!token)
    throw Error(Errc::conflict, "lock_token_matches_request_uri", "No lock with that token covers this");
  co_await change.services.files.locks().unlock(change.rq.caller(), node.id, *token);
  co_await change.rp.send(Status::no_content);
}

void append_active_lock(std::string& out, const files::Lock& lock, std::string_view root, Micros now) {
  out += "<d:activelock><d:locktype><d:write/></d:locktype><d:lockscope><d:";
  out += lock.exclusive ? "exclusive" : "shared";
  out += "/></d:lockscope><d:depth>";
  out += lock.infinite ? "infinity" : "0";
  out += "</d:depth>";
  if (!lock.owner_xml.empty()) ((out += "<d:owner>") += lock.owner_xml) += "</d:owner>";
  out += "<d:timeout>Second-";
  // Rounded up, so that a fresh lock has the length that was granted.
  const auto left = std::max<Micros>(0, lock.expires_at - now + 999'999) / 1'000'000;
  wire::append_number(out, std::min<std::uint64_t>(static_cast<std::uint64_t>(left), lock.seconds));
  out += "</d:timeout>";
  if (lock.mine)
    ((out += "<d:locktoken><d:href>") += files::lock_token_uri(lock.token)) += "</d:href></d:locktoken>";
  ((out += "<d:lockroot><d:href>") += root) += "</d:href></d:lockroot></d:activelock>";
}

}  // namespace welkin::dav
