#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "people/credential_memory.hpp"
#include "people/hasher.hpp"
#include "people/limiter.hpp"
#include "people/session_store.hpp"
#include "people/touches.hpp"
#include "people/user_store.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/db/db.hpp"
#include "welkin/people/people.hpp"

namespace welkin::people {

/// The absolute life of a session, however often it is refreshed.
inline constexpr Micros kSessionLife = Micros{90} * 86'400 * 1'000'000;

struct People::Impl {
  Impl(db::Db& db_in, const Config& config_in, const Clock& clock_in)
      : db(db_in),
        config(config_in),
        clock(clock_in),
        hasher(config_in),
        limiter(clock_in),
        touches(db_in),
        changes(std::max(1u, config_in.database_connections / 2), 256) {}

  db::Db& db;
  const Config& config;
  const Clock& clock;
  Hasher hasher;
  Limiter limiter;
  CredentialMemory memory;
  Touches touches;
  // Tries at one account's password: a client that opens ten connections at once proves its password once,
  // and its nine other requests find the answer, instead of counting as ten tries.
  Turnstile turnstile;
  Turnstile changes;

  /// One try at an account's password, whichever door it came through. Counted before Argon2 runs, in the row
  /// all nodes share. Whoever calls holds the turnstile's pass for `key`.
  struct Tried {
    std::optional<Account> account;  // set only when the password was right and may be used
    std::optional<std::string> rehashed;
    bool locks = false;  // a wrong one, and the name is locked now
  };
  /// @throws Error too_many_requests `account_locked`; unavailable `busy` (the attempt is then not counted)
  Task<Tried> try_password(std::string key, std::string password);
  /// The row of a wrong try. `via`: "login", "basic", "change_password".
  Task<> note_failure(std::string key, bool locks, const char* via, Origin origin);

  Task<std::optional<Caller>> by_app_password(std::string login, std::string_view secret,
                                              std::int32_t protocol);
  Task<std::optional<Caller>> by_account_password(std::string login, std::string password, Origin origin);

  struct Fresh {
    std::string access, refresh;
    store::TokenHashes hashes;
    store::TokenTimes times;
  };
  /// New tokens of a session that ends at `ends`.
  Fresh fresh_tokens(Micros ends) const;
  Tokens to_tokens(User user, SessionId session, Fresh fresh) const;

  /// @throws Error too_many_requests `too_many_attempts`
  void count(const char* kind, const std::string& limit_key, unsigned per_window, unsigned window_seconds);
  void uncount(const char* kind, const std::string& limit_key);

  std::optional<std::string> setting(db::Tx& tx, const char* key) const;
  void set_setting(db::Tx& tx, const char* key, const std::string& value) const;
  std::string setup_token_hash(db::Tx& tx) const;
  Task<User> make_first_admin(store::NewRow row, std::string token_hash, Origin origin);
  bool is_setup_open(db::Tx& tx) const { return store::count_admins(tx) == 0; }

  /// Removes some of what a user whose deletion has begun still owns, then the row. @return true: more is
  /// left
  static bool drop_user_batch(db::Tx& tx, UserId id);
};

/// Credentials are managed by people who signed in, never by app passwords. @throws Error forbidden
/// `session_required`
void require_session(const Caller& caller);

Caller caller_of(const Account& account, Credential how);

}  // namespace welkin::people
