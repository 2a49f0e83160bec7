#include "files/trash_store.hpp"

#include "files/node_store.hpp"
#include "files/refusals.hpp"

namespace welkin::files::store {
namespace {

// $1 user, $2..$6 the gate. The way is told to members whom no folder limits.
constexpr db::Stmt kItem{"files.trashed", R"(
  select t.node_id, t.drive_id, n.kind, t.from_name, t.bytes,
         (select m.name from mime_types m where m.id = n.mime), t.deleted_at,
         coalesce((select f.changed_at from folders f where f.node_id = n.id), n.mtime), t.deleted_by,
         case when $4::bigint = 0 and w.live and w.drive = t.drive_id
                and member_rights(t.drive_id, $2, $3) & 1 = 1 then w.names end
    from trash t join nodes n on n.id = t.node_id
    cross join lateral gate(t.from_parent_id, $2, $3, $4, $5, $6) w
   where t.node_id = $7 and trash_rights(t.node_id, $1, $2, $3, $4, $5, $6) & 17 = 17)"};

// Two sources, each read in the order of its index: the drives the caller may delete in as a member, and what
// he deleted elsewhere and still could. $7 and $8 the mark, $9 how many, $10 one drive or 0.
constexpr db::Stmt kList{"files.trash_list", R"(
  with own as materialized (
    select m.drive_id from drive_members m
     where m.subject_id = any ($2::bigint[]) and $4::bigint = 0 and $10::bigint in (0, m.drive_id)
     group by m.drive_id having bit_or(m.rights) & $3::integer & 17 = 17),
  mark as (select 'epoch'::timestamptz + $7::bigint * interval '1 microsecond' as since, $8::bigint id),
  page as (
    (select t.* from own o cross join lateral (
        select x.* from trash x, mark k
         where x.drive_id = o.drive_id and not x.purging and (x.deleted_at, x.node_id) < (k.since, k.id)
         order by x.deleted_at desc, x.node_id desc limit $9) t)
    union all
    (select x.* from mark k, trash x cross join lateral gate(x.from_parent_id, $2, $3, $4, $5, $6) g
      where x.deleted_by = $1::bigint and not x.purging and $10::bigint in (0, x.drive_id)
        and (x.deleted_at, x.node_id) < (k.since, k.id)
        and x.drive_id not in (select o.drive_id from own o)
        and g.live and g.drive = x.drive_id and g.rights & 17 = 17
      order by x.deleted_at desc, x.node_id desc limit $9))
  select t.node_id, t.drive_id, n.kind, t.from_name, t.bytes,
         (select m.name from mime_types m where m.id = n.mime), t.deleted_at,
         coalesce((select f.changed_at from folders f where f.node_id = n.id), n.mtime), t.deleted_by,
         case when $4::bigint = 0 and w.live and w.drive = t.drive_id
                and exists (select from own o where o.drive_id = t.drive_id) then w.names end
    from (select p.* from page p order by p.deleted_at desc, p.node_id desc limit $9) t
    join nodes n on n.id = t.node_id
    cross join lateral gate(t.from_parent_id, $2, $3, $4, $5, $6) w
   order by t.deleted_at desc, t.node_id desc)"};

constexpr db::Stmt kOwnDrive{"files.own_drive",
                             "select id::bigint from drives where owner_id = $1 and kind = 1"};
constexpr db::Stmt kTrash{"files.trash_node", "select trash_node($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"};
constexpr db::Stmt kDestroy{"files.destroy_node",
                            "select destroy_node($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"};
constexpr db::Stmt kRestore{"files.restore_node", "select restore_node($1, $2, $3, $4, $5, $6, $7, $8, $9)"};
constexpr db::Stmt kPurge{"files.purge_item", "select purge_item($1, $2, $3, $4, $5, $6, $7)"};
constexpr db::Stmt kPurgeAll{"files.purge_drive_trash", "select purge_drive_trash($1, $2, $3, $4)"};
// Expiry needs no lock of a drive: an item that is being restored keeps its row locked, and is gone from here
// then.
constexpr db::Stmt kExpire{"files.expire_trash", R"(
  update trash set purging = true where node_id in (
    select t.node_id from trash t
     where not t.purging and t.deleted_at < 'epoch'::timestamptz + $1::bigint * interval '1 microsecond'
     order by t.deleted_at limit $2 for update skip locked))"};
constexpr db::Stmt kMarked{
    "files.marked_trash", "select node_id from trash where purging and $1::bigint in (0, drive_id) limit $2"};
constexpr db::Stmt kPurgeBatch{"files.purge_batch", "select purge_batch($1, $2)"};

Trashed trashed_of(const db::Row& row) {
  Trashed t;
  row.id_into(0, t.id);
  row.id_into(1, t.drive);
  t.kind = row.i64(2) == 2 ? Kind::folder : Kind::file;
  t.name = row.str(3);
  t.size_bytes = static_cast<std::uint64_t>(row.i64(4));
  if (t.kind == Kind::file) t.mime_type = row.is_null(5) ? "application/octet-stream" : row.str(5);
  t.trashed_at = row.timestamp(6);
  t.modified_at = row.i64(7);
  row.id_into(8, t.trashed_by);
  if (!row.is_null(9)) {
    const auto names = row.text_array(9);  // the root's first, which is ""
    for (std::size_t i = 1; i < names.size(); ++i) t.original_path.append("/").append(names[i]);
    t.original_path.append("/").append(t.name);
  }
  return t;
}

template <class F>
auto translated(F f) {
  try {
    return f();
  } catch (const db::SqlError& e) {
    rethrow(e, "");
  }
}

db::Params with_user(NodeId id, const Caller& caller) {
  db::Params params(id, caller.user);
  add_gate(params, caller);
  return params;
}

}  // namespace

std::vector<Trashed> trashed(db::Tx& tx, const Caller& caller, DriveId drive, const TrashMark& after,
                             int limit) {
  db::Params params(caller.user);
  add_gate(params, caller).add(after.at).add(after.id).add(static_cast<std::int64_t>(limit)).add(drive);
  std::vector<Trashed> items;
  for (const auto row : tx.exec(kList, params)) items.push_back(trashed_of(row));
  return items;
}

Trashed require_trashed(db::Tx& tx, const Caller& caller, NodeId id) {
  db::Params params(caller.user);
  add_gate(params, caller).add(id);
  const auto rows = tx.exec(kItem, params);
  if (rows.empty()) throw not_found();
  return trashed_of(rows[0]);
}

DriveId own_drive(db::Tx& tx, const Caller& caller) {
  const auto rows = tx.exec(kOwnDrive, caller.user);
  if (rows.empty()) throw not_found();
  return rows[0].id<DriveId>(0);
}

void trash(db::Tx& tx, const Caller& caller, NodeId id, const Expect& expect,
           const std::vector<db::Uuid>& lock_tokens, bool for_good) {
  auto params = with_user(id, caller);
  params.add(static_cast<std::int16_t>(expect.kind)).add(own_etags(expect.etags)).add(lock_tokens);
  translated([&] { return tx.exec(for_good ? kDestroy : kTrash, params); });
}

void restore(db::Tx& tx, const Caller& caller, NodeId id, const std::vector<db::Uuid>& lock_tokens) {
  auto params = with_user(id, caller);
  params.add(lock_tokens).add(kDepthMax);
  translated([&] { return tx.exec(kRestore, params); });
}

void mark_purged(db::Tx& tx, const Caller& caller, NodeId id) {
  const auto params = with_user(id, caller);
  translated([&] { return tx.exec(kPurge, params); });
}

std::int64_t mark_all_purged(db::Tx& tx, const Caller& caller, DriveId drive) {
  return translated([&] {
    return tx
        .one(kPurgeAll, static_cast<std::int32_t>(drive.value), caller.subjects, caller.rights_mask,
             caller.root_limit)[0]
        .i64(0);
  });
}

void mark_expired(db::Tx& tx, Micros older_than, int limit) {
  tx.exec(kExpire, older_than, static_cast<std::int64_t>(limit));
}

std::vector<NodeId> marked_items(db::Tx& tx, DriveId drive, int limit) {
  std::vector<NodeId> items;
  for (const auto row : tx.exec(kMarked, drive, static_cast<std::int64_t>(limit)))
    items.push_back(row.id<NodeId>(0));
  return items;
}

bool purge_batch(db::Tx& tx, NodeId item, int rows) {
  return tx.one(kPurgeBatch, item, static_cast<std::int32_t>(rows))[0].boolean(0);
}

}  // namespace welkin::files::store
