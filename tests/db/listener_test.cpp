#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "support/test_db.hpp"
#include "welkin/db/notify.hpp"

namespace welkin::db {
namespace {

using namespace std::chrono_literals;
using tests::TestDb;

class Heard {
 public:
  Listener::Callback callback() {
    return [this](const std::string& payload) {
      const std::lock_guard lock(mutex_);
      payloads_.push_back(payload);
      changed_.notify_all();
    };
  }
  bool count(const std::string& payload, int wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(
        lock, 20s, [&] { return std::count(payloads_.begin(), payloads_.end(), payload) >= wanted; });
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return payloads_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> payloads_;
};

TEST(Listener, HearsItsChannelsInOrder) {
  TestDb db(false);
  Heard a, b;
  Listener listener(db.url());
  listener.on("a", a.callback());
  listener.on("B weird\"name", b.callback());
  listener.start();
  ASSERT_TRUE(a.count("", 1));
  ASSERT_TRUE(b.count("", 1));
  db.script("notify a, '1'; notify other, 'x'; notify a, '2'; notify \"B weird\"\"name\", '3'");
  EXPECT_TRUE(a.count("2", 1));
  EXPECT_TRUE(b.count("3", 1));
  EXPECT_EQ(a.all(), (std::vector<std::string>{"", "1", "2"}));
}

TEST(Listener, TellsEverybodyAfterALostConnection) {
  TestDb db(false);
  Heard heard;
  Listener listener(db.url());
  listener.on("a", heard.callback());
  listener.start();
  for (int round = 1; round <= 3; ++round) {
    ASSERT_TRUE(heard.count("", round));
    db.script("notify a, 'round" + std::to_string(round) + "'");
    ASSERT_TRUE(heard.count("round" + std::to_string(round), 1));
    db.cut_sessions();
  }
  EXPECT_TRUE(heard.count("", 4));
}

TEST(Listener, AFailingSubscriberHarmsNobody) {
  TestDb db(false);
  Heard heard;
  Listener listener(db.url());
  listener.on("a", [](const std::string&) { throw std::runtime_error("no"); });
  listener.on("a", heard.callback());
  listener.start();
  ASSERT_TRUE(heard.count("", 1));
  db.script("notify a, '1'");
  EXPECT_TRUE(heard.count("1", 1));
}

TEST(Listener, StopsAtOnceAlsoWhileThereIsNoServer) {
  Listener listener("host=/nowhere dbname=x");
  listener.on("a", [](const std::string&) {});
  listener.start();
  std::this_thread::sleep_for(50ms);
  listener.stop();
  listener.stop();
  EXPECT_NO_THROW(Listener("host=/nowhere"));
}

}  // namespace
}  // namespace welkin::db
