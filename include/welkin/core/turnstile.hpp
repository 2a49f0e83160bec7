#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "welkin/core/event.hpp"
#include "welkin/core/task.hpp"

namespace welkin {

/// Lets a few coroutines at a time through for each key, on whichever io thread they run; the others wait,
/// without a thread, in their order.
class Turnstile {
 public:
  static constexpr std::size_t kKeysMax = 4096;

  /// @param at_once      of one key that are through
  /// @param waiting_max  of one key
  explicit Turnstile(std::size_t at_once = 1, std::size_t waiting_max = 64)
      : at_once_(at_once), waiting_max_(waiting_max) {}

  /// Held by one that is through; letting go lets the next one in. Must not outlive its turnstile.
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
  struct Queue {
    std::size_t through = 0;
    std::deque<std::shared_ptr<Event>> waiting;
  };
  void leave(const std::string& key) noexcept;
  void give_up(const std::string& key, const std::shared_ptr<Event>& turn) noexcept;

  const std::size_t at_once_, waiting_max_;
  std::mutex mutex_;
  std::unordered_map<std::string, Queue> queues_;  // of keys that somebody is through for
};

}  // namespace welkin
