#include "welkin/core/turnstile.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "welkin/core/error.hpp"

namespace welkin {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct Crossing {
  explicit Crossing(std::size_t at_once = 1) : turnstile(at_once, kWaitingMax) {}
  static constexpr std::size_t kWaitingMax = 64;
  Turnstile turnstile;
  std::atomic<int> inside{0}, most{0}, done{0}, refused{0};
};

Task<> cross(Crossing& c, std::string key) {
  try {
    const auto pass = co_await c.turnstile.enter(std::move(key));
    c.most = std::max<int>(c.most, ++c.inside);
    for (int i = 0; i < 5; ++i) {
      const Executor here = co_await asio::this_coro::executor;
      co_await asio::post(here, asio::use_awaitable_t<Executor>());
    }
    --c.inside;
    ++c.done;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::too_many_requests);
    ++c.refused;
  }
}

void expect_at_once(std::size_t at_once) {
  Crossing c(at_once);
  std::vector<std::unique_ptr<asio::io_context>> loops;
  for (int t = 0; t < 4; ++t) loops.push_back(std::make_unique<asio::io_context>(1));
  std::vector<asio::executor_work_guard<Executor>> guards;
  for (auto& loop : loops) guards.emplace_back(loop->get_executor());
  for (int i = 0; i < 60; ++i)
    asio::co_spawn(loops[static_cast<std::size_t>(i) % loops.size()]->get_executor(), cross(c, "alice"),
                   asio::detached);
  std::vector<std::thread> threads;
  for (auto& loop : loops) threads.emplace_back([&loop] { loop->run(); });
  while (c.done + c.refused < 60) std::this_thread::sleep_for(1ms);
  guards.clear();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(c.done, 60);
  EXPECT_EQ(c.most, static_cast<int>(at_once));
}

TEST(Turnstile, OneAtATimeOnManyThreads) { expect_at_once(1); }
TEST(Turnstile, AFewAtATimeOnManyThreads) { expect_at_once(2); }

TEST(Turnstile, QueuesAreBounded) {
  Crossing c;
  asio::io_context loop;
  for (int i = 0; i < 200; ++i) asio::co_spawn(loop, cross(c, "alice"), asio::detached);
  for (int i = 0; i < 10; ++i) asio::co_spawn(loop, cross(c, "bob" + std::to_string(i)), asio::detached);
  loop.run();
  EXPECT_EQ(c.done, 1 + static_cast<int>(Crossing::kWaitingMax) + 10);
  EXPECT_EQ(c.refused, 200 - 1 - static_cast<int>(Crossing::kWaitingMax));
}

}  // namespace
}  // namespace welkin
