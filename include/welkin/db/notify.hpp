#pragma once
#include <functional>
#include <memory>
#include <string>

#include "welkin/db/db.hpp"

namespace welkin::db {

/// LISTEN/NOTIFY: one connection and one thread per process. Whenever it begins to listen, first or after a
/// lost connection, every subscriber gets one call with an empty payload, meaning "anything may have
/// changed".
class Listener {
 public:
  explicit Listener(std::string url);
  ~Listener();
  using Callback = std::function<void(const std::string& payload)>;
  /// Called on the listener's thread; hand over with post. Channels are fixed before `start`.
  void on(const std::string& channel, Callback callback);
  void start();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::db
