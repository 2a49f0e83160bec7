#include "people/turnstile.hpp"

#include "welkin/core/error.hpp"

namespace welkin::people {

Task<Turnstile::Pass> Turnstile::enter(std::string key) {
  std::shared_ptr<Event> turn;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    const bool full =
        found == waiting_.end() ? waiting_.size() >= kKeysMax : found->second.size() >= kWaitingMax;
    if (full)
      throw Error(Errc::too_many_requests, "too_many_attempts", "too many attempts at the same time", 1);
    if (found == waiting_.end()) {
      waiting_.try_emplace(key);
    } else {
      turn = std::make_shared<Event>();
      found->second.push_back(turn);
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
    auto& queue = waiting_.find(key)->second;
    if (std::erase(queue, turn) > 0) return;
  }
  leave(key);  // its turn had come
}

void Turnstile::leave(const std::string& key) noexcept {
  std::shared_ptr<Event> next;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    if (found->second.empty()) {
      waiting_.erase(found);
      return;
    }
    next = std::move(found->second.front());  // the key stays taken: it passes from hand to hand
    found->second.pop_front();
  }
  next->set();
}

}  // namespace welkin::people
