#include "people/app_password_store.hpp"

#include "welkin/core/error.hpp"

namespace welkin::people::store {
namespace {

constexpr db::Stmt kCountLive{"people.count_app_passwords", R"(
  select count(*) from app_passwords
   where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > to_timestamp($2 / 1e6)))"};
constexpr db::Stmt kInsert{"people.insert_app_password", R"(
  insert into app_passwords (user_id, label, prefix, secret_hash, protocol_mask, read_only, folder_id, created_at,
                             expires_at)
    values ($1, $2, $3, $4, $5, $6, nullif($7, 0), to_timestamp($8 / 1e6), to_timestamp($9::bigint / 1e6)) returning id)"};
constexpr db::Stmt kOfUser{"people.app_passwords_of_user", R"(
  select id, label, prefix, protocol_mask, read_only, folder_id, created_at, last_used_at, expires_at, revoked_at
    from app_passwords where user_id = $1 order by created_at desc, id desc)"};
constexpr db::Stmt kRevoke{"people.revoke_app_password", R"(
  update app_passwords set revoked_at = coalesce(revoked_at, to_timestamp($3 / 1e6))
   where id = $1 and user_id = $2 returning label)"};
constexpr db::Stmt kRevokeAll{"people.revoke_app_passwords", R"(
  update app_passwords set revoked_at = to_timestamp($2 / 1e6) where user_id = $1 and revoked_at is null)"};
constexpr db::Stmt kLookup{"people.app_password_lookup", R"(
  select a.id, u.id, u.name, a.protocol_mask, a.read_only, a.folder_id, a.last_used_at,
         array(select m.group_id from group_members m where m.user_id = u.id)
    from app_passwords a join users u on u.id = a.user_id
   where a.secret_hash = $1 and a.revoked_at is null and (a.expires_at is null or a.expires_at > to_timestamp($2 / 1e6))
     and (u.login = $3 or u.email = $3) and not u.is_disabled and a.protocol_mask & $4 <> 0)"};

}  // namespace

AppPassword insert_app_password(db::Tx& tx, UserId user, const NewAppPassword& wanted,
                                const std::string& prefix, const Sha256& hash, Micros now) {
  if (tx.one(kCountLive, user, now)[0].i64(0) >= kAppPasswordsMax)
    throw Error(Errc::conflict, "too_many_app_passwords",
                "You have too many app passwords; revoke some first");
  AppPassword made;
  try {
    const auto rows = tx.one(kInsert, user, wanted.label, prefix, hash, wanted.protocol_mask,
                             wanted.read_only, wanted.folder, now, wanted.expires_at);
    made.id = rows[0].id<AppPasswordId>(0);
  } catch (const db::SqlError& e) {
    if (e.constraint() == "app_passwords_folder")
      throw Error(Errc::not_found, "no_such_folder", "Folder not found");
    throw;
  }
  made.label = wanted.label;
  made.prefix = prefix;
  made.protocol_mask = wanted.protocol_mask;
  made.read_only = wanted.read_only;
  made.folder = wanted.folder;
  made.created_at = now;
  made.expires_at = wanted.expires_at;
  return made;
}

std::vector<AppPassword> app_passwords_of(db::Tx& tx, UserId user) {
  std::vector<AppPassword> all;
  for (const auto row : tx.exec(kOfUser, user)) {
    AppPassword p;
    p.id = row.id<AppPasswordId>(0);
    p.label = row.str(1);
    p.prefix = row.str(2);
    p.protocol_mask = row.i32(3);
    p.read_only = row.boolean(4);
    p.folder = row.id<NodeId>(5);
    p.created_at = row.timestamp(6);
    p.last_used_at = row.opt_timestamp(7);
    p.expires_at = row.opt_timestamp(8);
    p.revoked_at = row.opt_timestamp(9);
    all.push_back(std::move(p));
  }
  return all;
}

std::optional<std::string> revoke_app_password(db::Tx& tx, AppPasswordId id, UserId user, Micros now) {
  const auto rows = tx.exec(kRevoke, id, user, now);
  if (rows.empty()) return std::nullopt;
  return rows[0].str(0);
}

std::int64_t revoke_app_passwords(db::Tx& tx, UserId user, Micros now) {
  return tx.exec(kRevokeAll, user, now).affected();
}

const db::Stmt& app_password_lookup() { return kLookup; }

FoundAppPassword found_app_password(const db::Row& row) {
  FoundAppPassword found;
  found.id = row.id<AppPasswordId>(0);
  found.user = row.id<UserId>(1);
  found.user_name = row.str(2);
  found.protocol_mask = row.i32(3);
  found.read_only = row.boolean(4);
  found.folder = row.id<NodeId>(5);
  found.last_used_at = row.opt_timestamp(6);
  found.groups = row.i64_array(7);
  return found;
}

}  // namespace welkin::people::store
