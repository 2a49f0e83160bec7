#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "welkin/core/task.hpp"

namespace welkin {

/// A few threads for work that would block an io thread: hashing passwords, cutting and writing bodies, fsync.
/// The queue is bounded; when it is full the caller gets 503 at once instead of a growing backlog.
/// A job always runs to its end, and the awaiting coroutine always waits for it, so a job may refer to the
/// coroutine's frame. Join the pool before the io_contexts are destroyed.
class WorkPool {
 public:
  /// @param name  shown in `ps -T` and metrics, at most 15 letters
  WorkPool(std::string name, std::size_t threads, std::size_t queue_max);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  /// Runs `f` on a thread of the pool and resumes on the caller's own executor. Exceptions of `f` travel.
  /// @throws Error unavailable `busy` when the queue is full or the pool has been joined
  template <class F>
  Task<std::invoke_result_t<F&>> run(F f) {
    using R = std::invoke_result_t<F&>;
    if constexpr (std::is_void_v<R>) {
      std::function<void()> job = [&f] { f(); };
      co_await run_erased(std::move(job));
    } else {
      std::optional<R> out;
      std::function<void()> job = [&f, &out] { out.emplace(f()); };
      co_await run_erased(std::move(job));
      co_return std::move(*out);
    }
  }

  /// Queues `f` without waiting for it; exceptions are logged. @return false when the queue is full
  bool post(std::function<void()> f);

  /// Ends after everything queued has run. Idempotent.
  void join();

  std::size_t queued() const;
  std::size_t threads() const;

 private:
  Task<> run_erased(std::function<void()> job);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace welkin
