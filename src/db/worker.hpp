#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "db/connection.hpp"
#include "db/tx.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {

/// What the pool knows of the server. After a failed connect everybody fails at once for a short while
/// instead of trying for himself; the while doubles up to a second, so the pool is back within about one
/// after the server is.
class Health {
 public:
  using Clock = std::chrono::steady_clock;
  /// True while connecting is not worth trying.
  bool down() const;
  Clock::time_point down_until() const;
  void connect_failed();
  void answered();
  void opened() { ++open_; }
  void closed() { --open_; }
  /// Connections of workers that were open when last used.
  int open() const { return open_; }
  /// When a statement last came back.
  Clock::time_point last_answer() const;

 private:
  std::atomic<Clock::rep> down_until_{0};
  std::atomic<Clock::rep> last_answer_{0};
  std::atomic<int> backoff_ms_{0};
  std::atomic<int> open_{0};
};

/// The connection of one database thread and the rules by which jobs are run again on it.
class Worker {
 public:
  using Job = std::function<void(Tx&)>;
  Worker(const PoolConfig& config, Health& health) : config_(config), health_(health) {}
  ~Worker() { drop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs `job` to its end, as often as its failures allow. @throws Error, SqlError, what the job throws
  void run(Db::Mode mode, const Job& job);
  /// One empty round trip. @throws Error unavailable
  void ping();
  bool connected() const { return connection_ != nullptr; }
  /// Closes a connection that is old, broken or has not been used for long; renews its plans now and then.
  void tidy(std::chrono::steady_clock::time_point now);
  void drop();

 private:
  Connection& connection();
  void once(Db::Mode mode, const Job& job);
  bool committed(const CommitUnknown& unknown);
  void renew_plans(std::chrono::steady_clock::time_point now);

  const PoolConfig& config_;
  Health& health_;
  std::unique_ptr<Connection> connection_;
  std::chrono::steady_clock::time_point used_, renew_plans_;
  std::chrono::seconds plans_last_{1};
};

}  // namespace welkin::db
