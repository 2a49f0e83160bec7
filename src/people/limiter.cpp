#include "people/limiter.hpp"

#include <algorithm>

namespace welkin::people {

Limiter::Window& Limiter::window(const std::string& key) {
  if (const auto found = windows_.find(key); found != windows_.end()) {
    by_age_.splice(by_age_.end(), by_age_, found->second.age);
    return found->second;
  }
  if (windows_.size() >= keys_max_) {
    windows_.erase(by_age_.front());
    by_age_.pop_front();
  }
  by_age_.push_back(key);
  auto& made = windows_[key];
  made.age = std::prev(by_age_.end());
  return made;
}

unsigned Limiter::take(const std::string& key, unsigned per_window, unsigned window_seconds) {
  if (per_window == 0) return 0;
  const Micros now = clock_.now();
  const Micros span = Micros{window_seconds} * 1'000'000;
  const std::lock_guard lock(mutex_);
  auto& at = window(key).at;
  // A stamp from the future means that the clock was set back; it must not lock anybody out until then.
  std::erase_if(at, [&](Micros t) { return t > now || t <= now - span; });
  if (at.size() >= per_window) {
    const Micros wait = at[at.size() - per_window] + span - now;
    return static_cast<unsigned>(std::max<Micros>(1, (wait + 999'999) / 1'000'000));
  }
  at.push_back(now);
  return 0;
}

void Limiter::give_back(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = windows_.find(key); found != windows_.end() && !found->second.at.empty())
    found->second.at.pop_back();
}

std::size_t Limiter::size() const {
  const std::lock_guard lock(mutex_);
  return windows_.size();
}

}  // namespace welkin::people
