#include "welkin/files/favorites.hpp"

#include <algorithm>
#include <utility>

#include "files/mark_store.hpp"
#include "files/refusals.hpp"
#include "welkin/core/error.hpp"

namespace welkin::files {
namespace {

constexpr int kPageMax = 1000;

/// Marks are kept for users; a credential that may only read keeps nothing.
bool may_mark(const Caller& caller) {
  return caller.user && (caller.rights_mask & ~(rights::kRead | rights::kComment)) != 0;
}

Error read_only() { return {Errc::forbidden, "read_only", "These credentials may only read"}; }

template <class F>
auto node_may_go(F f) {
  try {
    return f();
  } catch (const db::SqlError& e) {
    if (e.sqlstate() == "23503") throw not_found();  // purged in this moment
    throw;
  }
}

Task<bool> take_away(db::Db& db, store::MarkTable table, Caller caller, NodeId item) {
  co_return co_await db.write([&](db::Tx& tx) {
    if (may_mark(caller)) return store::unmark(tx, table, caller, item);
    if (store::is_marked(tx, table, caller, item)) throw read_only();
    return false;
  });
}

Task<MarkPage> page_of(db::Db& db, store::MarkTable table, Caller caller, MarkQuery query) {
  query.limit = std::clamp(query.limit, 1, kPageMax);
  co_return co_await db.read([&](db::Tx& tx) { return store::marks(tx, caller, table, query); });
}

}  // namespace

Task<Favorites::Added> Favorites::set(Caller caller, std::vector<NodeId> items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  const auto wanted = static_cast<std::int64_t>(items.size());
  co_return co_await db_.write([&](db::Tx& tx) {
    if (!may_mark(caller)) {
      if (store::count_readable(tx, caller, items) < wanted) throw not_found();
      throw read_only();
    }
    const auto done = node_may_go([&] { return store::add_favorites(tx, caller, items, kMax); });
    if (done.readable < wanted) throw not_found();
    if (done.before + wanted > kMax)
      throw Error(Errc::unprocessable, "too_many_favorites",
                  "There can be " + std::to_string(kMax) + " favorites; take some away first");
    return Added{wanted, done.inserted};
  });
}

Task<bool> Favorites::unset(Caller caller, NodeId item) {
  return take_away(db_, store::MarkTable::favorites, std::move(caller), item);
}

Task<MarkPage> Favorites::list(Caller caller, MarkQuery query) {
  return page_of(db_, store::MarkTable::favorites, std::move(caller), std::move(query));
}

Task<std::vector<NodeId>> Favorites::among(Caller caller, std::vector<NodeId> items) {
  if (items.empty() || !caller.user) co_return std::vector<NodeId>();
  co_return co_await db_.read([&](db::Tx& tx) { return store::favorites_among(tx, caller, items); });
}

Task<> Recent::touch(Caller caller, NodeId item) {
  const std::vector<NodeId> items{item};
  co_await db_.write([&](db::Tx& tx) {
    if (!may_mark(caller)) {
      if (store::count_readable(tx, caller, items) == 0) throw not_found();
      throw read_only();
    }
    if (!node_may_go([&] { return store::touch_recent(tx, caller, item, kMax); })) throw not_found();
  });
}

Task<bool> Recent::remove(Caller caller, NodeId item) {
  return take_away(db_, store::MarkTable::recent, std::move(caller), item);
}

Task<> Recent::clear(Caller caller) {
  if (!may_mark(caller)) throw read_only();
  co_await db_.write([&](db::Tx& tx) { store::clear_recent(tx, caller); });
}

Task<MarkPage> Recent::list(Caller caller, MarkQuery query) {
  return page_of(db_, store::MarkTable::recent, std::move(caller), std::move(query));
}

}  // namespace welkin::files
