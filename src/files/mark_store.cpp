#include "files/mark_store.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "files/page_mark.hpp"
#include "files/readable.hpp"

namespace welkin::files::store {
namespace {

// clang-format off
constexpr db::Stmt kAddFavorites{"files.add_favorites",
    "with " WELKIN_READABLE_CTES ","
    " had as (select count(*) n from favorites where user_id = $7),"
    " put as (insert into favorites (user_id, node_id)"
    "  select $7, v.id from visible v, had"
    "   where (select count(*) from visible) = cardinality($1::bigint[])"
    "     and had.n + cardinality($1::bigint[]) <= $8"
    "  on conflict do nothing returning 1)"
    " select (select count(*) from visible), (select count(*) from put), (select n from had)"};
constexpr db::Stmt kCountReadable{"files.count_readable",
    "with " WELKIN_READABLE_CTES " select count(*) from visible"};
constexpr db::Stmt kTouch{"files.touch_recent",
    "with " WELKIN_READABLE_CTES
    " insert into recent (user_id, node_id, at) select $7, v.id, clock_timestamp() from visible v"
    " on conflict (user_id, node_id) do update set at = excluded.at"};
// clang-format on
constexpr db::Stmt kForget{
    "files.forget_recent",
    "delete from recent where user_id = $1 and node_id in (select r.node_id from recent r"
    " where r.user_id = $1 order by r.at desc, r.node_id desc offset $2)"};
// $1 the caller; a credential for one folder knows nothing of what is elsewhere.
constexpr db::Stmt kClear{
    "files.clear_recent",
    "delete from recent r where r.user_id = $1 and ($4::bigint = 0 or (select g.rights & 1 = 1"
    " from gate(r.node_id, $2, $3, $4, $5, $6) g))"};
constexpr db::Stmt kIsMarked[]{
    {"files.is_favorite", "select 1 from favorites where user_id = $1 and node_id = $2"},
    {"files.is_recent", "select 1 from recent where user_id = $1 and node_id = $2"}};
constexpr db::Stmt kUnmark[]{
    {"files.unset_favorite", "delete from favorites where user_id = $1 and node_id = $2"},
    {"files.remove_recent", "delete from recent where user_id = $1 and node_id = $2"}};
constexpr db::Stmt kAmong{
    "files.favorites_among",
    "select node_id from favorites where user_id = $1 and node_id = any ($2) order by node_id"};

PageOrder order_of(MarkOrder by, bool reverse) {
  switch (by) {
    case MarkOrder::marked_at:
      return {"(extract(epoch from m.at) * 1000000)::bigint", false, !reverse};
    case MarkOrder::modified_at:
      return {kModifiedKey, false, reverse};
    case MarkOrder::size:
      return {kSizeKey, false, reverse};
    case MarkOrder::type:
      return folders_first(kTypeKey, reverse);
    case MarkOrder::owner:
      return folders_first(
          fmt::format("coalesce((select u.name from drives d join users u on u.id = d.owner_id"
                      " where d.id = n.drive_id), '') || {}",
                      kNameKey),
          reverse);
    case MarkOrder::name:
      break;
  }
  return folders_first(kNameKey, reverse);
}

/// $1 user, $2..$6 the gate, $7 kinds, $8 how many candidates, $9 and $10 the key and node to go on after.
std::string page_sql(MarkTable table, const PageOrder& o, bool after) {
  return fmt::format(
      "select {0}, x.at, x.key from (select m.node_id, (extract(epoch from m.at) * 1000000)::bigint at, {1} "
      "as key"
      " from {2} m join nodes n on n.id = m.node_id{3} where m.user_id = $1 and n.kind = any "
      "($7::smallint[]){4}"
      " order by key {5}, n.id {5} limit $8) x join nodes n on n.id = x.node_id{6} order by x.key {5}, n.id "
      "{5}",
      kFoundColumns, o.key, table == MarkTable::favorites ? "favorites" : "recent", kNodeJoins,
      after ? o.goes_on_after(9) : "", o.direction(), kFoundJoins);
}

}  // namespace

MarkPage marks(db::Tx& tx, const Caller& caller, MarkTable table, const MarkQuery& query) {
  std::vector<std::int16_t> kinds;
  if (query.files) kinds.push_back(1);
  if (query.folders) kinds.push_back(2);
  CandidateQuery candidates;
  candidates.order = order_of(query.order_by, query.reverse);
  candidates.signature = fmt::format("m{}{}{}{}{}", static_cast<int>(table), static_cast<int>(query.order_by),
                                     query.reverse, query.folders, query.files);
  candidates.limit = query.limit;
  candidates.after = query.after;
  candidates.fetch = [&](const std::optional<PageMark>& after, std::int64_t count) {
    db::Params params(caller.user);
    add_gate(params, caller).add(kinds).add(count);
    if (after) add_mark(params, candidates.order, *after);
    const auto name = fmt::format("files.marks.{}.{}.{}.{}", static_cast<int>(table),
                                  static_cast<int>(query.order_by), query.reverse, after.has_value());
    return tx.exec(named_stmt(name, [&] { return page_sql(table, candidates.order, after.has_value()); }),
                   params);
  };
  auto page = take_page(caller, candidates);
  MarkPage out;
  out.next = std::move(page.next);
  for (auto& item : page.items) out.items.push_back({std::move(item.node), item.number});
  return out;
}

namespace {
db::Params readable_params(const Caller& caller, const std::vector<NodeId>& items) {
  std::vector<std::int64_t> keys;
  keys.reserve(items.size());
  for (const auto item : items) keys.push_back(item.value);
  db::Params params;
  return add_gate(params.add(keys), caller);
}
}  // namespace

Marking add_favorites(db::Tx& tx, const Caller& caller, const std::vector<NodeId>& items, std::int64_t max) {
  const auto rows = tx.one(kAddFavorites, readable_params(caller, items).add(caller.user).add(max));
  return {rows[0].i64(0), rows[0].i64(1), rows[0].i64(2)};
}

std::int64_t count_readable(db::Tx& tx, const Caller& caller, const std::vector<NodeId>& items) {
  return tx.one(kCountReadable, readable_params(caller, items))[0].i64(0);
}

bool is_marked(db::Tx& tx, MarkTable table, const Caller& caller, NodeId item) {
  return !tx.exec(kIsMarked[static_cast<int>(table)], caller.user, item).empty();
}

bool unmark(db::Tx& tx, MarkTable table, const Caller& caller, NodeId item) {
  return tx.exec(kUnmark[static_cast<int>(table)], caller.user, item).affected() > 0;
}

std::vector<NodeId> favorites_among(db::Tx& tx, const Caller& caller, const std::vector<NodeId>& items) {
  std::vector<std::int64_t> keys;
  for (const auto item : items) keys.push_back(item.value);
  std::vector<NodeId> out;
  for (const auto row : tx.exec(kAmong, caller.user, keys)) out.push_back(row.id<NodeId>(0));
  return out;
}

bool touch_recent(db::Tx& tx, const Caller& caller, NodeId item, std::int64_t keep) {
  const std::vector<NodeId> items{item};
  if (tx.exec(kTouch, readable_params(caller, items).add(caller.user)).affected() == 0) return false;
  tx.exec(kForget, caller.user, keep);
  return true;
}

void clear_recent(db::Tx& tx, const Caller& caller) {
  db::Params params(caller.user);
  tx.exec(kClear, add_gate(params, caller));
}

}  // namespace welkin::files::store
