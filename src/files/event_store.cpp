#include "files/event_store.hpp"

#include "files/node_store.hpp"

namespace welkin::files::store {
namespace {

constexpr db::Stmt kStates{"files.drive_states",
                           "select id, epoch, seq, pruned_seq from drives where id = any ($1)"};

constexpr db::Stmt kSeen{"files.seen_drives", R"(
  select d.id, d.epoch, d.seq, d.pruned_seq
    from (select m.drive_id from drive_members m where m.subject_id = any ($1) and m.rights & 1 = 1
          union
          select n.drive_id from grants g cross join lateral (
              select x.drive_id from nodes x where x.id = g.node_id offset 0) n
           where g.subject_id = any ($1) and g.rights & 1 = 1 and (g.expires_at is null or g.expires_at > now())) s
    join drives d on d.id = s.drive_id order by d.id limit $2)"};

// $1 to $6 is the gate, whose node comes from the log.
constexpr db::Stmt kTouched{"files.touched_folders", R"(
  with logged as materialized (
    select c.parent_id from changes c where c.drive_id = $6 and c.seq > $7 and c.seq <= $8 limit $9),
  places as (select distinct parent_id from logged limit $10)
  select p.parent_id, g.live and g.rights & 1 = 1, (select count(*) from logged)
    from places p cross join lateral gate(p.parent_id, $1, $2, $3, $4, $5) g)"};

std::vector<DriveState> states_of(const db::Rows& rows) {
  std::vector<DriveState> out;
  for (const auto row : rows) out.push_back({row.i64(0), row.i64(1), row.i64(2), row.i64(3)});
  return out;
}

}  // namespace

std::vector<DriveState> drive_states(db::Tx& tx, const std::vector<std::int64_t>& drives) {
  return states_of(tx.exec(kStates, drives));
}

std::vector<DriveState> seen_drives(db::Tx& tx, const Caller& caller, std::int64_t limit) {
  return states_of(tx.exec(kSeen, caller.subjects, limit));
}

Touched touched_folders(db::Tx& tx, const Caller& caller, std::int64_t drive, std::int64_t from,
                        std::int64_t to, int rows_max, std::int64_t folders_max) {
  db::Params params;
  add_gate(params, caller);
  params.add(static_cast<std::int32_t>(drive)).add(from).add(to).add(rows_max + 1).add(folders_max + 1);
  Touched out;
  std::int64_t places = 0;
  for (const auto row : tx.exec(kTouched, params)) {
    if (++places > folders_max || row.i64(2) > rows_max) out.too_much = true;
    if (!row.is_null(1) && row.boolean(1)) out.folders.push_back(row.i64(0));
  }
  return out;
}

}  // namespace welkin::files::store
