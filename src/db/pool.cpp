#include "db/pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <future>
#include <stdexcept>

#include "db/failure.hpp"
#include "welkin/core/event.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::db {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kQueueWaitMax = std::chrono::seconds(10);
constexpr auto kTidyEvery = std::chrono::seconds(30);

metrics::Counter refused("welkin_db_refused_total", "Jobs refused: queue full, database down or stopping");
metrics::Gauge queued("welkin_db_queued", "Jobs waiting for a database thread");

// A job that waits for another job of the pool could wait for ever.
thread_local bool on_pool_thread = false;

}  // namespace

Pool::Pool(const PoolConfig& config, std::function<void()> idle) : config_(config), idle_(std::move(idle)) {
  const unsigned threads = std::max(1U, config_.connections);
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this, i] { serve(i); });
}

void Pool::close() {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(queue_);
  }
  wake_.notify_all();
  queued.add(-static_cast<std::int64_t>(dropped.size()));
  for (auto& job : dropped) job.done(std::make_exception_ptr(database_down("the server is stopping")));
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Pool::submit(Work work, std::function<void(std::exception_ptr)> done, Place place) {
  std::exception_ptr refusal;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      refusal = std::make_exception_ptr(database_down("the server is stopping"));
    } else if (health_.open() == 0 && health_.down()) {
      refusal = std::make_exception_ptr(database_down("the database does not answer"));
    } else if (queue_.size() >= config_.queue_max) {
      refusal = std::make_exception_ptr(database_busy("too many requests wait for the database"));
    } else {
      Job job{std::move(work), std::move(done), Clock::now()};
      if (place == Place::front) {
        queue_.push_front(std::move(job));
      } else {
        queue_.push_back(std::move(job));
      }
    }
  }
  if (refusal) {
    refused.add();
    return done(refusal);
  }
  queued.add(1);
  if (health_.down()) {
    wake_.notify_all();  // not every thread may take it
  } else {
    wake_.notify_one();
  }
}

Task<> Pool::run(Work work) {
  Event ended;
  std::exception_ptr failure;
  submit(std::move(work), [&](std::exception_ptr e) {
    failure = std::move(e);
    ended.set();
  });
  co_await ended.wait();
  if (failure) std::rethrow_exception(failure);
}

void Pool::run_now(Work work) {
  if (on_pool_thread) throw std::logic_error("a database job may not wait for another one");
  // Shared: the thread that answers may still be inside set_value when the waiter has gone on.
  const auto ended = std::make_shared<std::promise<void>>();
  submit(std::move(work), [ended](std::exception_ptr e) {
    if (e) {
      ended->set_exception(std::move(e));
    } else {
      ended->set_value();
    }
  });
  ended->get_future().get();
}

// While the server cannot be reached, work is left to the threads that still have a connection, if there are
// any.
bool Pool::take(std::unique_lock<std::mutex>& lock, Worker& worker, Job& job) {
  for (;;) {
    if (closed_) return false;
    const bool may = worker.connected() || !health_.down() || health_.open() == 0;
    if (may && !queue_.empty()) break;
    auto until = Clock::now() + kTidyEvery;
    if (!may) until = std::min(until, health_.down_until());
    if (wake_.wait_until(lock, until) == std::cv_status::timeout && queue_.empty()) {
      lock.unlock();
      worker.tidy(Clock::now());
      idle_();
      lock.lock();
    }
  }
  queued.add(-1);
  job = std::move(queue_.front());
  queue_.pop_front();
  return true;
}

void Pool::answer(Job& job, Worker& worker) {
  std::exception_ptr failure;
  try {
    if (Clock::now() - job.queued > kQueueWaitMax) throw database_busy("waited too long for the database");
    job.work(worker);
  } catch (...) {
    failure = std::current_exception();
  }
  // Whatever the job holds belongs to a frame that may end as soon as `done` has run.
  job.work = nullptr;
  const auto done = std::move(job.done);
  done(std::move(failure));
}

void Pool::serve(unsigned number) {
  pthread_setname_np(pthread_self(), ("welkin-db-" + std::to_string(number)).c_str());
  on_pool_thread = true;
  Worker worker(config_, health_);
  std::unique_lock lock(mutex_);
  Job job;
  while (take(lock, worker, job)) {
    lock.unlock();
    answer(job, worker);
    worker.tidy(Clock::now());
    lock.lock();
  }
}

}  // namespace welkin::db
