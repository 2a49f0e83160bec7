#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "db/connection.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {

/// Connections lent to cursor streams for as long as their transactions last: few, so that slow readers can
/// never use up what the server allows. Safe from every thread.
class Leases {
 public:
  explicit Leases(const PoolConfig& config) : config_(config) {}

  /// A right to one connection, and an idle one if there is. @throws Error unavailable `busy`
  std::unique_ptr<Connection> acquire();
  /// Gives the right back, with the connection when it may be used again (no transaction open).
  void release(std::unique_ptr<Connection> reusable);
  /// A new connection for a right already held. @throws Error unavailable
  std::unique_ptr<Connection> open() const;
  /// Closes what has been idle for a minute.
  void tidy();

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    std::chrono::steady_clock::time_point since;
  };
  PoolConfig config_;
  std::mutex mutex_;
  unsigned lent_ = 0;
  std::vector<Idle> idle_;
};

}  // namespace welkin::db
