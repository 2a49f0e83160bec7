#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/db/db.hpp"
#include "welkin/people/people.hpp"

/// Rows of `users`. Synchronous; every function runs inside the caller's transaction.
namespace welkin::people {

/// What deciding about a sign-in needs.
struct Account {
  UserId id;
  std::string name;
  std::optional<std::string> password_hash;
  std::string auth_provider;
  bool is_admin = false, is_disabled = false, second_factor = false;
  std::int64_t generation = 0;  // users.access_gen
  std::vector<std::int64_t> groups;

  bool may_use_password() const { return password_hash && !is_disabled && auth_provider == "local"; }
};

namespace store {

/// By folded name, or by folded e-mail address when `key` holds an '@' (a name cannot). Parameter: key.
const db::Stmt& account_by(const std::string& key);
Account account(const db::Row& row);
std::optional<Account> find_account(db::Tx& tx, const std::string& key);
std::optional<Account> find_account(db::Tx& tx, UserId id);

std::optional<User> find_user(db::Tx& tx, UserId id);
/// The same as a look-up by id (Db::look_up), and what it found. @throws Error not_found `no_such_user`
extern const db::Stmt kUserByKey;
User require_user(const std::optional<db::Found>& found);
/// @throws Error not_found `no_such_user`
User require_user(db::Tx& tx, UserId id);
People::UserPage users(db::Tx& tx, int limit, std::int64_t offset);

struct NewRow {
  std::string name, email, display_name = {}, password_hash = {};
  bool is_admin = false, is_disabled = false;
  std::int64_t quota_bytes = 0;
};
/// The row, the personal drive with its root and trash. @throws Error conflict `user_exists`, `email_exists`
UserId insert_user(db::Tx& tx, const NewRow& row);

/// Locks the row until the end of the transaction, so that sign-ins and changes of one account come one after
/// the other.
/// @return the name. @throws Error not_found `no_such_user`
std::string lock_user(db::Tx& tx, UserId id);
/// Locks the administrators' rows and makes sure that one who may sign in is left without `id`: two who
/// demote each other at once come one after the other here. @throws Error conflict `last_admin`
void require_other_admin(db::Tx& tx, UserId id);

void set_password_hash(db::Tx& tx, UserId id, const std::string& hash);
/// Every cached verdict and permission of the user dies.
void raise_generation(db::Tx& tx, UserId id);
std::int64_t count_admins(db::Tx& tx);

}  // namespace store
}  // namespace welkin::people
