#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "welkin/core/clock.hpp"

namespace welkin::people {

/// Sliding windows of attempts, kept in memory of this process: the exact times of the last N attempts a key.
/// An attempt is counted in the same step that allows it, so a parallel burst cannot pass. The table is
/// bounded; when it is full the key that was quiet for longest goes, so a flood of addresses costs memory for
/// kKeysMax of them.
class Limiter {
 public:
  static constexpr std::size_t kKeysMax = 1 << 16;

  explicit Limiter(const Clock& clock, std::size_t keys_max = kKeysMax)
      : clock_(clock), keys_max_(keys_max) {}

  /// Counts one attempt when fewer than `per_window` happened within the last `window_seconds`; 0 allows
  /// everything.
  /// @return 0: allowed; else after how many seconds (at least 1) the next attempt will be
  unsigned take(const std::string& key, unsigned per_window, unsigned window_seconds);
  /// Takes the last counted attempt back: it turned out to be a right one.
  void give_back(const std::string& key);

  std::size_t size() const;

 private:
  struct Window {
    std::vector<Micros> at;  // oldest first, at most per_window
    std::list<std::string>::iterator age;
  };
  Window& window(const std::string& key);

  const Clock& clock_;
  const std::size_t keys_max_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Window> windows_;
  std::list<std::string> by_age_;  // longest quiet first
};

}  // namespace welkin::people
