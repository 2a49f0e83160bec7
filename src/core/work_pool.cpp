#include "welkin/core/work_pool.hpp"

#include <pthread.h>

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"

namespace welkin {
namespace asio = boost::asio;

struct WorkPool::State {
  std::string name;
  std::size_t queue_max;
  mutable std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> queue;
  std::vector<std::thread> threads;
  bool ended = false;

  bool push(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex);
      if (ended || queue.size() >= queue_max) return false;
      queue.push_back(std::move(job));
    }
    wake.notify_one();
    return true;
  }

  void work() {
    ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
    while (true) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return ended || !queue.empty(); });
        if (queue.empty()) return;
        job = std::move(queue.front());
        queue.pop_front();
      }
      job();
    }
  }
};

WorkPool::WorkPool(std::string name, std::size_t threads, std::size_t queue_max)
    : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->queue_max = queue_max;
  for (std::size_t i = 0; i < threads; ++i) state_->threads.emplace_back([s = state_.get()] { s->work(); });
}

WorkPool::~WorkPool() { join(); }

void WorkPool::join() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->wake.notify_all();
  for (auto& thread : state_->threads)
    if (thread.joinable()) thread.join();
}

std::size_t WorkPool::queued() const {
  const std::lock_guard lock(state_->mutex);
  return state_->queue.size();
}

std::size_t WorkPool::threads() const { return state_->threads.size(); }

bool WorkPool::post(std::function<void()> f) {
  return state_->push([f = std::move(f)] {
    try {
      f();
    } catch (const std::exception& e) {
      log::error("background work failed: {}", e.what());
    }
  });
}

Task<> WorkPool::run_erased(std::function<void()> job) {
  const Executor executor = co_await asio::this_coro::executor;
  std::exception_ptr failure;
  bool accepted = true;
  // The initiation refers to this frame only: the frame waits for the completion, whatever is cancelled
  // meanwhile.
  auto start = [&, executor](auto handler) {
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    auto guard = std::make_shared<asio::executor_work_guard<Executor>>(executor);
    // Hands everything that belongs to the io_context back to it: the pool's thread may be slower than its
    // end.
    auto finish = [shared, guard, executor]() mutable {
      asio::post(executor, [h = std::move(shared), g = std::move(guard)]() mutable {
        g.reset();
        std::move (*h)();
      });
    };
    accepted = state_->push([&job, &failure, finish]() mutable {
      try {
        job();
      } catch (...) {
        failure = std::current_exception();
      }
      finish();
    });
    if (!accepted) finish();
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(
      start, asio::use_awaitable_t<Executor>());
  if (!accepted) throw Error(Errc::unavailable, "busy", "the server is busy", 1);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace welkin
