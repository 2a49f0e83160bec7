#pragma once
#include <memory>

#include "welkin/core/task.hpp"

namespace welkin {

/// Something that happens once. One coroutine waits for it, any thread may say that it happened, before or after.
/// The wait cannot be cancelled: what the event announces may refer to the waiter's frame.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Resumes the waiter on its own executor. Later calls do nothing.
  void set();
  /// Returns at once when it has happened already. At most one waiter.
  Task<> wait();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace welkin
