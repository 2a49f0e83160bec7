#include <chrono>

#include "people/people_fixture.hpp"

namespace welkin::people {
namespace {

using namespace std::chrono_literals;

TEST(LockOut, FiveFailuresLockForAWhile) {
  World w;
  w.user("alice");
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(outcome([&] { w.login("alice", "wrong"); }), "forbidden bad_credentials");
  const auto before = hashes();
  try {
    w.login("Alice");
    FAIL() << "the right password must not open a locked name";
  } catch (const Error& e) {
    EXPECT_STREQ(e.slug(), "account_locked");
    EXPECT_EQ(e.retry_after_seconds(), 900u);
  }
  EXPECT_EQ(hashes(), before) << "refused before any work";
  w.clock.advance(899s);
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "too_many account_locked");
  w.clock.advance(1s);
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok");
  EXPECT_EQ(w.number("select count(*) from login_failures"), 0);
  EXPECT_EQ(w.audits("login_failed"), 5);
  EXPECT_EQ(w.number("select count(*) from audit where detail ->> 'locked' = 'true'"), 1);
}

TEST(LockOut, ARightPasswordForgivesAndTimeForgets) {
  World w;
  w.user("alice");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) outcome([&] { w.login("alice", "wrong"); });
    EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok");
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) outcome([&] { w.login("alice", "wrong"); });
    w.clock.advance(900s);
  }
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok");
}

TEST(LockOut, NamesOfNobodyLockTheSame) {
  World w;
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(outcome([&] { w.login("nobody", "wrong"); }), "forbidden bad_credentials");
  EXPECT_EQ(outcome([&] { w.login("nobody", "wrong"); }), "too_many account_locked");
  EXPECT_EQ(outcome([&] { w.login("somebody", "wrong"); }), "forbidden bad_credentials");
}

TEST(LockOut, TwoHundredAtOnceGetFiveTries) {
  World w;
  w.user("alice");
  People other_node(w.test.db(), w.config, w.clock);
  const auto before = hashes();
  std::vector<Task<Tokens>> tasks;
  for (int i = 0; i < 200; ++i)
    tasks.push_back((i % 2 == 0 ? w.people : other_node).login("alice", "guess " + std::to_string(i), kHere));
  const auto outcomes = at_once(std::move(tasks));
  EXPECT_LE(hashes() - before, 5) << "tries that reached a hash";
  EXPECT_EQ(outcomes.at("forbidden bad_credentials"), 5);
  int refused = 0;
  for (const auto& [what, times] : outcomes)
    if (what.starts_with("too_many")) refused += times;
  EXPECT_EQ(refused, 195);
}

TEST(LockOut, ABurstOfTheRightPasswordIsNoAttack) {
  World w;
  w.user("alice");
  std::vector<Task<Tokens>> tasks;
  for (int i = 0; i < 40; ++i) tasks.push_back(w.people.login("alice", kSecret, kHere));
  EXPECT_EQ(at_once(std::move(tasks)), (std::map<std::string, int>{{"ok", 40}}));
}

TEST(LockOut, ABusyServerCountsNothing) {
  World w;
  w.user("alice");
  w.people.close();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(outcome([&] { w.login("alice"); }), "unavailable busy");
  EXPECT_EQ(w.number("select coalesce(sum(failures), 0)::bigint from login_failures"), 0);
  People again(w.test.db(), w.config, w.clock);
  EXPECT_EQ(outcome([&] { run(again.login("alice", kSecret, kHere)); }), "ok");
}

TEST(LockOut, CanBeTurnedOff) {
  auto config = cheap_config();
  config.lockout_failures = 0;
  World w(config);
  w.user("alice");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(outcome([&] { w.login("alice", "wrong"); }), "forbidden bad_credentials");
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok");
}

TEST(AddressLimits, CountEveryLoginAndRefresh) {
  auto config = cheap_config();
  config.login_attempts_per_minute = 3;
  config.refresh_attempts_per_minute = 2;
  World w(config);
  w.user("alice");
  w.user("bob");
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok");
  EXPECT_EQ(outcome([&] { w.login("bob"); }), "ok");
  EXPECT_EQ(outcome([&] { w.login("carol"); }), "forbidden bad_credentials");
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "too_many too_many_attempts");
  auto elsewhere = kHere;
  elsewhere.limit_key = "2001:db8::/64";
  EXPECT_EQ(outcome([&] { run(w.people.login("alice", kSecret, elsewhere)); }), "ok");
  w.clock.advance(60s);
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok");
  EXPECT_EQ(outcome([&] { run(w.people.refresh("x", kHere)); }), "not_found unknown_refresh_token");
  EXPECT_EQ(outcome([&] { run(w.people.refresh("x", kHere)); }), "not_found unknown_refresh_token");
  EXPECT_EQ(outcome([&] { run(w.people.refresh("x", kHere)); }), "too_many too_many_attempts");
}

}  // namespace
}  // namespace welkin::people
