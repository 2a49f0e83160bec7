#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "db/worker.hpp"
#include "welkin/core/task.hpp"

namespace welkin::db {

/// The threads behind `read`, `snapshot` and `write`, each with one connection, and their bounded queue.
///
/// A job is answered exactly once: with its result, with 503 at once when the queue is full or the server is
/// known to be down, with 503 when it waited too long for a thread, or with 503 at the end.
class Pool {
 public:
  using Work = std::function<void(Worker&)>;
  enum class Place { back, front };

  /// @param idle  called now and then by threads that have nothing to do
  Pool(const PoolConfig& config, std::function<void()> idle);
  ~Pool() { close(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Runs `work` on a thread of the pool and resumes on the caller's executor.
  Task<> run(Work work);
  /// The same for a caller that may block. @throws std::logic_error on a thread of a pool
  void run_now(Work work);
  /// Calls `done` once, on any thread, when the work has ended or was refused.
  void submit(Work work, std::function<void(std::exception_ptr)> done, Place place = Place::back);

  /// Fails what is queued, waits for what is running. Idempotent.
  void close();
  Health& health() { return health_; }
  const PoolConfig& config() const { return config_; }

 private:
  struct Job {
    Work work;
    std::function<void(std::exception_ptr)> done;
    std::chrono::steady_clock::time_point queued;
  };
  void serve(unsigned number);
  bool take(std::unique_lock<std::mutex>& lock, Worker& worker, Job& job);
  static void answer(Job& job, Worker& worker);

  PoolConfig config_;
  std::function<void()> idle_;
  Health health_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace welkin::db
