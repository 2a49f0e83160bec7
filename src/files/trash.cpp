#include "welkin/files/trash.hpp"

#include <algorithm>
#include <utility>

#include "files/node_store.hpp"
#include "files/refusals.hpp"
#include "files/trash_store.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

constexpr int kPurgeRows = 5'000;       // of one transaction
constexpr int kPurgeStepsOfACall = 20;  // then the job goes on
constexpr std::int64_t kDayMicros = 86'400'000'000;

/// Where a page ended: time and id.
std::string write_mark(const Trashed& last) {
  return text::base64url(as_bytes(std::to_string(last.trashed_at) + ' ' + std::to_string(last.id.value)));
}
store::TrashMark read_mark(const std::string& after) {
  const store::TrashMark start;
  const auto plain = text::from_base64url(after);
  if (!plain) return start;
  const auto parts = text::split(as_text(*plain), ' ');
  if (parts.size() != 2) return start;
  const auto at = text::signed_number(parts[0]), id = text::signed_number(parts[1]);
  return at && id ? store::TrashMark{*at, *id} : start;
}

}  // namespace

Trash::Trash(db::Db& db, const Config& config, const Clock& clock)
    : db_(db), clock_(clock), keep_days_(static_cast<std::int32_t>(config.trash_keep_days)) {}

Task<TrashPage> Trash::list(Caller caller, DriveId drive, std::string after, int limit) {
  limit = std::clamp(limit, 1, 1000);
  co_return co_await db_.read([&](db::Tx& tx) {
    TrashPage page;
    page.items = store::trashed(tx, caller, drive, read_mark(after), limit + 1);
    if (page.items.size() > static_cast<std::size_t>(limit)) {
      page.items.pop_back();
      page.next = write_mark(page.items.back());
    }
    return page;
  });
}

Task<Trashed> Trash::item(Caller caller, NodeId id) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::require_trashed(tx, caller, id); });
}

Task<Node> Trash::restore(Caller caller, NodeId id, std::vector<db::Uuid> lock_tokens) {
  co_return co_await db_.write([&](db::Tx& tx) {
    store::restore(tx, caller, id, lock_tokens);
    return store::require(tx, caller, id).node;
  });
}

Task<> Trash::purge(Caller caller, NodeId id) {
  co_await db_.write([&](db::Tx& tx) { store::mark_purged(tx, caller, id); });
  std::vector<NodeId> items{id};
  co_await remove_rows(std::move(items));
}

Task<std::int64_t> Trash::empty(Caller caller, DriveId drive) {
  std::vector<NodeId> first;
  const auto marked = co_await db_.write([&](db::Tx& tx) {
    const auto which = drive ? drive : store::own_drive(tx, caller);
    const auto count = store::mark_all_purged(tx, caller, which);
    first = store::marked_items(tx, which, kPurgeStepsOfACall);
    return count;
  });
  co_await remove_rows(std::move(first));
  co_return marked;
}

Task<> Trash::destroy(Caller caller, NodeId id, Expect expect, std::vector<db::Uuid> lock_tokens) {
  co_await db_.write([&](db::Tx& tx) { store::trash(tx, caller, id, expect, lock_tokens, true); });
  std::vector<NodeId> items{id};
  co_await remove_rows(std::move(items));
}

/// The item is gone for everybody already; what a small one leaves is cleared now, the rest by the job.
Task<> Trash::remove_rows(std::vector<NodeId> items) {
  int steps = 0;
  for (const auto item : items) {
    bool done = false;
    while (!done && steps++ < kPurgeStepsOfACall)
      done = co_await db_.write([&](db::Tx& tx) { return store::purge_batch(tx, item, kPurgeRows); });
    if (!done) co_return;
  }
}

Micros Trash::expiry(const Trashed& item) const { return item.trashed_at + keep_days_ * kDayMicros; }

bool Trash::purge_turn() {
  const auto items = db_.write_now([&](db::Tx& tx) {
    store::mark_expired(tx, clock_.now() - keep_days_ * kDayMicros, 1000);
    return store::marked_items(tx, {}, 10);
  });
  for (const auto item : items)
    db_.write_now([&](db::Tx& tx) { return store::purge_batch(tx, item, kPurgeRows); });
  return !items.empty();
}

}  // namespace welkin::files
