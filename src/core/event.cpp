#include "welkin/core/event.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <mutex>
#include <utility>

namespace welkin {
namespace asio = boost::asio;

struct Event::State {
  std::mutex mutex;
  bool happened = false;
  std::function<void()> resume;
};

Event::Event() : state_(std::make_shared<State>()) {}
Event::~Event() = default;

void Event::set() {
  // The waiter may end the Event as soon as it runs, so from here on only the shared state is touched.
  const auto state = state_;
  std::function<void()> resume;
  {
    const std::lock_guard lock(state->mutex);
    if (state->happened) return;
    state->happened = true;
    resume = std::move(state->resume);
  }
  if (resume) resume();
}

Task<> Event::wait() {
  const Executor executor = co_await asio::this_coro::executor;
  const auto state = state_;
  auto start = [state, executor](auto handler) {
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    auto guard = std::make_shared<asio::executor_work_guard<Executor>>(executor);
    auto resume = [shared, guard, executor]() mutable {
      asio::post(executor, [h = std::move(shared), g = std::move(guard)]() mutable {
        g.reset();
        std::move (*h)();
      });
    };
    {
      const std::lock_guard lock(state->mutex);
      if (!state->happened) {
        state->resume = std::move(resume);
        return;
      }
    }
    resume();
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(
      start, asio::use_awaitable_t<Executor>());
}

}  // namespace welkin
