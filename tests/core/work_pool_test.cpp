#include "welkin/core/work_pool.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "welkin/core/error.hpp"

namespace welkin {
namespace {

Task<> work_and_return(WorkPool& pool, std::thread::id io, int& out) {
  out = co_await pool.run([io] { return std::this_thread::get_id() == io ? -1 : 7; });
  if (std::this_thread::get_id() != io) out = -2;
}

TEST(WorkPool, RunsElsewhereAndResumesHere) {
  boost::asio::io_context io;
  WorkPool pool("test", 2, 10);
  int out = 0;
  boost::asio::co_spawn(io, work_and_return(pool, std::this_thread::get_id(), out), boost::asio::detached);
  io.run();
  EXPECT_EQ(out, 7);
  pool.join();
}

Task<> expect_error(WorkPool& pool, std::string& slug) {
  bool threw = false;
  try {
    co_await pool.run([] { throw Error(Errc::conflict, "exists", "taken"); });
  } catch (const Error& e) {
    slug = e.slug();
    threw = true;
  }
  EXPECT_TRUE(threw);
}

TEST(WorkPool, ExceptionsTravel) {
  boost::asio::io_context io;
  WorkPool pool("test", 1, 10);
  std::string slug;
  boost::asio::co_spawn(io, expect_error(pool, slug), boost::asio::detached);
  io.run();
  EXPECT_EQ(slug, "exists");
  pool.join();
}

Task<> run_nothing(WorkPool& pool, int& busy, int& done) {
  try {
    co_await pool.run([] {});
    ++done;
  } catch (const Error& e) {
    if (e.code() == Errc::unavailable) ++busy;
  }
}

TEST(WorkPool, AFullQueueIsRefusedAtOnce) {
  boost::asio::io_context io;
  WorkPool pool("test", 1, 3);
  std::mutex mutex;
  std::condition_variable wake;
  bool open = false, started = false;
  ASSERT_TRUE(pool.post([&] {
    std::unique_lock lock(mutex);
    started = true;
    wake.notify_all();
    wake.wait(lock, [&] { return open; });
  }));
  {
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return started; });
  }
  int busy = 0, done = 0;
  for (int i = 0; i < 10; ++i)
    boost::asio::co_spawn(io, run_nothing(pool, busy, done), boost::asio::detached);
  io.poll();
  EXPECT_EQ(busy, 7);
  EXPECT_EQ(done, 0);
  {
    const std::lock_guard lock(mutex);
    open = true;
  }
  wake.notify_all();
  io.run();
  EXPECT_EQ(done, 3);
  pool.join();
}

TEST(WorkPool, JoinRunsWhatIsQueuedAndThenRefuses) {
  WorkPool pool("test", 1, 100);
  int ran = 0;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(pool.post([&ran] { ++ran; }));
  pool.join();
  EXPECT_EQ(ran, 50);
  EXPECT_FALSE(pool.post([] {}));
}

}  // namespace
}  // namespace welkin
