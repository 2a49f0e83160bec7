#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "welkin/core/event.hpp"
#include "welkin/core/task.hpp"

namespace welkin::people {

/// Lets one coroutine at a time through for each key, on whichever io thread it runs; the others wait in
/// their order. Tries at one account's password go through here: a client that opens ten connections at once
/// proves its password once, and its nine other requests find the answer, instead of counting as ten tries.
class Turnstile {
 public:
  static constexpr std::size_t kWaitingMax = 64;  // of one key
  static constexpr std::size_t kKeysMax = 4096;

  /// Held by the one that is through; letting go lets the next one in.
  class Pass {
   public:
    Pass(Turnstile& turnstile, std::string key) : turnstile_(&turnstile), key_(std::move(key)) {}
    Pass(Pass&& other) noexcept : turnstile_(other.turnstile_), key_(std::move(other.key_)) {
      other.turnstile_ = nullptr;
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (turnstile_) turnstile_->leave(key_);
    }

   private:
    Turnstile* turnstile_;
    std::string key_;
  };

  /// @throws Error too_many_requests `too_many_attempts` when too many wait already
  Task<Pass> enter(std::string key);

 private:
  void leave(const std::string& key) noexcept;
  void give_up(const std::string& key, const std::shared_ptr<Event>& turn) noexcept;

  std::mutex mutex_;
  std::unordered_map<std::string, std::deque<std::shared_ptr<Event>>>
      waiting_;  // a key that is here is taken
};

}  // namespace welkin::people
