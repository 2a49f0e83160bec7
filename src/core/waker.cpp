#include "welkin/core/waker.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>
#include <utility>

namespace welkin {

namespace asio = boost::asio;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Waker::State {
  std::mutex mutex;
  bool called = false;
  std::shared_ptr<Timer> timer;  // set while somebody waits
};

Waker::Waker() : state_(std::make_shared<State>()) {}
Waker::~Waker() = default;

Task<bool> Waker::wait(std::chrono::milliseconds limit) {
  const auto state = state_;
  const auto timer = std::make_shared<Timer>(co_await asio::this_coro::executor, limit);
  {
    const std::lock_guard lock(state->mutex);
    if (std::exchange(state->called, false)) co_return true;
    state->timer = timer;
  }
  boost::system::error_code cancelled;
  co_await timer->async_wait(asio::redirect_error(asio::use_awaitable_t<Executor>(), cancelled));
  const std::lock_guard lock(state->mutex);
  state->timer.reset();
  co_return std::exchange(state->called, false);
}

void Waker::wake() {
  const std::lock_guard lock(state_->mutex);
  state_->called = true;
  // On the waiter's own thread, which has begun to wait by the time this runs.
  if (state_->timer) asio::post(state_->timer->get_executor(), [timer = state_->timer] { timer->cancel(); });
}

}  // namespace welkin
