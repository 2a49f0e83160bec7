#include "welkin/core/turnstile.hpp"

#include "welkin/core/error.hpp"

namespace welkin {

Task<Turnstile::Pass> Turnstile::enter(std::string key) {
  std::shared_ptr<Event> turn;
  {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(key);
    const bool full =
        found == queues_.end() ? queues_.size() >= kKeysMax : found->second.waiting.size() >= waiting_max_;
    if (full)
      throw Error(Errc::too_many_requests, "too_many_attempts", "too many attempts at the same time", 1);
    auto& queue = found == queues_.end() ? queues_[key] : found->second;
    if (queue.through < at_once_) {
      ++queue.through;
    } else {
      turn = queue.waiting.emplace_back(std::make_shared<Event>());
    }
  }
  if (turn) {
    try {
      co_await turn->wait();
    } catch (...) {  // the session was cancelled before the wait began
      give_up(key, turn);
      throw;
    }
  }
  co_return Pass(*this, std::move(key));
}

void Turnstile::give_up(const std::string& key, const std::shared_ptr<Event>& turn) noexcept {
  {
    const std::lock_guard lock(mutex_);
    auto& queue = queues_.find(key)->second;
    if (std::erase(queue.waiting, turn) > 0) return;
  }
  leave(key);  // its turn had come
}

void Turnstile::leave(const std::string& key) noexcept {
  std::shared_ptr<Event> next;
  {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(key);
    auto& queue = found->second;
    if (queue.waiting.empty()) {
      if (--queue.through == 0) queues_.erase(found);
      return;
    }
    next = std::move(queue.waiting.front());  // the place passes from hand to hand
    queue.waiting.pop_front();
  }
  next->set();
}

}  // namespace welkin
