#include "people/user_store.hpp"

#include "welkin/core/error.hpp"

// A user whose deletion has begun is nobody: only the deletion itself still sees the row.
#define WELKIN_ACCOUNT_COLUMNS                                                                          \
  "select u.id, u.name, u.password_hash, u.auth_provider, u.is_admin, u.is_disabled, u.second_factor, " \
  "u.access_gen, array(select m.group_id from group_members m where m.user_id = u.id) "                 \
  "from users u where u.deleting_since is null and "

#define WELKIN_USER_COLUMNS                                                                    \
  "u.id, u.name, coalesce(u.email, ''), u.display_name, u.is_admin, u.is_disabled, "           \
  "u.auth_provider, "                                                                          \
  "case when d.quota_bytes = 9223372036854775807 then 0 else coalesce(d.quota_bytes, 0) end, " \
  "coalesce(d.used_bytes, 0), u.created_at, u.updated_at, u.last_login_at "
#define WELKIN_USER_TABLES \
  "users u left join drives d on d.owner_id = u.id and d.kind = 1 where u.deleting_since is null "

namespace welkin::people::store {

const db::Stmt kUserByKey{"people.user_by_key",
                          "select k.n, " WELKIN_USER_COLUMNS
                          "from unnest($1::bigint[]) with ordinality k (id, n) cross join " WELKIN_USER_TABLES
                          "and u.id = k.id"};

namespace {

constexpr db::Stmt kAccountByLogin{"people.account_by_login", WELKIN_ACCOUNT_COLUMNS "u.login = $1"};
constexpr db::Stmt kAccountByEmail{"people.account_by_email", WELKIN_ACCOUNT_COLUMNS "u.email = $1"};
constexpr db::Stmt kAccountById{"people.account_by_id", WELKIN_ACCOUNT_COLUMNS "u.id = $1"};

constexpr db::Stmt kUser{"people.user",
                         "select " WELKIN_USER_COLUMNS "from " WELKIN_USER_TABLES "and u.id = $1"};
constexpr db::Stmt kUsers{"people.users", "select " WELKIN_USER_COLUMNS "from " WELKIN_USER_TABLES
                                          "order by u.created_at desc, u.id desc limit $1 offset $2"};
constexpr db::Stmt kCountUsers{"people.count_users",
                               "select count(*) from users where deleting_since is null"};

constexpr db::Stmt kInsert{"people.insert_user", R"(
  insert into users (name, login, email, display_name, password_hash, is_admin, is_disabled)
    values ($1, $1, nullif($2, ''), $3, $4, $5, $6) returning id)"};
constexpr db::Stmt kCreateDrive{"people.create_personal_drive", "select create_personal_drive($1, $2)"};

constexpr db::Stmt kCreateCollections{"people.create_default_collections",
                                      "select create_default_collections($1)"};

constexpr db::Stmt kLock{"people.lock_user",
                         "select name from users where id = $1 and deleting_since is null for update"};
constexpr db::Stmt kLockAdmins{"people.lock_admins", R"(
  select id from users where is_admin and not is_disabled order by id for update)"};
constexpr db::Stmt kSetPassword{
    "people.set_password_hash",
    "update users set password_hash = $2, access_gen = access_gen + 1, updated_at = now() "
    "where id = $1"};
constexpr db::Stmt kRaise{"people.raise_generation",
                          "update users set access_gen = access_gen + 1, updated_at = now() where id = $1"};
constexpr db::Stmt kCountAdmins{"people.count_admins",
                                "select count(*) from users where is_admin and deleting_since is null"};

User user(const db::Row& row, int first = 0) {
  User u;
  u.id = row.id<UserId>(first);
  u.name = row.str(first + 1);
  u.email = row.str(first + 2);
  u.display_name = row.str(first + 3);
  u.is_admin = row.boolean(first + 4);
  u.is_disabled = row.boolean(first + 5);
  u.auth_provider = row.str(first + 6);
  u.quota_bytes = row.i64(first + 7);
  u.used_bytes = row.i64(first + 8);
  u.created_at = row.timestamp(first + 9);
  u.updated_at = row.timestamp(first + 10);
  u.last_login_at = row.opt_timestamp(first + 11);
  return u;
}

}  // namespace

const db::Stmt& account_by(const std::string& key) {
  return key.find('@') == std::string::npos ? kAccountByLogin : kAccountByEmail;
}

Account account(const db::Row& row) {
  Account a;
  a.id = row.id<UserId>(0);
  a.name = row.str(1);
  a.password_hash = row.opt_str(2);
  a.auth_provider = row.str(3);
  a.is_admin = row.boolean(4);
  a.is_disabled = row.boolean(5);
  a.second_factor = row.boolean(6);
  a.generation = row.i64(7);
  a.groups = row.i64_array(8);
  return a;
}

std::optional<Account> find_account(db::Tx& tx, const std::string& key) {
  const auto rows = tx.exec(account_by(key), key);
  if (rows.empty()) return std::nullopt;
  return account(rows[0]);
}

std::optional<Account> find_account(db::Tx& tx, UserId id) {
  const auto rows = tx.exec(kAccountById, id);
  if (rows.empty()) return std::nullopt;
  return account(rows[0]);
}

std::optional<User> find_user(db::Tx& tx, UserId id) {
  const auto rows = tx.exec(kUser, id);
  if (rows.empty()) return std::nullopt;
  return user(rows[0]);
}

User require_user(const std::optional<db::Found>& found) {
  if (!found) throw Error(Errc::not_found, "no_such_user", "User not found");
  return user(**found, 1);
}

User require_user(db::Tx& tx, UserId id) {
  auto found = find_user(tx, id);
  if (!found) throw Error(Errc::not_found, "no_such_user", "User not found");
  return *std::move(found);
}

People::UserPage users(db::Tx& tx, int limit, std::int64_t offset) {
  People::UserPage page;
  for (const auto row : tx.exec(kUsers, std::int64_t{limit}, offset)) page.users.push_back(user(row));
  page.total = tx.one(kCountUsers)[0].i64(0);
  return page;
}

UserId insert_user(db::Tx& tx, const NewRow& row) {
  UserId id;
  try {
    const auto made = tx.one(kInsert, row.name, row.email, row.display_name, row.password_hash, row.is_admin,
                             row.is_disabled);
    id = made[0].id<UserId>(0);
  } catch (const db::SqlError& e) {
    if (!e.unique_violation()) throw;
    if (e.constraint() == "users_by_email")
      throw Error(Errc::conflict, "email_exists", "User already exists: this e-mail address is taken");
    throw Error(Errc::conflict, "user_exists", "User already exists: " + row.name);
  }
  tx.one(kCreateDrive, id, row.quota_bytes);
  tx.one(kCreateCollections, id);
  return id;
}

std::string lock_user(db::Tx& tx, UserId id) {
  const auto rows = tx.exec(kLock, id);
  if (rows.empty()) throw Error(Errc::not_found, "no_such_user", "User not found");
  return rows[0].str(0);
}

void require_other_admin(db::Tx& tx, UserId id) {
  bool is_one = false, another = false;
  for (const auto row : tx.exec(kLockAdmins)) (row.id<UserId>(0) == id ? is_one : another) = true;
  if (!is_one || another) return;
  throw Error(Errc::conflict, "last_admin", "This is the last administrator who can sign in");
}

void set_password_hash(db::Tx& tx, UserId id, const std::string& hash) { tx.exec(kSetPassword, id, hash); }

void raise_generation(db::Tx& tx, UserId id) { tx.exec(kRaise, id); }

std::int64_t count_admins(db::Tx& tx) { return tx.one(kCountAdmins)[0].i64(0); }

}  // namespace welkin::people::store
