#include <algorithm>

#include "people/attempt_store.hpp"
#include "people/audit.hpp"
#include "people/impl.hpp"
#include "people/names.hpp"
#include "people/passwords.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"

// Signing in, staying signed in, signing out.
namespace welkin::people {
namespace {

constexpr db::Stmt kSignedIn{"people.signed_in", R"(
  update users set last_login_at = to_timestamp($3 / 1e6), password_hash = coalesce($4, password_hash)
   where id = $1 and access_gen = $2 and not is_disabled and deleting_since is null)"};

metrics::Counter failures("welkin_sign_in_failures_total",
                          "Passwords that were not right, of any account or none");

Error bad_credentials() { return {Errc::forbidden, "bad_credentials", "Invalid user name or password"}; }

/// What a turn of the refresh wheel came to; decided inside the transaction, thrown after it, because a reuse
/// must leave its mark.
enum class Refreshed { done, unknown, reused, expired };

}  // namespace

Task<People::Impl::Tried> People::Impl::try_password(std::string key, std::string password) {
  std::optional<Account> account;
  const auto attempt = co_await db.write([&](db::Tx& tx) {
    account = store::find_account(tx, key);
    return store::reserve_attempt(tx, key, config.lockout_failures, config.lockout_seconds, clock.now());
  });
  if (!attempt.allowed)
    throw Error(Errc::too_many_requests, "account_locked", "Too many failed attempts; try again later",
                attempt.retry_after_seconds);

  Hasher::Verdict verdict;
  std::exception_ptr failed;
  try {
    // Disabled and foreign accounts cost the same as known ones, and unknown ones too.
    verdict = co_await hasher.verify(account ? account->password_hash : std::nullopt, std::move(password));
  } catch (...) {
    failed = std::current_exception();
  }
  if (failed) {
    co_await db.write([&](db::Tx& tx) { store::release_attempt(tx, key, config.lockout_failures); });
    std::rethrow_exception(failed);
  }
  Tried tried;
  tried.locks = attempt.locks;
  if (!verdict.right || !account->may_use_password()) co_return tried;
  tried.account = std::move(account);
  tried.rehashed = std::move(verdict.rehashed);
  co_return tried;
}

Task<> People::Impl::note_failure(std::string key, bool locks, const char* via, Origin origin) {
  AuditEntry entry{
      .actor = {}, .action = "login_failed", .subject = std::move(key), .detail = {{"via", via}}};
  if (locks) entry.detail.emplace_back("locked", "true");
  co_await db.write([&](db::Tx& tx) { audit(tx, origin, entry); });
}

People::Impl::Fresh People::Impl::fresh_tokens(Micros ends) const {
  constexpr std::size_t kTokenBytes = 32;
  Fresh fresh;
  fresh.access = crypto::random_token(kTokenBytes);
  fresh.refresh = crypto::random_token(kTokenBytes);
  fresh.hashes = {crypto::sha256(fresh.access), crypto::sha256(fresh.refresh)};
  const Micros now = clock.now();
  fresh.times = {.now = now,
                 .access_expires = std::min(ends, now + Micros{config.access_token_seconds} * 1'000'000),
                 .refresh_expires = std::min(ends, now + Micros{config.refresh_token_seconds} * 1'000'000),
                 .ends = ends};
  return fresh;
}

Tokens People::Impl::to_tokens(User user, SessionId session, Fresh fresh) const {
  const auto seconds = [&](Micros until) {
    return static_cast<std::uint32_t>((until - fresh.times.now) / 1'000'000);
  };
  return {.user = std::move(user),
          .session = session,
          .access_token = std::move(fresh.access),
          .refresh_token = std::move(fresh.refresh),
          .access_seconds = seconds(fresh.times.access_expires),
          .refresh_seconds = seconds(fresh.times.refresh_expires)};
}

Task<Tokens> People::login(std::string name_or_email, std::string password, Origin origin) {
  auto& impl = *impl_;
  impl.count("login", origin.limit_key, impl.config.login_attempts_per_minute, 60);
  const std::string key = login_key(name_or_email);
  const auto pass = co_await impl.turnstile.enter(key);
  const auto tried = co_await impl.try_password(key, std::move(password));
  if (!tried.account) {
    co_await impl.note_failure(key, tried.locks, "login", origin);
    throw bad_credentials();
  }
  const Account& account = *tried.account;
  const auto fresh = impl.fresh_tokens(impl.clock.now() + kSessionLife);
  SessionId session;
  const auto user = co_await impl.db.write([&](db::Tx& tx) -> std::optional<User> {
    // The account as it was when its password was checked; whoever changed it meanwhile wins.
    const auto same = tx.exec(kSignedIn, account.id, account.generation, fresh.times.now, tried.rehashed);
    if (same.affected() == 0) return std::nullopt;
    store::clear_attempts(tx, key);
    session = store::insert_session(tx, account.id, fresh.hashes, fresh.times, origin);
    audit(tx, origin, {.actor = account.id, .action = "login", .subject = account.name});
    return store::require_user(tx, account.id);
  });
  if (!user) throw bad_credentials();
  co_return impl.to_tokens(*user, session, fresh);
}

Task<Tokens> People::refresh(std::string refresh_token, Origin origin) {
  auto& impl = *impl_;
  impl.count("refresh", origin.limit_key, impl.config.refresh_attempts_per_minute, 60);
  if (refresh_token.empty())
    throw Error(Errc::unauthenticated, "no_refresh_token", "No refresh token was given");
  const Sha256 hash = crypto::sha256(refresh_token);
  std::optional<Impl::Fresh> fresh;
  std::optional<store::RefreshRow> row;
  std::optional<User> user;
  const auto outcome = co_await impl.db.write([&](db::Tx& tx) {
    const Micros now = impl.clock.now();
    row = store::lock_by_refresh(tx, hash);
    if (!row) {
      const auto spent = store::find_by_spent(tx, hash);
      if (!spent) return Refreshed::unknown;
      // Somebody has a copy of the token: nobody knows which of the two is the owner, so both are out.
      if (store::delete_session(tx, spent->session, spent->user))
        audit(tx, origin,
              {.actor = spent->user,
               .action = "refresh_token_reused",
               .subject = std::to_string(spent->session.value)});
      return Refreshed::reused;
    }
    if (row->is_disabled || row->refresh_expires <= now || row->ends <= now) return Refreshed::expired;
    fresh = impl.fresh_tokens(row->ends);
    store::rotate(tx, row->session, hash, fresh->hashes, fresh->times);
    user = store::find_user(tx, row->user);
    return user ? Refreshed::done : Refreshed::unknown;
  });
  switch (outcome) {
    case Refreshed::done:
      break;
    case Refreshed::unknown:
      throw Error(Errc::not_found, "unknown_refresh_token", "The refresh token is not known");
    case Refreshed::reused:
      throw Error(Errc::forbidden, "refresh_token_reused",
                  "The refresh token was used before; the session has been ended, sign in again");
    case Refreshed::expired:
      throw Error(Errc::forbidden, "refresh_token_expired", "The session has expired, sign in again");
  }
  co_return impl.to_tokens(std::move(*user), row->session, std::move(*fresh));
}

Task<> People::logout(Caller caller, Origin origin) {
  return logout(std::move(caller), {}, std::move(origin));
}

Task<> People::logout(Caller caller, std::string refresh_token, Origin origin) {
  auto& impl = *impl_;
  require_session(caller);
  co_await impl.db.write([&](db::Tx& tx) {
    if (!refresh_token.empty()) {
      const auto named = store::lock_by_refresh(tx, crypto::sha256(refresh_token));
      if (named && named->user != caller.user)
        throw Error(Errc::forbidden, "not_your_token", "The refresh token belongs to somebody else");
      if (named) store::delete_session(tx, named->session, caller.user);
    }
    store::delete_session(tx, caller.session, caller.user);
    audit(tx, origin, {.actor = caller.user, .action = "logout", .subject = caller.name});
  });
}

Task<> People::change_password(Caller caller, std::string current, std::string next, Origin origin) {
  auto& impl = *impl_;
  require_session(caller);
  require_password(next, caller.name);
  const auto pass = co_await impl.turnstile.enter(caller.name);
  const auto tried = co_await impl.try_password(caller.name, std::move(current));
  if (!tried.account || tried.account->id != caller.user) {
    co_await impl.note_failure(caller.name, tried.locks, "change_password", origin);
    throw Error(Errc::forbidden, "bad_credentials", "The current password is not right");
  }
  const std::string hash = co_await impl.hasher.hash(std::move(next));
  co_await impl.db.write([&](db::Tx& tx) {
    store::lock_user(tx, caller.user);
    store::clear_attempts(tx, caller.name);
    store::set_password_hash(tx, caller.user, hash);
    store::delete_sessions(tx, caller.user);
    audit(tx, origin, {.actor = caller.user, .action = "password.change", .subject = caller.name});
  });
}

Task<std::vector<Session>> People::sessions(Caller caller) {
  auto& impl = *impl_;
  require_session(caller);
  const Micros now = impl.clock.now();
  co_return co_await impl.db.read([&](db::Tx& tx) { return store::sessions_of(tx, caller.user, now); });
}

Task<> People::revoke_session(Caller caller, SessionId session, Origin origin) {
  auto& impl = *impl_;
  require_session(caller);
  co_await impl.db.write([&](db::Tx& tx) {
    if (!store::delete_session(tx, session, caller.user))
      throw Error(Errc::not_found, "no_such_session", "Session not found");
    audit(tx, origin,
          {.actor = caller.user, .action = "session.revoke", .subject = std::to_string(session.value)});
  });
}

}  // namespace welkin::people
