#include "people/attempt_store.hpp"

#include <algorithm>

namespace welkin::people::store {
namespace {

// The row's lock makes the decision atomic; when the name is locked the update matches nothing and returns no
// row.
constexpr db::Stmt kReserve{"people.reserve_attempt", R"(
  insert into login_failures as f (login, failures, last_at, locked_until)
    values ($1, 1, to_timestamp($2 / 1e6), case when $3 <= 1 then to_timestamp(($2 + $4 * 1000000) / 1e6) end)
  on conflict (login) do update set
    failures = case when f.last_at <= to_timestamp(($2 - $4 * 1000000) / 1e6) or f.locked_until is not null then 1
                    else f.failures + 1 end,
    last_at = excluded.last_at,
    locked_until = case when $3 <= case
                      when f.last_at <= to_timestamp(($2 - $4 * 1000000) / 1e6) or f.locked_until is not null then 1
                      else f.failures + 1 end
                   then to_timestamp(($2 + $4 * 1000000) / 1e6) end
    where f.locked_until is null or f.locked_until <= to_timestamp($2 / 1e6)
  returning locked_until is not null)"};
constexpr db::Stmt kLockedUntil{"people.locked_until",
                                "select locked_until from login_failures where login = $1"};
constexpr db::Stmt kClear{"people.clear_attempts", "delete from login_failures where login = $1"};
constexpr db::Stmt kRelease{"people.release_attempt", R"(
  update login_failures set failures = greatest(failures - 1, 0),
         locked_until = case when failures - 1 >= $2 then locked_until end where login = $1)"};

}  // namespace

Attempt reserve_attempt(db::Tx& tx, const std::string& key, unsigned failures_max, unsigned lock_seconds,
                        Micros now) {
  if (failures_max == 0) return {.allowed = true};
  const auto made = tx.exec(kReserve, key, now, std::int64_t{failures_max}, std::int64_t{lock_seconds});
  if (!made.empty()) return {.allowed = true, .locks = made[0].boolean(0)};
  const auto rows = tx.exec(kLockedUntil, key);
  // The lock may have been lifted by a right password meanwhile: then a second is enough.
  Micros wait = 1'000'000;
  if (!rows.empty()) wait = rows[0].opt_timestamp(0).value_or(now) - now;
  const auto seconds = std::max<Micros>(1, (wait + 999'999) / 1'000'000);
  return {.allowed = false, .retry_after_seconds = static_cast<unsigned>(seconds)};
}

void clear_attempts(db::Tx& tx, const std::string& key) { tx.exec(kClear, key); }

void release_attempt(db::Tx& tx, const std::string& key, unsigned failures_max) {
  tx.exec(kRelease, key, std::int64_t{failures_max});
}

}  // namespace welkin::people::store
