#include "db/worker.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "db/failure.hpp"
#include "db/server_life.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::db {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr unsigned kAttempts = 3;
constexpr auto kLifetime = std::chrono::minutes(30);  // a backend's caches only grow
constexpr auto kIdle = std::chrono::minutes(5);
constexpr auto kDecide = std::chrono::seconds(5);
constexpr std::chrono::seconds kPlansFirst{1}, kPlansMax{600};
constexpr Stmt kPing{"db.ping", "select 1"};
constexpr int kBackoffFirstMs = 50, kBackoffMaxMs = 1000;

metrics::Counter retries("welkin_db_retries_total", "Transactions run again after a lost race or connection");
metrics::Counter lost("welkin_db_lost_connections_total",
                      "Connections to the database that broke while in use");
metrics::Counter unknown_commits("welkin_db_unknown_commits_total", "COMMITs whose answer was lost");

SessionSettings settings_of(const PoolConfig& config) {
  return {config.statement_timeout_ms, config.lock_timeout_ms, false};
}

// Those who collided must not collide again: the wait grows and is never the same.
void pause(unsigned attempt) {
  thread_local std::minstd_rand random(std::random_device{}());
  const unsigned most = 20 * attempt;
  std::this_thread::sleep_for(milliseconds(std::uniform_int_distribution<unsigned>(most / 4, most)(random)));
}

}  // namespace

bool Health::down() const { return Clock::now() < down_until(); }

Health::Clock::time_point Health::down_until() const {
  return Clock::time_point(Clock::duration(down_until_.load()));
}

Health::Clock::time_point Health::last_answer() const {
  return Clock::time_point(Clock::duration(last_answer_.load()));
}

void Health::connect_failed() {
  const int next = std::clamp(backoff_ms_.load() * 2, kBackoffFirstMs, kBackoffMaxMs);
  backoff_ms_ = next;
  down_until_ = (Clock::now() + milliseconds(next)).time_since_epoch().count();
}

void Health::answered() {
  last_answer_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  if (backoff_ms_.load(std::memory_order_relaxed) == 0) return;
  backoff_ms_ = 0;
  down_until_ = 0;
}

void Worker::drop() {
  if (!connection_) return;
  connection_.reset();
  health_.closed();
}

void Worker::tidy(Clock::time_point now) {
  if (!connection_) return;
  if (!connection_->usable() || now - connection_->opened() > kLifetime || now - used_ > kIdle) return drop();
  if (now >= renew_plans_) renew_plans(now);
}

// A plan made while a table was small is kept until somebody analyzes the table, and reads the whole of it
// meanwhile: a fresh server would crawl through its first upload. Sizes are looked at when planning, so
// planning anew is enough.
void Worker::renew_plans(Clock::time_point now) {
  try {
    connection_->script("discard plans");
  } catch (const std::exception& e) {
    log::warn("connection to the database lost: {}", e.what());
    return drop();
  }
  plans_last_ = std::min(plans_last_ * 2, kPlansMax);
  renew_plans_ = now + plans_last_;
}

Connection& Worker::connection() {
  if (connection_ && connection_->usable()) return *connection_;
  drop();
  if (health_.down()) throw database_down("the database does not answer");
  try {
    auto fresh = std::make_unique<Connection>(config_.url, settings_of(config_));
    fresh->set_server_life(read_server_life(*fresh));
    connection_ = std::move(fresh);
    plans_last_ = kPlansFirst;
    renew_plans_ = Clock::now() + plans_last_;
  } catch (const ConnectionLost& e) {
    health_.connect_failed();
    log::warn("no connection to the database: {}", e.what());
    throw database_down("the database does not answer");
  }
  health_.opened();
  health_.answered();
  return *connection_;
}

void Worker::ping() {
  run(Db::Mode::read, [](Tx& tx) { tx.exec(kPing); });
}

void Worker::once(Db::Mode mode, const Job& job) {
  Connection& connection = this->connection();
  Tx::Impl impl(connection, mode);
  Tx tx(impl);
  try {
    job(tx);
    impl.commit();
  } catch (...) {
    impl.rollback();
    throw;
  }
  health_.answered();
}

void Worker::run(Db::Mode mode, const Job& job) {
  for (unsigned attempt = 1;; ++attempt) {
    try {
      once(mode, job);
      used_ = Clock::now();
      return;
    } catch (const SqlError& e) {
      if (e.sqlstate() == "25006" && mode == Db::Mode::write) {  // a primary that became a standby
        drop();
        throw database_down("the database is read-only");
      }
      if (!lost_race(e)) throw;
      if (attempt == kAttempts) throw database_busy("others changed the same data at the same time");
    } catch (const CommitUnknown& unknown) {
      drop();
      if (committed(unknown)) return;
      if (attempt == kAttempts) throw database_down("the connection to the database was lost");
    } catch (const ConnectionLost& e) {
      // Without a COMMIT on its way nothing can have happened, so running again is safe in every mode.
      lost.add();
      drop();
      log::warn("connection to the database lost: {}", e.what());
      if (attempt == kAttempts) throw database_down("the connection to the database was lost");
    }
    retries.add();
    pause(attempt);
  }
}

bool Worker::committed(const CommitUnknown& unknown) {
  unknown_commits.add();
  log::warn("connection to the database lost during COMMIT of transaction {}", unknown.xid().value_or(0));
  if (!unknown.xid()) return false;  // nothing was written: to be run again
  const auto until = Clock::now() + kDecide;
  while (Clock::now() < until) {
    try {
      Connection asker(config_.url, settings_of(config_));
      switch (outcome_of(asker, *unknown.xid(), unknown.server_life())) {
        case Outcome::committed:
          return true;
        case Outcome::aborted:
          return false;
        case Outcome::undecidable:
          throw Error(Errc::unavailable, "unknown_commit", "it is not known whether this was stored", 2);
        case Outcome::running:
          break;
      }
    } catch (const ConnectionLost&) {  // the server may be on its way back
    } catch (const SqlError& e) {
      log::error("asking for the outcome of a transaction failed: {}", e.what());
    }
    std::this_thread::sleep_for(milliseconds(100));
  }
  throw Error(Errc::unavailable, "unknown_commit", "it is not known whether this was stored", 2);
}

}  // namespace welkin::db
