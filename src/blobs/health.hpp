#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "welkin/core/error.hpp"

namespace welkin::blobs {

/// Whether the disk under the store can be believed. After one failed flush it cannot: the kernel has dropped
/// the pages it could not write and reports success from then on. So the first failure ends all writing,
/// until an operator has looked; reading goes on.
class Health {
 public:
  /// @param on_suspect  called once, on the thread that met the failure; makes the state durable. Must not
  /// throw.
  explicit Health(std::function<void(const std::string&)> on_suspect = {})
      : on_suspect_(std::move(on_suspect)) {}

  bool writable() const noexcept { return writable_.load(std::memory_order_acquire); }
  std::string reason() const;
  void suspect(const std::string& reason);
  /// What an earlier process found; does not call `on_suspect`.
  void remember(const std::string& reason);
  /// @throws Error unavailable `store_read_only`
  void require_writable() const;
  static Error read_only();

 private:
  bool set(const std::string& reason);

  std::atomic<bool> writable_{true};
  mutable std::mutex mutex_;
  std::string reason_;
  std::function<void(const std::string&)> on_suspect_;
};

}  // namespace welkin::blobs
