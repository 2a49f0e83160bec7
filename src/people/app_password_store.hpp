#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/db/db.hpp"
#include "welkin/people/people.hpp"

/// Rows of `app_passwords`. Only hashes of secrets come here.
namespace welkin::people::store {

inline constexpr std::int64_t kAppPasswordsMax = 200;  // of a user, revoked and expired ones not counted

/// @throws Error not_found `no_such_folder`, conflict `too_many_app_passwords`
AppPassword insert_app_password(db::Tx& tx, UserId user, const NewAppPassword& wanted,
                                const std::string& prefix, const Sha256& hash, Micros now);
/// Newest first, revoked and expired ones too.
std::vector<AppPassword> app_passwords_of(db::Tx& tx, UserId user);
/// Revoking a revoked one again changes nothing. @return the label; nullopt: no such app password of this
/// user
std::optional<std::string> revoke_app_password(db::Tx& tx, AppPasswordId id, UserId user, Micros now);
std::int64_t revoke_app_passwords(db::Tx& tx, UserId user, Micros now);

/// What authentication reads: parameters hash of the secret, now in microseconds, folded name or address,
/// protocol bit.
const db::Stmt& app_password_lookup();
struct FoundAppPassword {
  AppPasswordId id;
  UserId user;
  std::string user_name;
  std::int32_t protocol_mask = 0;
  bool read_only = false;
  NodeId folder;
  std::optional<Micros> last_used_at;
  std::vector<std::int64_t> groups;
};
FoundAppPassword found_app_password(const db::Row& row);

}  // namespace welkin::people::store
