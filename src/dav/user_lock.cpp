#include "dav/user_lock.hpp"

#include <algorithm>

#include "dav/facts.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav {
namespace {

using http::Status;
constexpr std::uint32_t kSeconds = 3600;

/// A bare DAV:prop, and not the lockdiscovery of RFC 4918: what these clients read.
Task<std::string> properties_of(Change& change, NodeId node) {
  constexpr std::string_view kNames[] = {
      "lock",         "lock-owner", "lock-owner-displayname", "lock-owner-type", "lock-time",
      "lock-timeout", "lock-token"};
  PropRequest request;
  request.needs = needs::kLocks;
  const auto now = co_await change.services.files.node(change.rq.caller(), node);
  const auto row = files::browse_row(now);
  const auto href = change.place.href(false);
  Facts facts(change.services, change.rq.caller(), request, change.place.root);
  co_await facts.load_one(row, href);
  const auto resource = facts.resource(row, [&] { return href; });
  const Viewer viewer{
      change.rq.caller(), {}, change.services.clock.now(), change.services.tree.instance_id, {}};
  std::string out;
  wire::begin_dav_document(out, "prop", kNamespaces);
  for (const auto name : kNames) find_live("http://nextcloud.org/ns", name)->write(resource, viewer, out);
  find_live("DAV:", "getetag")->write(resource, viewer, out);
  out += "</d:prop>";
  co_return out;
}

Task<> answer(Change& change, Status status, NodeId node) {
  co_await change.rp.send(status, "application/xml; charset=utf-8", co_await properties_of(change, node));
}

const files::Node& require_file(Change& change) {
  const auto& node = change.require_node();
  if (node.is_folder()) throw Error(Errc::invalid, "not_a_file", "Only files are locked by hand");
  return node;
}

}  // namespace

bool is_user_lock(const Change& change) {
  return change.services.tree.for_nextcloud && text::trim(change.rq.header("x-user-lock")) == "1";
}

Task<> lock_by_hand(Change& change) {
  const auto node = require_file(change);
  auto& locks = change.services.files.locks();
  co_await change.require_conditions();
  const auto there = co_await locks.covering(change.rq.caller(), node.id);
  const bool has_it =
      std::any_of(there.begin(), there.end(), [&](const auto& l) { return l.by_hand && l.mine; });
  auto status = Status::ok;
  if (!has_it) {
    files::LockRequest request;
    request.seconds = kSeconds;
    request.by_hand = true;
    const auto taken = co_await locks.lock(change.rq.caller(), node.id, request);
    if (!taken.lock) status = Status::locked;
  }
  co_await answer(change, status, node.id);
}

Task<> unlock_by_hand(Change& change) {
  const auto node = require_file(change);
  auto& locks = change.services.files.locks();
  const auto there = co_await locks.covering(change.rq.caller(), node.id);
  const auto own =
      std::find_if(there.begin(), there.end(), [](const auto& l) { return l.by_hand && l.mine; });
  if (own == there.end() && !there.empty()) {
    co_await answer(change, Status::locked, node.id);
    co_return;
  }
  if (own == there.end()) throw Error(Errc::precondition_failed, "not_locked", "The file is not locked");
  co_await locks.unlock(change.rq.caller(), node.id, own->token);
  co_await answer(change, Status::ok, node.id);
}

}  // namespace welkin::dav
