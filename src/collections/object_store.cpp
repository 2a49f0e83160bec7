#include "collections/object_store.hpp"

#include "collections/refusals.hpp"

// $1 collection, $2 after, $3 until, $4 tombstones, $5 components
#define WELKIN_LISTED(deleted)                                                                    \
  " from collection_objects o where o.collection_id = $1 and o.seq > $2 and o.seq <= $3 and ($4 " \
  "or not " deleted ") and ($5 = 0 or " deleted " or o.component & $5 <> 0) order by o.seq limit "
// $2: flags of what is hidden
#define WELKIN_OBJECT                                                                                   \
  "select o.name, o.etag, o.seq, o.component, o.size, o.created_at, o.modified_at, o.data, o.id, "      \
  "o.schedule_tag, o.flags from collection_objects o where o.collection_id = $1 and not o.deleted and " \
  "o.flags & $2 "                                                                                       \
  "= 0 and "
#define WELKIN_HIDDEN "(o.deleted or o.flags & $7 <> 0)"

namespace welkin::collections::store {

const db::Stmt kListBrief{
    "collections.list_brief",
    "select o.name, o.etag, o.seq, o.component, o.size, o.deleted" WELKIN_LISTED("o.deleted") "$6"};
const db::Stmt kList{
    "collections.list",
    "select o.name, o.etag, o.seq, o.component, o.size, " WELKIN_HIDDEN
    ", o.created_at, o.modified_at, case when ($6 or o.flags & $8 <> 0) and not " WELKIN_HIDDEN
    " then o.data end, o.schedule_tag, o.flags" WELKIN_LISTED(WELKIN_HIDDEN) "$9"};

namespace {

constexpr db::Stmt kFind{"collections.object", WELKIN_OBJECT "o.name = $3"};
constexpr db::Stmt kLockStates{"collections.lock_states",
                               "select from collection_state s where s.collection_id = any ($1) "
                               "order by s.collection_id for update"};
// What will be charged, the lower drive first.
constexpr db::Stmt kLockDrives{
    "collections.lock_drives",
    "select pg_advisory_xact_lock(1, x.id) from (select distinct d.id from collections c join drives d on "
    "d.owner_id = c.owner_id and d.kind = 1 where c.id = any ($1) order by d.id offset 0) x"};
constexpr db::Stmt kNamed{"collections.objects_named", WELKIN_OBJECT "o.name = any ($3)"};
constexpr db::Stmt kByKeys{"collections.objects_by_keys", WELKIN_OBJECT "o.id = any ($3)"};
// Both ends bounded for what is short; 2678400 is the longest of those. A point at the end of the span's
// start counts: tasks overlap there.
constexpr db::Stmt kWithin{"collections.objects_within", R"(
  select o.id from collection_objects o
   where o.collection_id = $1 and not o.deleted and not o.is_long and o.t1 >= $3 and o.t1 <= $5 and o.t0 <= $4
     and ($2 = 0 or o.component & $2 <> 0) and o.flags & $6 = 0
  union all
  select o.id from collection_objects o
   where o.collection_id = $1 and not o.deleted and o.is_long and o.t1 >= $3 and o.t0 <= $4
     and ($2 = 0 or o.component & $2 <> 0) and o.flags & $6 = 0)"};

constexpr db::Stmt kByUids{
    "collections.objects_by_uids",
    "select o.name, o.etag, o.seq, o.component, o.size, o.created_at, o.modified_at, "
    "o.data, o.id, o.schedule_tag, o.flags, o.uid from collection_objects o where o.collection_id = $1 and "
    "not o.deleted and o.flags & $2 = 0 and o.uid_hash = any ($3)"};

constexpr db::Stmt kPut{
    "collections.put_object",
    "select verdict, holder, created, modified_at from put_object($1, $2, $3, $4, $5, $6, $7, "
    "$8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)"};
constexpr db::Stmt kRemove{"collections.delete_object", "select delete_object($1, $2, $3, $4, $5, $6, $7)"};
constexpr db::Stmt kTransfer{"collections.transfer_object",
                             "select verdict, holder, created, clock_timestamp() from transfer_object($1, "
                             "$2, $3, $4, $5, $6, $7, $8, $9, "
                             "$10, $11)"};

Object seen(const db::Row& row, Sight sight, Mask mask) {
  auto o = object(row);
  if (sight.is_owner || (row.i16(10) & object_flags::kConfidential) == 0) return o;
  o.masked = true;
  o.data = mask(o.data);
  o.etag = etag_of(o.data);
  o.size_bytes = static_cast<std::int32_t>(o.data.size());
  return o;
}

std::vector<Object> objects(const db::Rows& rows, Sight sight, Mask mask) {
  std::vector<Object> out;
  out.reserve(static_cast<std::size_t>(rows.size()));
  for (const auto row : rows) out.push_back(seen(row, sight, mask));
  return out;
}

Objects::Written written(const db::Row& row) {
  using Verdict = Objects::Written::Verdict;
  Objects::Written out;
  const auto verdict = row.text(0);
  if (verdict == "uid_conflict") out.verdict = Verdict::uid_conflict;
  if (verdict == "exists") out.verdict = Verdict::exists;
  if (verdict == "supported_component") out.verdict = Verdict::component;
  if (!row.is_null(1)) out.holder = row.str(1);
  if (out.verdict == Verdict::done) out.created = row.boolean(2);
  out.modified_at = row.timestamp(3);
  return out;
}

}  // namespace

Object object(const db::Row& row) {
  Object o;
  o.name = row.str(0);
  o.etag = row.uuid(1);
  o.seq = row.i64(2);
  o.component = row.i16(3);
  o.size_bytes = row.i32(4);
  o.created_at = row.timestamp(5);
  o.modified_at = row.timestamp(6);
  if (!row.is_null(7)) o.data = as_text(row.bytes(7));
  o.id = row.i64(8);
  if (!row.is_null(9)) o.schedule_tag = row.uuid(9);
  return o;
}

ObjectRow list_row(const db::Row& row, bool full) {
  ObjectRow out;
  out.name = row.text(0);
  out.deleted = row.boolean(5);
  out.seq = row.i64(2);
  if (out.deleted) return out;
  out.etag = row.uuid(1);
  out.component = row.i16(3);
  out.size_bytes = row.i32(4);
  if (!full) return out;
  out.created_at = row.timestamp(6);
  out.modified_at = row.timestamp(7);
  if (!row.is_null(8)) out.data = as_text(row.bytes(8));
  if (!row.is_null(9)) out.schedule_tag = row.uuid(9);
  return out;
}

std::int16_t hidden_flags(Sight sight, Mask mask) {
  using namespace object_flags;
  if (sight.is_owner) return 0;
  return mask == nullptr ? std::int16_t{kPrivate | kConfidential} : kPrivate;
}

bool is_masked(const db::Row& row) { return (row.i16(10) & object_flags::kConfidential) != 0; }

void lock_states(db::Tx& tx, const std::vector<CollectionId>& collections) {
  std::vector<std::int64_t> ids;
  for (const auto id : collections) ids.push_back(id.value);
  tx.exec(kLockStates, ids);
  if (ids.size() > 1) tx.exec(kLockDrives, ids);
}

std::optional<Object> find_object(db::Tx& tx, Sight sight, Mask mask, const std::string& name) {
  const auto rows = tx.exec(kFind, sight.collection, hidden_flags(sight, mask), name);
  if (rows.empty()) return std::nullopt;
  return seen(rows[0], sight, mask);
}

std::vector<Object> named_objects(db::Tx& tx, Sight sight, Mask mask, const std::vector<std::string>& names) {
  return objects(tx.exec(kNamed, sight.collection, hidden_flags(sight, mask), names), sight, mask);
}

std::vector<Object> objects_by_keys(db::Tx& tx, Sight sight, Mask mask,
                                    const std::vector<std::int64_t>& keys) {
  return objects(tx.exec(kByKeys, sight.collection, hidden_flags(sight, mask), keys), sight, mask);
}

std::vector<Objects::Held> objects_by_uids(db::Tx& tx, Sight sight, Mask mask,
                                           const std::vector<std::string>& uids) {
  std::vector<db::Uuid> hashes;
  hashes.reserve(uids.size());
  for (const auto& uid : uids) hashes.push_back(etag_of(uid));
  std::vector<Objects::Held> out;
  for (const auto row : tx.exec(kByUids, sight.collection, hidden_flags(sight, mask), hashes))
    out.push_back({row.str(11), seen(row, sight, mask)});
  return out;
}

std::vector<std::int64_t> objects_within(db::Tx& tx, Sight sight, Mask mask, std::int16_t components,
                                         std::int64_t from, std::int64_t to) {
  constexpr std::int64_t kShort = 2'678'400;
  const auto last = to > INT64_MAX - kShort ? INT64_MAX : to + kShort;
  std::vector<std::int64_t> out;
  for (const auto row :
       tx.exec(kWithin, sight.collection, components, from, to, last, hidden_flags(sight, mask)))
    out.push_back(row.i64(0));
  return out;
}

Objects::Written put_object(db::Tx& tx, const Caller& caller, CollectionId collection,
                            const Objects::NewObject& object, const Etag& etag) {
  const auto& facts = object.facts;
  try {
    const auto rows =
        tx.one(kPut, collection, caller.user, caller.subjects, caller.rights_mask, object.name,
               static_cast<std::int16_t>(object.expect.kind), object.expect.etag, etag, facts.uid,
               etag_of(facts.uid), facts.component, facts.flags, facts.first, facts.last, facts.title,
               facts.search, facts.emails, facts.phones, as_bytes(object.data));
    return written(rows[0]);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

void remove_object(db::Tx& tx, const Caller& caller, CollectionId collection, const std::string& name,
                   const Expect& expect) {
  try {
    tx.exec(kRemove, collection, caller.user, caller.subjects, caller.rights_mask, name,
            static_cast<std::int16_t>(expect.kind), expect.etag);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

Objects::Written transfer_object(db::Tx& tx, const Caller& caller, const Objects::Transfer& what) {
  try {
    const auto rows = tx.one(kTransfer, what.from, what.name, what.to, what.to_name, what.copy,
                             what.overwrite, caller.user, caller.subjects, caller.rights_mask,
                             static_cast<std::int16_t>(what.expect.kind), what.expect.etag);
    return written(rows[0]);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

}  // namespace welkin::collections::store
