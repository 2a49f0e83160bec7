#include "collections/trash_store.hpp"

#include "collections/refusals.hpp"
#include "welkin/collections/upkeep.hpp"

namespace welkin::collections::store {
namespace {

constexpr std::int32_t kDays = kTrashDays;
constexpr std::int32_t kEmptyStep = 1000;

constexpr db::Stmt kTrashedCollections{"collections.trashed_collections", R"(
  select c.id, c.path, s.bytes, s.object_count, c.deleted_at
    from collections c join collection_state s on s.collection_id = c.id
   where c.owner_id = $1 and c.kind = $2 and c.id < $3 and c.deleted_at > now() - make_interval(days => $4)
   order by c.id desc limit $5)"};

// Of each collection only as many as could be on the page; an index has them in this order.
constexpr db::Stmt kTrashedObjects{"collections.trashed_objects", R"(
  select t.id, c.id, t.name, coalesce(t.title, ''), octet_length(t.data)::bigint, t.deleted_at, t.deleted_by
    from (select o.id, 0 hidden from collections o where o.owner_id = $1 and o.kind = $2 and o.deleted_at is null
          union
          select h.collection_id, 12 from collection_shares h join collections o on o.id = h.collection_id
           where h.subject_id = any ($3) and h.access >= 2 and o.owner_id <> $1 and o.kind = $2 and o.deleted_at is null) c
   cross join lateral (
     select x.* from collection_trash x
      where x.collection_id = c.id and (c.hidden = 0 or x.flags & 12 = 0) and x.id < $4 and x.deleted_at > now() - make_interval(days => $5)
      order by x.id desc limit $6) t
   order by t.id desc limit $6)"};

constexpr db::Stmt kBody{"collections.trashed_body", R"(
  select t.collection_id, t.name, t.data
    from collection_trash t join collections c on c.id = t.collection_id
   where t.id = $1 and c.kind = $2
     and (c.owner_id = $3 or t.flags & 12 = 0 and collection_access(c.id, $3, $4, $5::integer | 28) >= 2))"};

constexpr db::Stmt kRestore{"collections.restore_object",
                            "select restore_object($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
                            "$14, $15, $16)"};
constexpr db::Stmt kPurge{"collections.purge_trashed_object",
                          "select purge_trashed_object($1, $2, $3, $4, $5)"};
constexpr db::Stmt kRestoreCollection{"collections.restore_collection",
                                      "select restore_collection($1, $2, $3, $4, $5, $6)"};
constexpr db::Stmt kPurgeCollection{"collections.purge_collection",
                                    "select purge_collection($1, $2, $3, $4)"};
constexpr db::Stmt kEmpty{"collections.empty_trash",
                          "select gone, done from empty_collection_trash($1, $2, $3, $4, $5)"};

std::int16_t number(Kind kind) { return static_cast<std::int16_t>(kind); }

}  // namespace

std::vector<Trashed> trashed_collections(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t before,
                                         int limit) {
  std::vector<Trashed> out;
  for (const auto row : tx.exec(kTrashedCollections, caller.user, number(kind), before, kDays, limit)) {
    Trashed item;
    item.is_collection = true;
    item.id = row.i64(0);
    item.collection = row.id<CollectionId>(0);
    item.name = row.str(1);
    item.bytes = row.i64(2);
    item.objects = row.i64(3);
    item.trashed_at = row.timestamp(4);
    out.push_back(std::move(item));
  }
  return out;
}

std::vector<Trashed> trashed_objects(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t before,
                                     int limit) {
  std::vector<Trashed> out;
  for (const auto row :
       tx.exec(kTrashedObjects, caller.user, number(kind), caller.subjects, before, kDays, limit)) {
    Trashed item;
    item.id = row.i64(0);
    item.collection = row.id<CollectionId>(1);
    item.name = row.str(2);
    item.title = row.str(3);
    item.bytes = row.i64(4);
    item.trashed_at = row.timestamp(5);
    item.trashed_by = row.id<UserId>(6);
    out.push_back(std::move(item));
  }
  return out;
}

Trash::Body trashed_body(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t id) {
  const auto rows = tx.exec(kBody, id, number(kind), caller.user, caller.subjects, caller.rights_mask);
  if (rows.empty() || (caller.rights_mask & rights::kRead) == 0)
    throw Error(Errc::not_found, "not_found", "not found");
  return {rows[0].id<CollectionId>(0), rows[0].str(1), std::string(as_text(rows[0].bytes(2)))};
}

std::string restore_object(db::Tx& tx, const Caller& caller, std::int64_t id, const Facts& facts,
                           const Etag& etag) {
  try {
    // A name that nothing else has: names of entries are numbers that are used once.
    const auto other = "restored-" + std::to_string(id);
    const auto rows = tx.one(kRestore, id, caller.user, caller.subjects, caller.rights_mask, other, etag,
                             facts.uid, etag_of(facts.uid), facts.component, facts.flags, facts.first,
                             facts.last, facts.title, facts.search, facts.emails, facts.phones);
    return rows[0].str(0);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

void purge_object(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t id) {
  try {
    tx.exec(kPurge, id, number(kind), caller.user, caller.subjects, caller.rights_mask);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

void restore_collection(db::Tx& tx, const Caller& caller, CollectionId id, const std::string& other_path) {
  try {
    tx.exec(kRestoreCollection, id, caller.user, caller.rights_mask, other_path, kDays,
            Collections::kPerUserMax);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

void purge_collection(db::Tx& tx, const Caller& caller, CollectionId id) {
  try {
    tx.exec(kPurgeCollection, id, caller.user, caller.rights_mask, kDays);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

bool empty_some(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t& gone) {
  try {
    const auto rows = tx.one(kEmpty, caller.user, number(kind), caller.rights_mask, kDays, kEmptyStep);
    gone = rows[0].i64(0);
    return rows[0].boolean(1);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

}  // namespace welkin::collections::store
