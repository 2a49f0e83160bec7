#pragma once
#include <memory>
#include <string>

#include "welkin/core/config.hpp"

namespace welkin::app {

/// Answers on the server's address while the database is not there yet: /health 200, everything else, /ready
/// too, 503 with Retry-After. So that an operator and a load balancer see a server that waits, not one that
/// is missing.
class WaitingRoom {
 public:
  explicit WaitingRoom(const Config& config);
  ~WaitingRoom();
  /// The port it got, when the configuration leaves the choice.
  std::uint16_t port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::app
