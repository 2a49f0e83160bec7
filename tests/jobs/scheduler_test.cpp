#include "welkin/jobs/scheduler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "support/test_db.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/named_lock.hpp"

namespace welkin::jobs {
namespace {

using namespace std::chrono_literals;
using tests::TestDb;

/// Counts, and lets a test wait for a count.
class Counter {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool reaches(int wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return count_ >= wanted; });
  }
  int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(Scheduler, RunsEveryJobAgainAndAgain) {
  TestDb db(false);
  Scheduler scheduler(db.db());
  Counter a, b;
  scheduler.every("a", 0s, [&] { return a.add(), false; });
  scheduler.every("b", 1s, [&] { return b.add(), false; });
  scheduler.start();
  EXPECT_TRUE(a.reaches(5));
  EXPECT_TRUE(b.reaches(2));
  scheduler.stop();
  const int after = a.count();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(a.count(), after);
}

TEST(Scheduler, ComesBackAtOnceWhileMoreIsWaitingAndStaysFair) {
  TestDb db(false);
  Scheduler scheduler(db.db());
  Counter greedy, other;
  scheduler.every("greedy", 1h, [&] { return greedy.add(), true; });
  scheduler.every("other", 0s, [&] { return other.add(), false; });
  scheduler.start();
  EXPECT_TRUE(greedy.reaches(5));
  EXPECT_TRUE(other.reaches(3));
  scheduler.stop();
}

TEST(Scheduler, AJobThatThrowsHasItsNextTurn) {
  TestDb db(false);
  Scheduler scheduler(db.db());
  Counter turns;
  scheduler.every("bad", 0s, [&]() -> bool {
    turns.add();
    throw std::runtime_error("no luck");
  });
  scheduler.start();
  EXPECT_TRUE(turns.reaches(3));
  scheduler.stop();  // it counts in a variable that ends before it
}

TEST(Scheduler, OneNodeAtATime) {
  TestDb db(false);
  Scheduler one(db.db()), two(db.db());
  std::atomic<int> inside{0}, overlaps{0};
  Counter turns;
  const auto turn = [&] {
    if (++inside > 1) ++overlaps;
    std::this_thread::sleep_for(5ms);
    --inside;
    turns.add();
    return true;
  };
  one.every("shared", 0s, turn);
  two.every("shared", 0s, turn);
  one.start();
  two.start();
  EXPECT_TRUE(turns.reaches(30));
  one.stop();
  two.stop();
  EXPECT_EQ(overlaps, 0);
}

TEST(Scheduler, StopWaitsForTheTurnInHand) {
  TestDb db(false);
  Scheduler scheduler(db.db());
  Counter begun;
  std::atomic<bool> ended{false};
  scheduler.every("slow", 0s, [&] {
    begun.add();
    std::this_thread::sleep_for(100ms);
    ended = true;
    return false;
  });
  scheduler.start();
  ASSERT_TRUE(begun.reaches(1));
  scheduler.stop();
  EXPECT_TRUE(ended);
}

TEST(Scheduler, RunOnceRunsHereAndNow) {
  TestDb db(false);
  Scheduler scheduler(db.db());
  const auto here = std::this_thread::get_id();
  int left = 2;
  scheduler.every("count", 1h, [&] {
    EXPECT_EQ(std::this_thread::get_id(), here);
    return --left > 0;
  });
  EXPECT_TRUE(scheduler.run_once("count"));
  EXPECT_FALSE(scheduler.run_once("count"));
  EXPECT_THROW(scheduler.run_once("nothing"), std::invalid_argument);
  EXPECT_THROW(scheduler.every("count", 1s, [] { return false; }), std::logic_error);
}

TEST(Scheduler, RunOnceLetsErrorsTravel) {
  TestDb db(false);
  Scheduler scheduler(db.db());
  scheduler.every("bad", 1h, []() -> bool { throw Error(Errc::no_space, "disk_full", "full"); });
  EXPECT_THROW(scheduler.run_once("bad"), Error);
}

TEST(NamedLock, OneHolderAtATime) {
  TestDb db(false);
  auto first = db::NamedLock::try_take(db.db(), "x");
  EXPECT_TRUE(first);
  EXPECT_FALSE(db::NamedLock::try_take(db.db(), "x"));
  EXPECT_TRUE(db::NamedLock::try_take(db.db(), "y"));
  first.reset();
  bool again = false;  // the server lets go when it has seen the end of the session
  for (int i = 0; i < 200 && !again; ++i) {
    again = db::NamedLock::try_take(db.db(), "x").has_value();
    if (!again) std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(again);
}

}  // namespace
}  // namespace welkin::jobs
