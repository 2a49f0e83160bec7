#include "welkin/core/event.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <memory>
#include <thread>

namespace welkin {
namespace {

Task<> wait_for(Event& event, std::thread::id io, bool& woke) {
  co_await event.wait();
  woke = std::this_thread::get_id() == io;
}

TEST(Event, WakesItsWaiterOnTheWaitersThread) {
  boost::asio::io_context io;
  Event event;
  bool woke = false;
  boost::asio::co_spawn(io, wait_for(event, std::this_thread::get_id(), woke), boost::asio::detached);
  io.poll();
  EXPECT_FALSE(woke);
  std::thread other([&] { event.set(); });
  io.restart();
  io.run();
  other.join();
  EXPECT_TRUE(woke);
}

TEST(Event, AnEarlySetIsNotLost) {
  boost::asio::io_context io;
  Event event;
  event.set();
  event.set();
  bool woke = false;
  boost::asio::co_spawn(io, wait_for(event, std::this_thread::get_id(), woke), boost::asio::detached);
  io.run();
  EXPECT_TRUE(woke);
}

}  // namespace
}  // namespace welkin
