#include "people/app_password_store.hpp"
#include "people/attempt_store.hpp"
#include "people/audit.hpp"
#include "people/impl.hpp"
#include "people/names.hpp"
#include "welkin/core/error.hpp"

// Accounts as administrators and the command line see them.
namespace welkin::people {
namespace {

constexpr std::int32_t kNodesPerBatch = 2000;

constexpr db::Stmt kBeginDelete{"people.begin_delete_user", R"(
  update users set deleting_since = now(), is_disabled = true, is_admin = false, access_gen = access_gen + 1,
                   updated_at = now() where id = $1)"};
constexpr db::Stmt kOneDrive{"people.drive_of_user",
                             "select id from drives where owner_id = $1 order by id limit 1"};
constexpr db::Stmt kDropDrive{"people.drop_drive_batch", "select drop_drive_batch($1, $2)"};
constexpr db::Stmt kDelete{"people.delete_user",
                           "delete from users where id = $1 and deleting_since is not null"};
constexpr db::Stmt kSetAdmin{"people.set_admin",
                             "update users set is_admin = $2 where id = $1 and is_admin <> $2"};
constexpr db::Stmt kSetDisabled{"people.set_disabled",
                                "update users set is_disabled = $2 where id = $1 and is_disabled <> $2"};
constexpr db::Stmt kSetQuota{"people.set_quota", R"(
  update drives set quota_bytes = case when $2 = 0 then 9223372036854775807 else $2 end
   where owner_id = $1 and kind = 1)"};

void require_quota(std::int64_t quota_bytes) {
  if (quota_bytes < 0)
    throw Error(Errc::invalid, "bad_quota",
                "A quota is a number of bytes, or 0 for no limit; it cannot be negative");
}

}  // namespace

Task<User> People::me(Caller caller) { return user(caller.user); }

Task<User> People::user(UserId id) {
  co_return store::require_user(co_await impl_->db.look_up(store::kUserByKey, id.value));
}

Task<User> People::user_by_name(std::string_view name) {
  const std::string key = login_key(name);
  co_return co_await impl_->db.read([&](db::Tx& tx) {
    const auto account = store::find_account(tx, key);
    return store::require_user(tx, account ? account->id : UserId{});
  });
}

Task<People::UserPage> People::users(int limit, std::int64_t offset) {
  co_return co_await impl_->db.read([&](db::Tx& tx) { return store::users(tx, limit, offset); });
}

Task<User> People::create_user(NewUser wanted, UserId actor, Origin origin) {
  auto& impl = *impl_;
  store::NewRow row{.name = require_user_name(wanted.name),
                    .email = require_email(wanted.email),
                    .display_name = require_display_name(wanted.display_name),
                    .is_admin = wanted.is_admin,
                    .is_disabled = wanted.is_disabled,
                    .quota_bytes = wanted.quota_bytes.value_or(impl.config.default_quota_bytes)};
  if (row.display_name.empty()) row.display_name = row.name;
  require_quota(row.quota_bytes);
  require_password(wanted.password, row.name);
  row.password_hash = co_await impl.hasher.hash(std::move(wanted.password));
  co_return co_await impl.db.write([&](db::Tx& tx) {
    const UserId id = store::insert_user(tx, row);
    audit(tx, origin,
          {.actor = actor,
           .action = "user.create",
           .subject = row.name,
           .detail = {{"role", row.is_admin ? "admin" : "user"}}});
    return store::require_user(tx, id);
  });
}

bool People::Impl::drop_user_batch(db::Tx& tx, UserId id) {
  const auto drives = tx.exec(kOneDrive, id);
  if (!drives.empty()) {
    tx.one(kDropDrive, drives[0].i32(0), kNodesPerBatch);
    return true;
  }
  tx.exec(kDelete, id);
  return false;
}

Task<> People::delete_user(UserId id, UserId actor, Origin origin) {
  auto& impl = *impl_;
  // First the user ceases to be anybody; then, in as many transactions as it takes, what he had goes to the
  // collector.
  co_await impl.db.write([&](db::Tx& tx) {
    store::require_other_admin(tx, id);
    const std::string name = store::lock_user(tx, id);
    tx.exec(kBeginDelete, id);
    store::delete_sessions(tx, id);
    store::revoke_app_passwords(tx, id, impl.clock.now());
    audit(tx, origin, {.actor = actor, .action = "user.delete", .subject = name});
  });
  while (co_await impl.db.write([&](db::Tx& tx) { return Impl::drop_user_batch(tx, id); })) {
  }
}

Task<> People::set_admin(UserId id, bool is_admin, UserId actor, Origin origin) {
  auto& impl = *impl_;
  co_await impl.db.write([&](db::Tx& tx) {
    if (!is_admin) store::require_other_admin(tx, id);
    const std::string name = store::lock_user(tx, id);
    if (tx.exec(kSetAdmin, id, is_admin).affected() == 0) return;
    store::raise_generation(tx, id);
    store::delete_sessions(tx, id);  // nobody keeps a session across a change of role
    audit(tx, origin,
          {.actor = actor,
           .action = "user.role",
           .subject = name,
           .detail = {{"role", is_admin ? "admin" : "user"}}});
  });
}

Task<> People::set_disabled(UserId id, bool is_disabled, UserId actor, Origin origin) {
  auto& impl = *impl_;
  co_await impl.db.write([&](db::Tx& tx) {
    if (is_disabled) store::require_other_admin(tx, id);
    const std::string name = store::lock_user(tx, id);
    if (tx.exec(kSetDisabled, id, is_disabled).affected() == 0) return;
    store::raise_generation(tx, id);
    if (is_disabled) store::delete_sessions(tx, id);
    audit(tx, origin,
          {.actor = actor, .action = is_disabled ? "user.disable" : "user.enable", .subject = name});
  });
}

Task<> People::set_quota(UserId id, std::int64_t quota_bytes, UserId actor, Origin origin) {
  auto& impl = *impl_;
  require_quota(quota_bytes);
  co_await impl.db.write([&](db::Tx& tx) {
    const std::string name = store::lock_user(tx, id);
    tx.exec(kSetQuota, id, quota_bytes);
    audit(tx, origin,
          {.actor = actor,
           .action = "user.quota",
           .subject = name,
           .detail = {{"quota_bytes", std::to_string(quota_bytes)}}});
  });
}

Task<> People::reset_password(UserId id, std::string password, UserId actor, Origin origin) {
  auto& impl = *impl_;
  const auto target = co_await user(id);
  if (target.auth_provider != "local")
    throw Error(Errc::invalid, "not_local",
                "This account signs in with " + target.auth_provider + ", not a password");
  require_password(password, target.name);
  const std::string hash = co_await impl.hasher.hash(std::move(password));
  co_await impl.db.write([&](db::Tx& tx) {
    store::lock_user(tx, id);
    store::set_password_hash(tx, id, hash);
    store::clear_attempts(tx, target.name);
    store::delete_sessions(tx, id);
    store::revoke_app_passwords(tx, id, impl.clock.now());
    audit(tx, origin, {.actor = actor, .action = "password.reset", .subject = target.name});
  });
}

}  // namespace welkin::people
