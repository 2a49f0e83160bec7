#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/core/turnstile.hpp"
#include "welkin/db/db.hpp"

/// Who is who: accounts, sessions, app passwords, limits. Knows no HTTP. Every security action writes its
/// `audit` row in the same transaction.
namespace welkin::people {

struct User {
  UserId id;
  std::string name;   // [a-z0-9._-]{1,64}; the id in DAV paths; never changes
  std::string email;  // "" when none
  std::string display_name;
  bool is_admin = false;
  bool is_disabled = false;
  std::string auth_provider;     // "local" or the OIDC provider's name
  std::int64_t quota_bytes = 0;  // of the personal drive; 0: unlimited
  std::int64_t used_bytes = 0;   // files, versions and trash
  Micros created_at = 0, updated_at = 0;
  std::optional<Micros> last_login_at;
};

/// Where a request comes from, for limits, sessions and the audit trail.
struct Origin {
  std::string address;    // shown
  std::string limit_key;  // counted: address, IPv6 cut to /64
  std::string user_agent;
  std::string request_id;
};

struct Tokens {
  User user;
  SessionId session;
  std::string access_token, refresh_token;  // opaque, 256 bits each; only hashes are stored
  std::uint32_t access_seconds = 0, refresh_seconds = 0;
};

struct Session {
  SessionId id;
  std::string user_agent, address;
  Micros created_at = 0, last_used_at = 0, expires_at = 0;
};

struct AppPassword {
  AppPasswordId id;
  std::string label, prefix;  // the first letters of the secret, for recognition
  std::int32_t protocol_mask = 0;
  bool read_only = false;
  NodeId folder;  // 0: everything of the user
  Micros created_at = 0;
  std::optional<Micros> last_used_at, expires_at, revoked_at;
};

struct NewAppPassword {
  std::string label;  // 1..255 bytes
  std::int32_t protocol_mask = 0;
  bool read_only = false;
  NodeId folder;  // checked by the caller (files.require_readable_folder) before
  std::optional<Micros> expires_at;
};

/// A user's name, folded: [a-z0-9._-]{1,64}, not starting or ending with '.' or '-', not reserved.
/// @throws Error invalid `bad_user_name`
std::string require_user_name(std::string_view name);
/// 8..1024 bytes, not in the list of common passwords, not the user's name. @throws Error invalid
/// `weak_password`
void require_password(std::string_view password, std::string_view user_name);

class Directory;
class Devices;
class Presences;

class People {
 public:
  People(db::Db& db, const Config& config, const Clock& clock);
  ~People();

  // --- set-up
  struct Status {
    bool initialized = false;
    std::int64_t admin_count = 0;
  };
  Task<Status> status();
  /// The one-time token for the link printed at start; empty when set-up is closed or needs none. Made on
  /// first call, kept hashed in `settings`; each call after a restart makes a new one.
  std::string setup_token_now();
  /// False when the configuration says that set-up needs no token.
  bool setup_needs_token() const;
  /// Exactly one of any number of racing calls wins. Validates everything before it claims.
  /// @throws Error forbidden `already_initialized`, forbidden `bad_setup_token`, invalid ...
  Task<User> setup(std::string user_name, std::string email, std::string password, std::string token,
                   Origin origin);

  // --- signing in
  /// @throws Error forbidden `bad_credentials` (unknown, wrong, disabled: the same, in the same time),
  ///         too_many_requests `account_locked` / `too_many_attempts`
  Task<Tokens> login(std::string name_or_email, std::string password, Origin origin);
  /// @throws Error unauthenticated `no_refresh_token`, not_found `unknown_refresh_token`, forbidden
  ///         `refresh_token_reused` (the session ends) / `refresh_token_expired`
  Task<Tokens> refresh(std::string refresh_token, Origin origin);
  Task<> logout(Caller caller, Origin origin);
  /// Also ends the session that `refresh_token` names, when it is the caller's; "" and unknown ones are
  /// ignored.
  /// @throws Error forbidden `not_your_token`
  Task<> logout(Caller caller, std::string refresh_token, Origin origin);
  /// Ends every session of the user. App passwords stay. @throws Error forbidden `bad_credentials`,
  ///         too_many_requests `account_locked`, invalid `weak_password`
  Task<> change_password(Caller caller, std::string current, std::string next, Origin origin);
  Task<std::vector<Session>> sessions(Caller caller);
  /// @throws Error not_found
  Task<> revoke_session(Caller caller, SessionId session, Origin origin);

  // --- authentication on every request: one indexed statement, no hash of a password
  /// nullopt: not valid (unknown, expired, user disabled).
  Task<std::optional<Caller>> by_access_token(std::string_view token, Credential how);
  /// Basic credentials. `protocol`: one bit of protocols::*. An app password whose mask lacks it is not valid
  /// here. Account passwords where the config and the user allow it, never for kRest; a verified one is
  /// remembered for at most 60 s, keyed by HMAC, and forgotten with any change of the account. Wrong ones
  /// count towards the lock-out, the same wrong one repeated only once. @throws Error too_many_requests,
  /// unavailable `busy`
  Task<std::optional<Caller>> by_basic(std::string_view user, std::string_view password,
                                       std::int32_t protocol, Origin origin);

  // --- app passwords
  Task<std::pair<AppPassword, std::string>> create_app_password(Caller caller, NewAppPassword wanted,
                                                                Origin origin);
  Task<std::vector<AppPassword>> app_passwords(Caller caller);
  /// @throws Error not_found
  Task<> revoke_app_password(Caller caller, AppPasswordId id, Origin origin);

  // --- accounts
  Task<User> me(Caller caller);
  Task<User> user(UserId id);  // @throws Error not_found
  struct UserPage {
    std::vector<User> users;
    std::int64_t total = 0;
  };
  Task<UserPage> users(int limit, std::int64_t offset);  // newest first
  struct NewUser {
    std::string name, password, email, display_name;
    bool is_admin = false, is_disabled = false;
    std::optional<std::int64_t> quota_bytes;  // 0: unlimited; unset: the configured default
  };
  /// Makes the user, his personal drive with its root and trash. @throws Error conflict `user_exists`,
  /// invalid ...
  Task<User> create_user(NewUser wanted, UserId actor, Origin origin);
  /// The user is nobody at once; his contents go to the collector in as many transactions as it takes, and
  /// `prune` goes on where a restart cut that short. @throws Error conflict `last_admin`, not_found
  Task<> delete_user(UserId id, UserId actor, Origin origin);
  /// A change of role ends the user's sessions. @throws Error conflict `last_admin`, not_found
  Task<> set_admin(UserId id, bool is_admin, UserId actor, Origin origin);
  /// @throws Error conflict `last_admin`, not_found
  Task<> set_disabled(UserId id, bool is_disabled, UserId actor, Origin origin);
  Task<> set_quota(UserId id, std::int64_t quota_bytes, UserId actor, Origin origin);
  /// Ends every session and app password of the user.
  Task<> reset_password(UserId id, std::string password, UserId actor, Origin origin);
  /// For the CLI. @throws Error not_found
  Task<User> user_by_name(std::string_view name);

  /// Other people, as far as one may see them.
  Directory directory() const;  // directory.hpp
  /// How devices come in, and what outlives a request.
  Devices devices() const;  // devices.hpp
  Presences presences() const;  // presence.hpp

  struct Totals {
    std::int64_t users = 0, active = 0, admins = 0, quota_bytes = 0, used_bytes = 0, over_80_percent = 0,
                 over_quota = 0;
  };
  Task<Totals> totals();

  // --- accounts that people make for themselves: off unless an administrator turns it on
  Task<bool> registration_enabled();
  Task<> set_registration(bool enabled, UserId actor, Origin origin);
  /// @throws Error forbidden `registration_disabled`, conflict `user_exists`, `email_exists`, invalid ...
  Task<User> register_user(std::string user_name, std::string email, std::string password, Origin origin);

  /// Per-address limits kept in memory of this node. @throws Error too_many_requests with Retry-After
  void count_attempt(const char* kind, const std::string& limit_key, unsigned per_window,
                     unsigned window_seconds);

  // --- settings (table `settings`)
  /// The value of `key`, made by `make` and stored when missing; exactly one of racing makers wins.
  std::string setting_or_make(const std::string& key, const std::function<std::string()>& make);

  /// Removes expired sessions, spent tokens, old failures. For the scheduler. @return true: more is waiting
  bool prune();
  /// Held while a change of the caller's goes on that may take long. Of one user half of what the database
  /// does at once are let through, so that others always find a place. @throws Error too_many_requests
  Task<Turnstile::Pass> turn_to_change(const Caller& caller);

  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::people
