#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <optional>
#include <span>
#include <thread>

#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {
namespace {

namespace asio = boost::asio;
using tests::TestDb;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

constexpr Stmt kSquare{"t.square",
                       "select $1::int8 * $1::int8, pg_backend_pid(), "
                       "current_setting('default_transaction_read_only')"};
constexpr Stmt kDivide{"t.divide", "select 10 / $1::int8"};

Task<> pause(std::chrono::milliseconds time) {
  Timer timer(co_await asio::this_coro::executor);
  timer.expires_after(time);
  co_await timer.async_wait(asio::use_awaitable_t<Executor>());
}

/// An io thread with a pipeline, as the server has them.
class Pipelined : public ::testing::Test {
 protected:
  Pipelined() : db_(config()) { db_.attach_pipeline(io_); }
  ~Pipelined() override { db_.close(); }

  PoolConfig config() {
    PoolConfig c;
    c.url = test_db_.url();
    c.io_threads = 1;
    return c;
  }

  /// Runs `body` to its end on the io_context; fails the test when it throws.
  void run(std::function<Task<>()> body) {
    std::exception_ptr failure;
    io_.restart();
    asio::co_spawn(io_, std::move(body), [&](std::exception_ptr e) {
      failure = e;
      io_.stop();
    });
    io_.run();
    if (failure) std::rethrow_exception(failure);
  }

  /// Until a query runs on a pipelined connection (they are read-only, those of the pool are not).
  Task<> wait_open() {
    for (int i = 0; i < 500; ++i) {
      const auto rows = co_await db_.query(kSquare, Params(std::int64_t{1}));
      if (rows[0].text(2) == "on") co_return;
      co_await pause(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("no pipelined connection came");
  }

  TestDb test_db_{false};
  asio::io_context io_{1};
  Db db_;
};

TEST_F(Pipelined, OneAfterTheOther) {
  run([this]() -> Task<> {
    co_await wait_open();
    for (std::int64_t i = 0; i < 100; ++i) {
      const auto rows = co_await db_.query(kSquare, Params(i));
      EXPECT_EQ(rows[0].i64(0), i * i);
      EXPECT_EQ(rows[0].text(2), "on");
    }
  });
}

TEST_F(Pipelined, ManyAtOnceEachGetItsOwn) {
  constexpr int kTasks = 64, kEach = 50;
  int right = 0, ended = 0;
  run([&]() -> Task<> {
    co_await wait_open();
    for (int t = 0; t < kTasks; ++t) {
      asio::co_spawn(
          io_,
          [&, t]() -> Task<> {
            for (std::int64_t i = 0; i < kEach; ++i) {
              const auto v = t * 1000 + i;
              const auto rows = co_await db_.query(kSquare, Params(v));
              if (rows[0].i64(0) == v * v) ++right;
            }
            ++ended;
          },
          asio::detached);
    }
    while (ended < kTasks) co_await pause(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(right, kTasks * kEach);
}

TEST_F(Pipelined, AnErrorIsItsOwnersAlone) {
  int right = 0, failed = 0, ended = 0;
  run([&]() -> Task<> {
    co_await wait_open();
    for (std::int64_t i = 0; i < 200; ++i) {
      asio::co_spawn(
          io_,
          [&, i]() -> Task<> {
            try {
              const auto rows = co_await db_.query(i % 5 == 0 ? kDivide : kSquare, Params(i % 5));
              if (rows[0].i64(0) == (i % 5) * (i % 5)) ++right;
            } catch (const SqlError& e) {
              if (e.sqlstate() == "22012") ++failed;
            }
            ++ended;
          },
          asio::detached);
    }
    while (ended < 200) co_await pause(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(right, 160);
  EXPECT_EQ(failed, 40);
}

TEST_F(Pipelined, AStatementThatCannotBePreparedSpoilsNobody) {
  constexpr Stmt kBroken{"t.broken", "select nonsense from nowhere where 1 = $1::int8"};
  constexpr Stmt kFresh{"t.fresh", "select $1::int8 + 1"};
  int right = 0, failed = 0, ended = 0;
  run([&]() -> Task<> {
    co_await wait_open();
    for (std::int64_t i = 0; i < 90; ++i) {
      asio::co_spawn(
          io_,
          [&, i]() -> Task<> {
            try {
              const auto rows = co_await db_.query(i % 3 == 0 ? kBroken : kFresh, Params(i));
              if (rows[0].i64(0) == i + 1) ++right;
            } catch (const SqlError& e) {
              if (e.sqlstate() == "42P01") ++failed;
            }
            ++ended;
          },
          asio::detached);
    }
    while (ended < 90) co_await pause(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(right, 60);
  EXPECT_EQ(failed, 30);
}

TEST_F(Pipelined, ProgrammingErrorsReachTheirCaller) {
  constexpr Stmt kImpostor{"t.square", "select 1"};
  run([&]() -> Task<> {
    co_await wait_open();
    bool thrown = false;
    try {
      co_await db_.query(kImpostor, Params());
    } catch (const std::logic_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
    const auto rows = co_await db_.query(kSquare, Params(std::int64_t{3}));
    EXPECT_EQ(rows[0].i64(0), 9);
  });
}

TEST_F(Pipelined, WritesAreRefused) {
  test_db_.script("create table t (a int8)");
  constexpr Stmt kWrite{"t.write", "insert into t values (1) returning a"};
  run([&]() -> Task<> {
    co_await wait_open();
    std::string state;
    try {
      co_await db_.query(kWrite, Params());
    } catch (const SqlError& e) {
      state = e.sqlstate();
    }
    EXPECT_EQ(state, "25006");
  });
}

TEST_F(Pipelined, CallersRideOverLostConnections) {
  int right = 0;
  bool stop = false, cut_done = false;
  run([&]() -> Task<> {
    co_await wait_open();
    std::thread cutter([&] {
      for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        test_db_.cut_sessions();
      }
      asio::post(io_, [&] { cut_done = true; });
    });
    int ended = 0, busy = 0;
    for (int t = 0; t < 8; ++t) {
      asio::co_spawn(
          io_,
          [&]() -> Task<> {
            std::int64_t i = 0;
            while (!stop) {
              ++i;
              try {
                const auto rows = co_await db_.query(kSquare, Params(i));
                if (rows[0].i64(0) != i * i) throw std::logic_error("wrong answer");
                ++right;
              } catch (const Error& e) {  // three cuts in a row may hit one caller
                EXPECT_EQ(e.code(), Errc::unavailable);
                ++busy;
              }
            }
          },
          [&](std::exception_ptr e) {
            EXPECT_EQ(e, nullptr) << "a lost connection reached a caller as something else than Error";
            ++ended;
          });
    }
    while (!cut_done) co_await pause(std::chrono::milliseconds(5));
    co_await wait_open();
    stop = true;
    while (ended < 8) co_await pause(std::chrono::milliseconds(1));
    cutter.join();
    EXPECT_LT(busy, 8);
  });
  EXPECT_GT(right, 100);
}

TEST_F(Pipelined, WithoutAPipelineThePoolAnswers) {
  const auto rows = tests::run(db_.query(kSquare, Params(std::int64_t{7})));
  EXPECT_EQ(rows[0].i64(0), 49);
  EXPECT_EQ(rows[0].text(2), "off");
}

TEST_F(Pipelined, BigValuesBothWays) {
  constexpr Stmt kEcho{"t.echo", "select $1::bytea"};
  run([&]() -> Task<> {
    co_await wait_open();
    int ended = 0;
    for (int t = 0; t < 6; ++t) {
      asio::co_spawn(
          io_,
          [&, t]() -> Task<> {
            const Bytes bytes(3 << 20, std::byte(t));
            const auto rows = co_await db_.query(kEcho, Params(bytes));
            EXPECT_TRUE(std::ranges::equal(rows[0].bytes(0), bytes));
            ++ended;
          },
          asio::detached);
    }
    while (ended < 6) co_await pause(std::chrono::milliseconds(1));
  });
}

TEST_F(Pipelined, ClosingFailsWhatIsInFlightAndEndsTheLoop) {
  constexpr Stmt kSleep{"t.sleep", "select pg_sleep($1::float8)"};
  std::string slug;
  run([&]() -> Task<> {
    co_await wait_open();
    bool ended = false;
    asio::co_spawn(
        io_,
        [&]() -> Task<> {
          try {
            co_await db_.query(kSleep, Params("30"));
          } catch (const Error& e) {
            slug = e.slug();
          }
          ended = true;
        },
        asio::detached);
    co_await pause(std::chrono::milliseconds(50));
    db_.close();
    while (!ended) co_await pause(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(slug, "database");
  io_.restart();
  io_.run();  // returns: nothing is left to wait for
}

// The number of keys that travelled together stands in the third column.
constexpr Stmt kByNumber{"t.by_number", R"(
  select k.n, k.key * k.key, count(*) over () from unnest($1::bigint[]) with ordinality k (key, n)
   where k.key % 10 <> 0 order by k.key desc)"};
constexpr Stmt kByDigest{"t.by_digest",
                         "select k.n, k.key from unnest($1::bytea[]) with ordinality k (key, n)"};
constexpr Stmt kInverse{"t.inverse",
                        "select k.n, 10 / k.key from unnest($1::bigint[]) with ordinality k (key, n)"};
constexpr Stmt kWithoutPlace{"t.without_place", "select 700::bigint from unnest($1::bigint[])"};

TEST_F(Pipelined, EachLookUpFindsItsOwnRow) {
  constexpr std::int64_t kLookUps = 200;
  std::int64_t right = 0, together = 0, ended = 0;
  run([&]() -> Task<> {
    co_await wait_open();
    for (std::int64_t i = 0; i < kLookUps; ++i) {
      asio::co_spawn(
          io_,
          [&, i]() -> Task<> {
            const std::int64_t key = i / 2;  // each one twice
            const auto found = co_await db_.look_up(kByNumber, key);
            if (key % 10 == 0) {
              right += !found;
            } else if (found && (**found).i64(1) == key * key) {
              ++right;
              together = std::max(together, (**found).i64(2));
            }
            ++ended;
          },
          asio::detached);
    }
    while (ended < kLookUps) co_await pause(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(right, kLookUps);
  EXPECT_GT(together, 20) << "what was asked in one turn travelled alone";
}

TEST_F(Pipelined, LookUpsWhileOthersAreOnTheirWay) {
  int right = 0, ended = 0;
  constexpr int kTasks = 100, kEach = 20;
  run([&]() -> Task<> {
    co_await wait_open();
    for (int t = 0; t < kTasks; ++t) {
      asio::co_spawn(
          io_,
          [&, t]() -> Task<> {
            for (int i = 0; i < kEach; ++i) {
              Sha256 key{};
              key[0] = static_cast<std::uint8_t>(t);
              key[1] = static_cast<std::uint8_t>(i);
              const auto found = co_await db_.look_up(kByDigest, key);
              right += found && std::ranges::equal((**found).bytes(1), std::as_bytes(std::span(key)));
              const auto rows = co_await db_.query(kSquare, Params(std::int64_t{t}));
              right += rows[0].i64(0) == t * t;
            }
            ++ended;
          },
          asio::detached);
    }
    while (ended < kTasks) co_await pause(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(right, 2 * kTasks * kEach);
}

TEST_F(Pipelined, AFailedLookUpFailsForAllWhoAskedAndNobodyElse) {
  int failed = 0, logic = 0, right = 0, ended = 0;
  run([&]() -> Task<> {
    co_await wait_open();
    for (std::int64_t i = 0; i < 30; ++i) {
      asio::co_spawn(
          io_,
          [&, i]() -> Task<> {
            try {
              if (i % 3 == 0) {
                right +=
                    (**co_await db_.look_up(kByNumber, i * 10 + 1)).i64(1) == (i * 10 + 1) * (i * 10 + 1);
              } else if (i % 3 == 1) {
                co_await db_.look_up(kInverse, i - 1);  // one of them asks for 10 / 0
              } else {
                co_await db_.look_up(kWithoutPlace, i);
              }
            } catch (const SqlError& e) {
              failed += e.sqlstate() == "22012";
            } catch (const std::exception&) {
              ++logic;
            }
            ++ended;
          },
          asio::detached);
    }
    while (ended < 30) co_await pause(std::chrono::milliseconds(1));
    const auto found = co_await db_.look_up(kByNumber, std::int64_t{9});
    EXPECT_EQ((**found).i64(1), 81);
  });
  EXPECT_EQ(right, 10);
  EXPECT_EQ(failed, 10);
  EXPECT_EQ(logic, 10) << "a row that is nobody's must not become somebody's";
}

TEST_F(Pipelined, WithoutAPipelineALookUpTakesThePool) {
  asio::io_context other(1);
  std::optional<std::int64_t> square;
  bool absent = false;
  asio::co_spawn(
      other,
      [&]() -> Task<> {
        square = (**co_await db_.look_up(kByNumber, std::int64_t{7})).i64(1);
        absent = !co_await db_.look_up(kByNumber, std::int64_t{10});
      },
      asio::detached);
  other.run();
  EXPECT_EQ(square, 49);
  EXPECT_TRUE(absent);
}

// The order of a hurried end: the loop stops with queries in flight, then the Db goes, then the loop.
TEST(PipelineEnd, AStoppedLoopLeaksNothing) {
  TestDb test_db(false);
  PoolConfig config;
  config.url = test_db.url();
  config.io_threads = 1;
  asio::io_context io(1);
  Db db(config);
  db.attach_pipeline(io);
  constexpr Stmt kSleep{"t.sleep", "select pg_sleep($1::float8)"};
  asio::co_spawn(
      io,
      [&]() -> Task<> {
        co_await pause(std::chrono::milliseconds(100));
        co_await db.query(kSleep, Params("0.6"));
        ADD_FAILURE() << "not reached";
      },
      asio::detached);
  io.run_for(std::chrono::milliseconds(300));
  db.close();
}

// A start that fails at once closes the Db before the loops have had their first turn.
TEST(PipelineEnd, NoneComesAfterTheEnd) {
  TestDb test_db(false);
  PoolConfig config;
  config.url = test_db.url();
  config.io_threads = 1;
  asio::io_context io(1);
  Db db(config);
  asio::post(io, [&] { db.attach_pipeline(io); });
  db.close();
  io.run_for(std::chrono::seconds(30));
  EXPECT_TRUE(io.stopped()) << "something would keep the loop from its end";
}

}  // namespace
}  // namespace welkin::db
