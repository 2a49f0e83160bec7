#include "db/leases.hpp"

#include <algorithm>

#include "db/failure.hpp"
#include "welkin/core/log.hpp"

namespace welkin::db {
namespace {
constexpr auto kIdleMax = std::chrono::minutes(1);
}

std::unique_ptr<Connection> Leases::acquire() {
  const std::lock_guard lock(mutex_);
  if (lent_ >= config_.cursor_connections) throw database_busy("too many long listings at the same time");
  ++lent_;
  if (idle_.empty()) return nullptr;
  auto connection = std::move(idle_.back().connection);
  idle_.pop_back();
  return connection;
}

void Leases::release(std::unique_ptr<Connection> reusable) {
  const std::lock_guard lock(mutex_);
  --lent_;
  if (reusable && reusable->usable())
    idle_.push_back({std::move(reusable), std::chrono::steady_clock::now()});
}

std::unique_ptr<Connection> Leases::open() const {
  try {
    return std::make_unique<Connection>(
        config_.url, SessionSettings{config_.statement_timeout_ms, config_.lock_timeout_ms, true});
  } catch (const ConnectionLost& e) {
    log::warn("no connection to the database: {}", e.what());
    throw database_down("the database does not answer");
  }
}

void Leases::tidy() {
  std::vector<Idle> closing;  // outside the lock
  const std::lock_guard lock(mutex_);
  const auto oldest = std::chrono::steady_clock::now() - kIdleMax;
  const auto old =
      std::partition(idle_.begin(), idle_.end(), [&](const Idle& i) { return i.since > oldest; });
  std::move(old, idle_.end(), std::back_inserter(closing));
  idle_.erase(old, idle_.end());
}

}  // namespace welkin::db
