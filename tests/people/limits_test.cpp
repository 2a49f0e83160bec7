#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "people/credential_memory.hpp"
#include "people/hasher.hpp"
#include "people/limiter.hpp"
#include "support/run.hpp"
#include "welkin/core/error.hpp"

namespace welkin::people {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using tests::run;

TEST(Limiter, SlidesExactly) {
  ManualClock clock(1'000'000'000'000'000);
  Limiter limiter(clock);
  EXPECT_EQ(limiter.take("a", 3, 60), 0u);
  clock.advance(10s);
  EXPECT_EQ(limiter.take("a", 3, 60), 0u);
  EXPECT_EQ(limiter.take("a", 3, 60), 0u);
  EXPECT_EQ(limiter.take("a", 3, 60), 50u);
  EXPECT_EQ(limiter.take("b", 3, 60), 0u) << "keys are apart";
  clock.advance(49s);
  EXPECT_EQ(limiter.take("a", 3, 60), 1u) << "refusals are not counted";
  clock.advance(1s);
  EXPECT_EQ(limiter.take("a", 3, 60), 0u);
  EXPECT_EQ(limiter.take("a", 3, 60), 10u);
}

TEST(Limiter, GivesBackRightOnes) {
  ManualClock clock(1'000'000'000'000'000);
  Limiter limiter(clock);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(limiter.take("a", 2, 60), 0u);
    limiter.give_back("a");
  }
  limiter.give_back("unknown");
}

TEST(Limiter, ZeroIsNoLimitAndAClockSetBackLocksNobodyOut) {
  ManualClock clock(1'000'000'000'000'000);
  Limiter limiter(clock);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limiter.take("a", 0, 60), 0u);
  EXPECT_EQ(limiter.take("b", 1, 60), 0u);
  clock.advance(-24h);
  EXPECT_EQ(limiter.take("b", 1, 60), 0u);
}

TEST(Limiter, IsBoundedAndForgetsTheLongestQuiet) {
  ManualClock clock(1'000'000'000'000'000);
  Limiter limiter(clock, 100);
  for (int i = 0; i < 100'000; ++i) {
    limiter.take("noise" + std::to_string(i), 1, 60);
    EXPECT_GE(limiter.take("busy", 1, 60), i == 0 ? 0u : 1u);
    ASSERT_LE(limiter.size(), 100u);
  }
}

TEST(Limiter, AParallelBurstDoesNotPass) {
  SystemClock clock;
  Limiter limiter(clock);
  std::atomic<int> passed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        if (limiter.take("a", 10, 600) == 0) ++passed;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(passed, 10);
}

TEST(CredentialMemory, KeepsRightAnswersForAMinute) {
  CredentialMemory memory;
  const UserId alice{7};
  const auto key = memory.key("alice", "secret");
  using Answer = CredentialMemory::Answer;
  EXPECT_EQ(memory.recall(key, alice, 1, 0), Answer::unknown);
  memory.remember(key, alice, 1, true, 0);
  EXPECT_EQ(memory.recall(key, alice, 1, 59'999'999), Answer::right);
  EXPECT_EQ(memory.recall(key, alice, 1, 60'000'000), Answer::unknown);
  EXPECT_EQ(memory.recall(key, alice, 1, 1), Answer::unknown) << "what was forgotten stays forgotten";
}

TEST(CredentialMemory, ForgetsWithTheGenerationTheAccountAndTheClock) {
  CredentialMemory memory;
  using Answer = CredentialMemory::Answer;
  const auto key = memory.key("alice", "secret");
  memory.remember(key, UserId{7}, 1, true, 1000);
  EXPECT_EQ(memory.recall(key, UserId{7}, 2, 1000), Answer::unknown);
  memory.remember(key, UserId{7}, 1, true, 1000);
  EXPECT_EQ(memory.recall(key, UserId{8}, 1, 1000), Answer::unknown);
  memory.remember(key, UserId{7}, 1, true, 1000);
  EXPECT_EQ(memory.recall(key, UserId{7}, 1, 999), Answer::unknown)
      << "a clock set back must not lengthen a life";
  memory.remember(key, UserId{}, 0, false, 1000);
  EXPECT_EQ(memory.recall(key, UserId{}, 0, 60'001'000), Answer::wrong);
  EXPECT_EQ(memory.recall(key, UserId{9}, 1, 60'001'000), Answer::unknown) << "the name has become somebody";
}

TEST(CredentialMemory, KeysDoNotRunIntoEachOtherAndDifferByProcess) {
  CredentialMemory memory, other;
  EXPECT_NE(memory.key("a", "bc"), memory.key("ab", "c"));
  EXPECT_NE(memory.key("a", "b"), other.key("a", "b"));
}

TEST(CredentialMemory, IsBounded) {
  CredentialMemory memory(50);
  const auto kept = memory.key("kept", "x");
  memory.remember(kept, UserId{1}, 1, true, 0);
  for (int i = 0; i < 1000; ++i) {
    memory.remember(memory.key("n" + std::to_string(i), "x"), UserId{1}, 1, false, 0);
    EXPECT_EQ(memory.recall(kept, UserId{1}, 1, 0), CredentialMemory::Answer::right);
    ASSERT_LE(memory.size(), 50u);
  }
}

Config cheap() {
  Config config;
  config.argon2_memory_kib = 64;
  config.argon2_iterations = 1;
  return config;
}

struct Hashed {
  std::string phc;
  Hasher::Verdict right, wrong, nobody, overlong;
};

Task<Hashed> hash_and_verify(Hasher& hasher, std::string password) {
  Hashed out;
  out.phc = co_await hasher.hash(password);
  out.right = co_await hasher.verify(out.phc, password);
  out.wrong = co_await hasher.verify(out.phc, "not this one");
  out.nobody = co_await hasher.verify(std::nullopt, password);
  out.overlong = co_await hasher.verify(out.phc, password + "p");
  co_return out;
}

TEST(Hasher, WritesPhcStringsAndReadsThem) {
  const auto config = cheap();
  Hasher hasher(config);
  const auto out = run(hash_and_verify(hasher, std::string(1024, 'p')));
  EXPECT_TRUE(out.phc.starts_with("$argon2id$v=19$m=64,t=1,p=1$")) << out.phc;
  EXPECT_TRUE(out.right.right);
  EXPECT_FALSE(out.right.rehashed);
  EXPECT_FALSE(out.wrong.right);
  EXPECT_FALSE(out.nobody.right);
  EXPECT_FALSE(out.overlong.right) << "cut to the longest allowed one it would be right";
}

TEST(Hasher, HashesAgainWhenTheCostChanged) {
  const auto config = cheap();
  auto dearer = cheap();
  dearer.argon2_iterations = 2;
  Hasher today(config), tomorrow(dearer);
  const auto phc = run(today.hash("a password"));
  EXPECT_FALSE(run(tomorrow.verify(phc, "wrong")).rehashed);
  const auto right = run(tomorrow.verify(phc, "a password"));
  ASSERT_TRUE(right.rehashed);
  EXPECT_TRUE(right.rehashed->starts_with("$argon2id$v=19$m=64,t=2,p=1$"));
  EXPECT_TRUE(run(today.verify(right.rehashed, "a password")).right);
}

TEST(Hasher, ABrokenStoredStringIsOnlyWrong) {
  const auto config = cheap();
  Hasher hasher(config);
  for (const char* phc :
       {"", "x", "$argon2id$", "$argon2id$v=19$m=64,t=1,p=1$$", "$2y$10$abcdefghijklmnopqrstuv"})
    EXPECT_FALSE(run(hasher.verify(phc, "password")).right) << phc;
}

Task<> count_busy(Hasher& hasher, int& done, int& busy) {
  try {
    co_await hasher.verify(std::nullopt, "x");
    ++done;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::unavailable);
    EXPECT_GT(e.retry_after_seconds(), 0u);
    ++busy;
  }
}

TEST(Hasher, AFloodIsRefusedNotQueued) {
  const auto config = cheap();
  asio::io_context loop;  // outlives the threads that wake it
  Hasher hasher(config);
  int done = 0, busy = 0;
  for (int i = 0; i < 5000; ++i) asio::co_spawn(loop, count_busy(hasher, done, busy), asio::detached);
  loop.run();
  EXPECT_EQ(done + busy, 5000);
  EXPECT_GT(busy, 0);
  EXPECT_GT(done, 0);
}

}  // namespace
}  // namespace welkin::people
