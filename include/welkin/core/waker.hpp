#pragma once
#include <chrono>
#include <memory>

#include "welkin/core/task.hpp"

namespace welkin {

/// Lets one coroutine wait for a call from any thread, for a limited time. A call that comes while nobody
/// waits is kept.
class Waker {
 public:
  Waker();
  ~Waker();
  /// @return whether it was called
  Task<bool> wait(std::chrono::milliseconds limit);
  void wake();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace welkin
