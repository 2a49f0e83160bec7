#include "collections/collection_store.hpp"

#include <charconv>
#include <map>

#include "collections/refusals.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

// $1 the user, $2 his subjects. Whatever he owns, or is shared with one of the subjects.
#define WELKIN_VISIBLE_COLLECTIONS                                                                \
  "select c.id, c.uid, c.owner_id, u.name, c.kind, c.components, c.path, s.epoch, s.seq, "        \
  "s.object_count, s.bytes, c.created_at, s.changed_at, v.access, "                               \
  "exists (select from collection_shares h where h.collection_id = c.id), c.origin "              \
  "from (select o.id, 3::smallint access from collections o where o.owner_id = $1 union all "     \
  "select h.collection_id, max(h.access) from collection_shares h where h.subject_id = any ($2) " \
  "group by h.collection_id) v join collections c on c.id = v.id join collection_state s on "     \
  "s.collection_id = c.id join users u on u.id = c.owner_id where c.deleted_at is null and "      \
  "(v.access = 3 or c.owner_id <> $1) and "

namespace welkin::collections::store {
namespace {

constexpr std::string_view kSharedPath = "shared-";

constexpr db::Stmt kHome{"collections.home",
                         WELKIN_VISIBLE_COLLECTIONS "c.kind = $3 order by v.access = 3 desc, c.id"};
constexpr db::Stmt kByPath{"collections.by_path",
                           WELKIN_VISIBLE_COLLECTIONS "c.kind = $3 and v.access = 3 and c.path = $4"};
constexpr db::Stmt kById{"collections.by_id", WELKIN_VISIBLE_COLLECTIONS "c.id = $3"};

constexpr db::Stmt kOverlays{"collections.overlays", R"(
  select p.collection_id, bit_xor(hashtextextended(p.ns || ' ' || p.name || ' ' || p.value, 17))
    from collection_properties p where p.user_id = $1 and p.collection_id = any ($2) group by p.collection_id)"};
constexpr db::Stmt kFormerPaths{"collections.former_paths",
                                "select c.id, c.path from collections c where c.owner_id = $1 and c.id = any "
                                "($2)"};

constexpr db::Stmt kCreate{"collections.create",
                           "select create_collection($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"};
constexpr db::Stmt kRemove{"collections.remove", "select delete_collection($1, $2, $3, $4, $5)"};
constexpr db::Stmt kPatch{"collections.patch",
                          "select patch_collection($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"};
constexpr db::Stmt kProperties{"collections.properties", R"(
  select distinct on (p.collection_id, p.ns, p.name) p.collection_id, p.ns, p.name, p.value
    from collection_properties p
   where p.collection_id = any ($1) and (p.user_id is null or p.user_id = $2)
     and ($3::text[] = '{}' or (p.ns, p.name) in (select * from unnest($3::text[], $4::text[])))
   order by p.collection_id, p.ns, p.name, p.user_id is null)"};

constexpr db::Stmt kHomeProperties{"collections.home_properties",
                                   "select 0::bigint, ns, name, value from home_properties where user_id = "
                                   "$1 and kind = $2 order by ns, name"};
constexpr db::Stmt kLockUser{"collections.lock_user", "select 1 from users where id = $1 for no key update"};
constexpr db::Stmt kDropHomeProperties{
    "collections.drop_home_properties",
    "delete from home_properties p using unnest($3::text[], $4::text[]) w (ns, name) "
    "where p.user_id = $1 and p.kind = $2 and p.ns = w.ns and p.name = w.name"};
constexpr db::Stmt kSetHomeProperties{
    "collections.set_home_properties",
    "insert into home_properties (user_id, kind, ns, name, value) "
    "select $1, $2, w.ns, w.name, w.value from unnest($3::text[], $4::text[], $5::text[]) w (ns, name, "
    "value) "
    "on conflict (user_id, kind, ns, name) do update set value = excluded.value"};
constexpr db::Stmt kCountHomeProperties{
    "collections.count_home_properties",
    "select count(*), coalesce(sum(octet_length(ns) + octet_length(name) + octet_length(value)), 0)::bigint "
    "from home_properties where user_id = $1 and kind = $2"};

Access limited(std::int16_t access, const Caller& caller) {
  constexpr auto kWrites = rights::kCreate | rights::kUpdate | rights::kDelete;
  if ((caller.rights_mask & rights::kRead) == 0) return Access::none;
  if (access > 1 && (caller.rights_mask & kWrites) != kWrites) return Access::read;
  return static_cast<Access>(access);
}

std::string uuid_text(const db::Uuid& uuid) {
  std::string out = text::hex(std::as_bytes(std::span(uuid)));
  for (const std::size_t at : {20U, 16U, 12U, 8U}) out.insert(at, 1, '-');
  return out;
}

Collection collection(const db::Row& row, const Caller& caller) {
  Collection c;
  c.id = row.id<CollectionId>(0);
  c.uid = uuid_text(row.uuid(1));
  c.owner = row.id<UserId>(2);
  c.owner_name = row.str(3);
  c.kind = static_cast<Kind>(row.i16(4));
  c.components = row.i16(5);
  c.path = c.owner == caller.user ? row.str(6) : std::string(kSharedPath) + std::to_string(c.id.value);
  c.epoch = row.i32(7);
  c.seq = row.i64(8);
  c.objects = row.i64(9);
  c.bytes = row.i64(10);
  c.created_at = row.timestamp(11);
  c.changed_at = row.timestamp(12);
  c.access = limited(row.i16(13), caller);
  c.is_own = c.owner == caller.user;
  c.is_shared = row.boolean(14);
  c.origin = static_cast<Origin>(row.i16(15));
  return c;
}

/// The key in "shared-17"; 0 when it is none, also for spellings that we do not use.
CollectionId shared_id(std::string_view path) {
  if (!path.starts_with(kSharedPath)) return {};
  path.remove_prefix(kSharedPath.size());
  CollectionId id;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), id.value);
  if (error != std::errc() || end != path.data() + path.size() || path.front() == '0' || id.value < 0)
    return {};
  return id;
}

/// The last word on a name is the only one that counts.
struct Split {
  std::vector<std::string> set_ns, set_names, set_values, gone_ns, gone_names;
  explicit Split(const std::vector<PropertyChange>& changes) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const auto& change = changes[i];
      bool overruled = false;
      for (std::size_t j = i + 1; j < changes.size() && !overruled; ++j)
        overruled = changes[j].name == change.name && changes[j].ns == change.ns;
      if (overruled) continue;
      (change.value ? set_ns : gone_ns).push_back(change.ns);
      (change.value ? set_names : gone_names).push_back(change.name);
      if (change.value) set_values.push_back(*change.value);
    }
  }
};

std::optional<Collection> first(const db::Rows& rows, const Caller& caller) {
  if (rows.empty()) return std::nullopt;
  auto found = collection(rows[0], caller);
  if (found.access == Access::none) return std::nullopt;
  return found;
}

std::vector<Property> read_properties(const db::Rows& rows) {
  std::vector<Property> out;
  for (const auto row : rows) out.push_back({row.id<CollectionId>(0), row.str(1), row.str(2), row.str(3)});
  return out;
}

}  // namespace

std::vector<Collection> home(db::Tx& tx, const Caller& caller, Kind kind) {
  std::vector<Collection> out;
  for (const auto row : tx.exec(kHome, caller.user, caller.subjects, static_cast<std::int16_t>(kind))) {
    out.push_back(collection(row, caller));
    if (out.back().access == Access::none) out.pop_back();
  }
  return out;
}

std::vector<Collections::Mark> marks(db::Tx& tx, const Caller& caller, const std::vector<Collection>& of) {
  std::vector<std::int64_t> ids;
  for (const auto& c : of) ids.push_back(c.id.value);
  std::map<std::int64_t, std::int64_t> overlays;
  for (const auto row : tx.exec(kOverlays, caller.user, ids)) overlays[row.i64(0)] = row.i64(1);
  std::vector<Collections::Mark> out;
  for (const auto& c : of) {
    const auto found = overlays.find(c.id.value);
    std::string told = c.uid + ' ' + c.state() + ' ' + std::to_string(static_cast<int>(c.access));
    told += c.is_shared ? " shared " : " ";
    if (found != overlays.end()) told += std::to_string(found->second);
    const auto digest = crypto::sha256(told);
    Collections::Mark mark;
    mark.id = c.id;
    mark.is_own = c.owner == caller.user;
    for (std::size_t i = 0; i < 6; ++i) mark.state = mark.state << 8 | digest[i];
    out.push_back(mark);
  }
  return out;
}

std::vector<std::optional<std::string>> former_paths(db::Tx& tx, const Caller& caller,
                                                     const std::vector<Collections::Mark>& of) {
  std::vector<std::int64_t> own;
  for (const auto& mark : of)
    if (mark.is_own) own.push_back(mark.id.value);
  std::map<std::int64_t, std::string> known;
  for (const auto row : tx.exec(kFormerPaths, caller.user, own)) known[row.i64(0)] = row.str(1);
  std::vector<std::optional<std::string>> out;
  for (const auto& mark : of) {
    const auto found = known.find(mark.id.value);
    if (!mark.is_own)
      out.emplace_back(std::string(kSharedPath) + std::to_string(mark.id.value));
    else
      out.push_back(found == known.end() ? std::nullopt : std::optional(found->second));
  }
  return out;
}

std::optional<Collection> find(db::Tx& tx, const Caller& caller, Kind kind, const std::string& path) {
  if (const auto id = shared_id(path)) {
    auto found = find(tx, caller, id);
    // Who owns it calls it otherwise.
    return found && found->kind == kind && found->owner != caller.user ? found : std::nullopt;
  }
  return first(tx.exec(kByPath, caller.user, caller.subjects, static_cast<std::int16_t>(kind), path), caller);
}

std::optional<Collection> find(db::Tx& tx, const Caller& caller, CollectionId id) {
  return first(tx.exec(kById, caller.user, caller.subjects, id), caller);
}

CollectionId create(db::Tx& tx, const Caller& caller, const NewCollection& wanted) {
  // These are addresses of another kind in a calendar home.
  const bool is_taken = wanted.kind == Kind::calendar && (wanted.path == "inbox" || wanted.path == "outbox");
  if (wanted.path.empty() || wanted.path.size() > 255 || wanted.path.starts_with(kSharedPath) || is_taken)
    throw Error(Errc::invalid, "bad_collection_name", "A collection cannot have this name");
  const Split split(wanted.properties);
  try {
    const auto rows = tx.one(kCreate, caller.user, caller.rights_mask, static_cast<std::int16_t>(wanted.kind),
                             wanted.path, wanted.components, split.set_ns, split.set_names, split.set_values,
                             Collections::kPerUserMax, Collections::kPropertiesMax);
    return rows[0].id<CollectionId>(0);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

void remove(db::Tx& tx, const Caller& caller, CollectionId id, const std::string& state) {
  try {
    tx.exec(kRemove, id, caller.user, caller.subjects, caller.rights_mask, state);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

std::vector<Property> properties(db::Tx& tx, const Caller& caller, const std::vector<CollectionId>& of,
                                 const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<std::int64_t> ids;
  for (const auto id : of) ids.push_back(id.value);
  std::vector<std::string> spaces, locals;
  for (const auto& [ns, name] : names) {
    spaces.push_back(ns);
    locals.push_back(name);
  }
  return read_properties(tx.exec(kProperties, ids, caller.user, spaces, locals));
}

void patch(db::Tx& tx, const Caller& caller, CollectionId id, const std::vector<PropertyChange>& changes) {
  const Split split(changes);
  try {
    tx.exec(kPatch, id, caller.user, caller.subjects, caller.rights_mask, split.set_ns, split.set_names,
            split.set_values, split.gone_ns, split.gone_names, Collections::kPropertiesMax);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

std::vector<Property> home_properties(db::Tx& tx, const Caller& caller, Kind kind) {
  return read_properties(tx.exec(kHomeProperties, caller.user, static_cast<std::int16_t>(kind)));
}

void patch_home(db::Tx& tx, const Caller& caller, Kind kind, const std::vector<PropertyChange>& changes) {
  if ((caller.rights_mask & rights::kUpdate) == 0)
    throw Error(Errc::forbidden, "forbidden", "you may not do this here");
  const Split split(changes);
  const auto which = static_cast<std::int16_t>(kind);
  tx.exec(kLockUser, caller.user);
  tx.exec(kDropHomeProperties, caller.user, which, split.gone_ns, split.gone_names);
  tx.exec(kSetHomeProperties, caller.user, which, split.set_ns, split.set_names, split.set_values);
  const auto total = tx.one(kCountHomeProperties, caller.user, which);
  if (!split.set_names.empty() &&
      (total[0].i64(0) > Collections::kPropertiesMax || total[0].i64(1) > Collections::kPropertiesBytesMax))
    throw Error(Errc::quota_exceeded, "too_many_properties", "there is no room for more properties here");
}

}  // namespace welkin::collections::store
