#include "files/change_store.hpp"

#include <fmt/format.h>

#include "files/node_store.hpp"
#include "files/refusals.hpp"

namespace welkin::files::store {

const db::Stmt kSyncHead{"files.sync_head",
                         "select live, rights, kind, drive, epoch, number, seq, pruned_seq, mounts"
                         " from sync_head($1, $2, $3, $4, $5, $6, $7)"};

namespace {

// The first condition on seq is what the index begins at; the row comparison only cuts what is left of that
// number.
constexpr db::Stmt kLogRows{"files.log_rows", R"(
  select c.seq, c.node_id, c.op, c.parent_id, c.old_name, n.parent_id, n.name, n.kind
    from changes c
    left join lateral (select x.parent_id, x.name, x.kind from nodes x
                        where x.id = c.node_id and x.drive_id = c.drive_id offset 0) n on true
   where c.drive_id = $1 and c.seq >= $2 and (c.seq, c.node_id, c.op) > ($2, $3, $4) and c.seq <= $5
   order by c.seq, c.node_id, c.op limit $6)"};

constexpr db::Stmt kTravels{"files.travels", R"(
  select node_id, seq, op, parent_id, old_name from changes
   where drive_id = $1 and seq <= $2 and op in (1, 3) and node_id = any ($3))"};

// $1 nodes, $2 the folder where the ways end, $3 subjects.
constexpr db::Stmt kWays{"files.ways", R"(
  with recursive up as (
    select n.* from unnest($1::bigint[]) u (id)
      cross join lateral (select id, parent_id, name, flags from nodes x where x.id = u.id offset 0) n
    union
    select n.* from up cross join lateral (
      select id, parent_id, name, flags from nodes x where x.id = up.parent_id and up.id <> $2 offset 0) n)
  select id, parent_id, name, case when flags & 1 = 1 then (
      select bit_or(g.rights)::integer from grants g where g.node_id = up.id and g.subject_id = any ($3)
         and (g.expires_at is null or g.expires_at > now())) end from up)"};

constexpr db::Stmt kChildren{"files.children_by_name", R"(
  select n.id, n.kind, n.name, case when n.flags & 1 = 1 then (
      select bit_or(g.rights)::integer from grants g where g.node_id = n.id and g.subject_id = any ($2)
         and (g.expires_at is null or g.expires_at > now())) end
    from nodes n where n.parent_id = $1 and n.name > $3 order by n.name limit $4)"};

constexpr db::Stmt kHolders{"files.holders", R"(
  select n.id, n.kind, u.name from unnest($1::bigint[], $2::text[]) with ordinality u (parent_id, name, at)
    left join lateral (select x.id, x.kind from nodes x
                        where x.parent_id = u.parent_id and x.name = u.name offset 0) n on true order by u.at)"};

constexpr db::Stmt kNextDrive{"files.next_logged_drive",
                              "select drive_id from changes where drive_id > $1 order by drive_id limit 1"};
constexpr db::Stmt kPrune{"files.prune_changes", "select prune_changes($1, $2, $3, $4)"};

const std::string& nodes_sql() {
  static const std::string sql = fmt::format(
      "select {}, case when n.flags & 1 = 1 then (select bit_or(g.rights)::integer from grants g"
      " where g.node_id = n.id and g.subject_id = any ($2)"
      " and (g.expires_at is null or g.expires_at > now())) end"
      " from unnest($1::bigint[]) u (id) cross join lateral"
      " (select * from nodes x where x.id = u.id offset 0) n{}",
      kNodeColumns, kNodeJoins);
  return sql;
}

std::int32_t granted(const db::Row& row, int column) { return row.is_null(column) ? 0 : row.i32(column); }

}  // namespace

db::Params sync_head_params(const Caller& caller, NodeId folder) {
  db::Params params(folder, caller.user);
  add_gate(params, caller);
  return params;
}

SyncHead sync_head(NodeId folder, const db::Rows& rows) {
  const auto row = rows[0];
  if (!row.boolean(0) || (row.i32(1) & rights::kRead) == 0) throw not_found();
  if (row.i32(2) != static_cast<int>(Kind::folder))
    throw Error(Errc::invalid, "not_a_folder", "this is not a folder");
  SyncHead head;
  head.rights = row.i32(1);
  head.token.drive = row.i32(3);
  head.token.epoch = row.i32(4);
  head.token.mark.seq = row.i64(5);
  head.token.folder = folder.value;
  head.token.mounts = row.i64(8);
  head.seq = row.i64(6);
  head.pruned_seq = row.i64(7);
  return head;
}

std::vector<LogRow> log_rows(db::Tx& tx, std::int64_t drive, const LogMark& from, std::int64_t upto,
                             int limit) {
  std::vector<LogRow> out;
  for (const auto row :
       tx.exec(kLogRows, static_cast<std::int32_t>(drive), from.seq, from.node, from.op, upto, limit)) {
    LogRow r;
    r.mark = {row.i64(0), row.i64(1), row.i16(2), 0};
    r.parent = row.i64(3);
    r.old_name = row.opt_str(4).value_or("");
    r.exists = !row.is_null(7);
    if (r.exists) {
      r.parent_now = row.is_null(5) ? 0 : row.i64(5);
      r.name_now = row.str(6);
      r.is_folder = row.i64(7) == static_cast<int>(Kind::folder);
    }
    out.push_back(std::move(r));
  }
  return out;
}

std::unordered_map<std::int64_t, Travels> travels(db::Tx& tx, std::int64_t drive, std::int64_t upto,
                                                  const std::vector<std::int64_t>& folders) {
  std::unordered_map<std::int64_t, Travels> out;
  if (folders.empty()) return out;
  for (const auto row : tx.exec(kTravels, static_cast<std::int32_t>(drive), upto, folders)) {
    auto& of = out[row.i64(0)];
    if (row.i16(2) == op::kCame)
      of.last_came = std::max(of.last_came, row.i64(1));
    else
      of.left.push_back({row.i64(3), row.opt_str(4).value_or("")});
  }
  return out;
}

void Ways::learn(db::Tx& tx, const std::vector<std::int64_t>& nodes) {
  std::vector<std::int64_t> unknown;
  for (const auto id : nodes)
    if (!steps_.contains(id)) unknown.push_back(id);
  if (unknown.empty()) return;
  for (const auto row : tx.exec(kWays, unknown, folder_, caller_.subjects))
    steps_[row.i64(0)] = {row.is_null(1) ? 0 : row.i64(1), row.str(2), granted(row, 3)};
  for (const auto id : unknown) steps_.try_emplace(id);  // gone for good: leads nowhere
}

const Ways::Step* Ways::step(std::int64_t node) const {
  const auto at = steps_.find(node);
  return at == steps_.end() ? nullptr : &at->second;
}

std::optional<Ways::Place> Ways::find(std::int64_t node) const {
  Place place;
  for (; node != folder_; node = step(node)->parent) {
    if (node == 0 || !step(node)) return std::nullopt;
    place.granted |= step(node)->granted;
    place.chain.push_back(node);
  }
  for (auto at = place.chain.rbegin(); at != place.chain.rend(); ++at) {
    if (!place.path.empty()) place.path += '/';
    place.path += step(*at)->name;
  }
  return place;
}

std::vector<Child> children(db::Tx& tx, const Caller& caller, std::int64_t folder, const std::string& after,
                            int limit) {
  std::vector<Child> out;
  for (const auto row : tx.exec(kChildren, folder, caller.subjects, after, limit))
    out.push_back({row.i64(0), row.i64(1) == static_cast<int>(Kind::folder), row.str(2), granted(row, 3)});
  return out;
}

std::vector<Child> holders(db::Tx& tx, const std::vector<std::int64_t>& parents,
                           const std::vector<std::string>& names) {
  std::vector<Child> out;
  if (parents.empty()) return out;
  for (const auto row : tx.exec(kHolders, parents, names)) {
    Child holder;
    if (!row.is_null(0)) {
      holder.id = row.i64(0);
      holder.is_folder = row.i64(1) == static_cast<int>(Kind::folder);
    }
    holder.name = row.str(2);
    out.push_back(std::move(holder));
  }
  return out;
}

std::unordered_map<std::int64_t, GrantedNode> nodes(db::Tx& tx, const Caller& caller,
                                                    const std::vector<std::int64_t>& ids) {
  std::unordered_map<std::int64_t, GrantedNode> out;
  if (ids.empty()) return out;
  const db::Stmt stmt{"files.nodes_by_id", nodes_sql().c_str()};
  for (const auto row : tx.exec(stmt, ids, caller.subjects))
    out[row.i64(0)] = {node_of(row), granted(row, kNodeColumnCount)};
  return out;
}

std::int64_t next_logged_drive(db::Tx& tx, std::int64_t drive) {
  const auto rows = tx.exec(kNextDrive, static_cast<std::int32_t>(drive));
  return rows.empty() ? 0 : rows[0].i64(0);
}

bool prune(db::Tx& tx, std::int64_t drive, std::int64_t before_seconds, std::int32_t keep_rows,
           std::int32_t batch) {
  return tx
      .one(kPrune, static_cast<std::int32_t>(drive), static_cast<std::int32_t>(before_seconds), keep_rows,
           batch)[0]
      .boolean(0);
}

}  // namespace welkin::files::store
