#include "welkin/people/people.hpp"

#include "people/device_store.hpp"
#include "people/impl.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/people/devices.hpp"
#include "welkin/people/directory.hpp"
#include "welkin/people/presence.hpp"

namespace welkin::people {
namespace {

constexpr Micros kFailuresKeptFor = Micros{86'400} * 1'000'000;
constexpr std::int64_t kPruneRows = 1000;  // of each kind and turn

constexpr db::Stmt kSetting{"people.setting", "select value from settings where key = $1"};
constexpr db::Stmt kSetSetting{"people.set_setting", R"(
  insert into settings (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value)"};
constexpr db::Stmt kMakeSetting{"people.make_setting", R"(
  insert into settings (key, value) values ($1, $2) on conflict (key) do nothing)"};

constexpr db::Stmt kPruneSessions{"people.prune_sessions", R"(
  delete from sessions where id in (select id from sessions
    where refresh_expires_at <= to_timestamp($1 / 1e6) limit $2 for update skip locked))"};
constexpr db::Stmt kPruneSpent{"people.prune_spent_tokens", R"(
  delete from spent_refresh_tokens where hash in (select hash from spent_refresh_tokens
    where spent_at <= to_timestamp($1 / 1e6) limit $2 for update skip locked))"};
constexpr db::Stmt kPruneFailures{"people.prune_login_failures", R"(
  delete from login_failures where login in (select login from login_failures
    where last_at <= to_timestamp($1 / 1e6) and (locked_until is null or locked_until <= to_timestamp($1 / 1e6))
    limit $2 for update skip locked))"};
constexpr db::Stmt kDeleting{"people.deleting_user", R"(
  select id from users where deleting_since is not null order by deleting_since limit 1)"};

constexpr db::Stmt kTotals{"people.totals", R"(
  with d as (select owner_id, used_bytes, nullif(quota_bytes, 9223372036854775807) quota from drives where kind = 1)
  select count(*), count(*) filter (where not u.is_disabled), count(*) filter (where u.is_admin),
         coalesce(sum(d.quota), 0)::bigint, coalesce(sum(d.used_bytes), 0)::bigint,
         count(*) filter (where d.used_bytes > 0.8 * d.quota), count(*) filter (where d.used_bytes > d.quota)
    from users u left join d on d.owner_id = u.id where u.deleting_since is null)"};

}  // namespace

People::People(db::Db& db, const Config& config, const Clock& clock)
    : impl_(std::make_unique<Impl>(db, config, clock)) {}

People::~People() { close(); }

Task<Turnstile::Pass> People::turn_to_change(const Caller& caller) {
  co_return co_await impl_->changes.enter(std::to_string(caller.user.value));
}

void People::close() {
  impl_->hasher.close();
  impl_->touches.close();
}

void require_session(const Caller& caller) {
  if (caller.credential == Credential::session_bearer || caller.credential == Credential::session_cookie)
    return;
  throw Error(Errc::forbidden, "session_required",
              "This can only be done after signing in with the account's password");
}

Caller caller_of(const Account& account, Credential how) {
  Caller caller;
  caller.user = account.id;
  caller.name = account.name;
  caller.credential = how;
  if (how == Credential::account_password) caller.generation = account.generation;
  caller.subjects.reserve(1 + account.groups.size());
  caller.subjects.push_back(account.id.value);
  caller.subjects.insert(caller.subjects.end(), account.groups.begin(), account.groups.end());
  // Administration needs a session: a password that travels with every request does not carry that power.
  caller.is_admin =
      account.is_admin && (how == Credential::session_bearer || how == Credential::session_cookie);
  return caller;
}

void People::Impl::count(const char* kind, const std::string& limit_key, unsigned per_window,
                         unsigned window_seconds) {
  const unsigned wait = limiter.take(std::string(kind) + '/' + limit_key, per_window, window_seconds);
  if (wait > 0) throw Error(Errc::too_many_requests, "too_many_attempts", "Too many requests", wait);
}

void People::Impl::uncount(const char* kind, const std::string& limit_key) {
  limiter.give_back(std::string(kind) + '/' + limit_key);
}

void People::count_attempt(const char* kind, const std::string& limit_key, unsigned per_window,
                           unsigned window_seconds) {
  impl_->count(kind, limit_key, per_window, window_seconds);
}

std::optional<std::string> People::Impl::setting(db::Tx& tx, const char* key) const {
  const auto rows = tx.exec(kSetting, key);
  if (rows.empty()) return std::nullopt;
  return rows[0].str(0);
}

void People::Impl::set_setting(db::Tx& tx, const char* key, const std::string& value) const {
  tx.exec(kSetSetting, key, value);
}

std::string People::setting_or_make(const std::string& key, const std::function<std::string()>& make) {
  auto& impl = *impl_;
  const auto known = impl.db.read_now([&](db::Tx& tx) { return impl.setting(tx, key.c_str()); });
  if (known) return *known;
  const std::string made = make();
  return impl.db.write_now([&](db::Tx& tx) {
    tx.exec(kMakeSetting, key, made);  // waits for a racing maker; the row of the first stays
    return impl.setting(tx, key.c_str()).value();
  });
}

Directory People::directory() const { return Directory(impl_->db, impl_->config); }
Devices People::devices() const { return Devices(impl_->db, impl_->clock); }
Presences People::presences() const { return Presences(impl_->db, impl_->clock); }

Task<People::Totals> People::totals() {
  co_return co_await impl_->db.read([](db::Tx& tx) {
    const auto rows = tx.one(kTotals);
    Totals t;
    t.users = rows[0].i64(0);
    t.active = rows[0].i64(1);
    t.admins = rows[0].i64(2);
    t.quota_bytes = rows[0].i64(3);
    t.used_bytes = rows[0].i64(4);
    t.over_80_percent = rows[0].i64(5);
    t.over_quota = rows[0].i64(6);
    return t;
  });
}

bool People::prune() {
  auto& impl = *impl_;
  const Micros now = impl.clock.now();
  const Micros spent_before = now - Micros{impl.config.refresh_token_seconds} * 1'000'000;
  const bool rows_left = impl.db.write_now([&](db::Tx& tx) {
    const auto sessions = tx.exec(kPruneSessions, now, kPruneRows).affected();
    const auto spent = tx.exec(kPruneSpent, spent_before, kPruneRows).affected();
    const auto failures = tx.exec(kPruneFailures, now - kFailuresKeptFor, kPruneRows).affected();
    const bool devices = store::prune_devices(tx, now, kPruneRows);
    return devices || sessions == kPruneRows || spent == kPruneRows || failures == kPruneRows;
  });
  // A deletion that a restart cut short goes on here.
  const auto deleting = impl.db.read_now([](db::Tx& tx) {
    const auto rows = tx.exec(kDeleting);
    return rows.empty() ? UserId{} : rows[0].id<UserId>(0);
  });
  if (!deleting) return rows_left;
  return impl.db.write_now([&](db::Tx& tx) { return Impl::drop_user_batch(tx, deleting); }) || rows_left;
}

}  // namespace welkin::people
