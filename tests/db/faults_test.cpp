#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <latch>
#include <thread>

#include "support/db_proxy.hpp"
#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {
namespace {

using namespace std::chrono_literals;
using tests::DbProxy;
using tests::run;
using tests::TestDb;
using Clock = std::chrono::steady_clock;

constexpr Stmt kInsert{"t.insert", "insert into t values ($1)"};
constexpr Stmt kTimes{"t.times", "select count(*) from t where a = $1"};
constexpr Stmt kCount{"t.count", "select count(*) from t"};

template <class F>
std::string slug_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::unavailable);
    EXPECT_GT(e.retry_after_seconds(), 0u);
    return e.slug();
  }
  return "";
}

class Faults : public ::testing::Test {
 protected:
  Faults() { db_.script("create table t (a int8)"); }
  std::unique_ptr<Db> open(const std::string& url, auto... change) {
    PoolConfig config;
    config.url = url;
    (change(config), ...);
    return std::make_unique<Db>(config);
  }
  std::int64_t times(std::int64_t a) {
    return db_.db().read_now([&](Tx& tx) { return tx.one(kTimes, a)[0].i64(0); });
  }
  std::int64_t count() {
    return db_.db().read_now([](Tx& tx) { return tx.one(kCount)[0].i64(0); });
  }
  TestDb db_{false};
};

TEST_F(Faults, ALostConnectionIsReplacedInEveryMode) {
  Db& db = db_.db();
  for (std::int64_t i = 0; i < 5; ++i) {
    db_.cut_sessions();
    EXPECT_EQ(run(db.read([](Tx& tx) { return tx.one(kCount)[0].i64(0); })), i);
    db_.cut_sessions();
    EXPECT_EQ(run(db.snapshot([](Tx& tx) { return tx.one(kCount)[0].i64(0); })), i);
    db_.cut_sessions();
    run(db.write([&](Tx& tx) { tx.exec(kInsert, i); }));
  }
  EXPECT_EQ(count(), 5);
}

TEST_F(Faults, ACutInsideATransactionRunsItAgainAndWritesOnce) {
  Db& db = db_.db();
  int runs = 0;
  db.write_now([&](Tx& tx) {
    tx.exec(kInsert, std::int64_t{1});
    if (++runs == 1) db_.cut_sessions();
    tx.exec(kInsert, std::int64_t{2});
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(times(1), 1);
  EXPECT_EQ(times(2), 1);
}

TEST_F(Faults, AServerThatCutsEveryTimeIsUnavailableInTheEnd) {
  int runs = 0;
  EXPECT_EQ(slug_of([&] {
              db_.db().write_now([&](Tx& tx) {
                ++runs;
                tx.exec(kInsert, std::int64_t{1});
                db_.cut_sessions();
                tx.exec(kInsert, std::int64_t{2});
              });
            }),
            "database");
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(count(), 0);
}

// Two transactions take two rows in opposite order, and both have the first before they ask for the second.
TEST_F(Faults, ADeadlockIsRunAgain) {
  db_.script("insert into t values (1), (2)");
  constexpr Stmt kLock{"t.lock", "update t set a = a where a = $1"};
  std::latch both(2);
  std::atomic<int> runs{0};
  const auto take = [&](std::int64_t first, std::int64_t second) {
    bool waited = false;
    db_.db().write_now([&, first, second](Tx& tx) {
      ++runs;
      tx.exec(kLock, first);
      if (!std::exchange(waited, true)) both.arrive_and_wait();
      tx.exec(kLock, second);
    });
  };
  std::thread one([&] { take(1, 2); });
  std::thread two([&] { take(2, 1); });
  one.join();
  two.join();
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(count(), 2);
}

TEST_F(Faults, ASerializationFailureIsTriedThreeTimes) {
  db_.script(
      "create function lose() returns void language plpgsql as $$ begin"
      " raise exception using errcode = '40001'; end $$");
  constexpr Stmt kLose{"t.lose", "select lose()"};
  int runs = 0;
  EXPECT_EQ(slug_of([&] {
              db_.db().write_now([&](Tx& tx) {
                ++runs;
                tx.exec(kInsert, std::int64_t{runs});
                if (runs < 10) tx.exec(kLose);
              });
            }),
            "busy");
  EXPECT_EQ(runs, 3);
  runs = 8;
  db_.db().write_now([&](Tx& tx) {
    tx.exec(kInsert, std::int64_t{++runs});
    if (runs < 10) tx.exec(kLose);
  });
  EXPECT_EQ(count(), 1);
}

TEST_F(Faults, WaitingTooLongForALockOrAStatementIsBusy) {
  db_.script("insert into t values (1)");
  const auto db = open(db_.url(), [](PoolConfig& c) {
    c.lock_timeout_ms = 100;
    c.statement_timeout_ms = 300;
  });
  std::latch locked(1), release(1);
  std::thread holder([&] {
    db_.db().write_now([&](Tx& tx) {
      tx.script("lock table t");
      locked.count_down();
      release.wait();
    });
  });
  locked.wait();
  EXPECT_EQ(slug_of([&] { db->write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{2}); }); }), "busy");
  release.count_down();
  holder.join();
  constexpr Stmt kSleep{"t.sleep", "select pg_sleep(20)"};
  EXPECT_EQ(slug_of([&] { db->read_now([&](Tx& tx) { tx.exec(kSleep); }); }), "busy");
  db->write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{2}); });
  EXPECT_EQ(times(2), 1);
}

TEST_F(Faults, AFullQueueRefusesAtOnce) {
  const auto db = open(db_.url(), [](PoolConfig& c) {
    c.connections = 4;
    c.queue_max = 20;
  });
  constexpr Stmt kSleep{"t.sleep", "select pg_sleep(0.3)"};
  int answered = 0, refused = 0;
  boost::asio::io_context io(1);
  for (int i = 0; i < 200; ++i) {
    boost::asio::co_spawn(io, db->read([&](Tx& tx) { tx.exec(kSleep); }), [&](std::exception_ptr e) {
      if (!e) ++answered;
      if (e) {
        EXPECT_EQ(slug_of([&] { std::rethrow_exception(e); }), "busy");
        ++refused;
      }
    });
  }
  io.run();
  EXPECT_EQ(answered + refused, 200);
  EXPECT_GE(answered, 20);
  EXPECT_LE(answered, 4 + 20 + 4);  // threads may take some from the queue while the rest comes in
  db->close();
}

TEST_F(Faults, WithoutAServerEverybodyFailsAtOnceAndThePoolHealsByItself) {
  const auto db = open("host=/nowhere dbname=x");
  const auto start = Clock::now();
  int failed = 0;
  boost::asio::io_context io(1);
  for (int i = 0; i < 3000; ++i) {
    boost::asio::co_spawn(io, db->read([](Tx& tx) { tx.exec(kCount); }), [&](std::exception_ptr e) {
      failed += slug_of([&] { std::rethrow_exception(e); }) == "database" ? 1 : 0;
    });
  }
  io.run();
  EXPECT_EQ(failed, 3000);
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_FALSE(run(db->healthy()));

  DbProxy proxy(db_.url());
  const auto healing = open(proxy.url());
  EXPECT_TRUE(run(healing->healthy()));
  proxy.black_hole(true);
  db_.cut_sessions();
  EXPECT_EQ(slug_of([&] { healing->write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{1}); }); }),
            "database");
  EXPECT_FALSE(run(healing->healthy()));
  proxy.black_hole(false);
  bool back = false;
  for (int i = 0; i < 200 && !back; ++i) {
    std::this_thread::sleep_for(20ms);
    back = run(healing->healthy());
  }
  EXPECT_TRUE(back);
  healing->write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{2}); });
  EXPECT_EQ(times(1), 0);
  EXPECT_EQ(times(2), 1);
}

TEST_F(Faults, AServerThatFallsSilentDoesNotKeepTheCaller) {
  DbProxy proxy(db_.url());
  const auto db = open(proxy.url(), [](PoolConfig& c) {
    c.statement_timeout_ms = 200;
    c.connections = 1;
  });
  db->write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{1}); });
  proxy.black_hole(true);
  const auto start = Clock::now();
  EXPECT_EQ(slug_of([&] { db->read_now([](Tx& tx) { tx.exec(kCount); }); }), "database");
  EXPECT_LT(Clock::now() - start, 60s);
}

TEST_F(Faults, SlowStatementsDoNotMakeItUnhealthy) {
  const auto db = open(db_.url(), [](PoolConfig& c) { c.connections = 2; });
  constexpr Stmt kSleep{"t.sleep", "select pg_sleep(1.5)"};
  std::latch running(1);
  std::thread slow([&] {
    db->read_now([&](Tx& tx) {
      running.count_down();
      tx.exec(kSleep);
    });
  });
  running.wait();
  EXPECT_TRUE(run(db->healthy()));
  slow.join();
}

class UnknownCommit : public Faults, public ::testing::WithParamInterface<DbProxy::Cut> {};

// Whatever the moment of the cut: a success is there exactly once, and with a server that lives on there is
// no doubt.
TEST_P(UnknownCommit, IsDecidedByTheServer) {
  DbProxy proxy(db_.url());
  const auto db = open(proxy.url());
  db_.script(
      "create table if not exists server_life (singleton boolean primary key default true, "
      "id uuid not null default gen_random_uuid())");
  constexpr int kRounds = 40;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    proxy.arm(GetParam());
    int runs = 0;
    db->write_now([&](Tx& tx) {
      ++runs;
      tx.exec(kInsert, i);
    });
    EXPECT_EQ(times(i), 1) << "after " << runs << " runs";
    if (GetParam() == DbProxy::Cut::before_commit) EXPECT_EQ(runs, 2);
    if (GetParam() == DbProxy::Cut::after_commit) EXPECT_EQ(runs, 1);
  }
  EXPECT_EQ(proxy.cuts(), kRounds);
  EXPECT_EQ(count(), kRounds);
}

std::string cut_name(const ::testing::TestParamInfo<DbProxy::Cut>& info) {
  if (info.param == DbProxy::Cut::before_commit) return "BeforeCommit";
  return info.param == DbProxy::Cut::after_commit ? "AfterCommit" : "AtCommit";
}
INSTANTIATE_TEST_SUITE_P(Cuts, UnknownCommit,
                         ::testing::Values(DbProxy::Cut::before_commit, DbProxy::Cut::after_commit,
                                           DbProxy::Cut::at_commit),
                         cut_name);

// Without the table that tells crashes apart, "committed" is not believed.
TEST_F(Faults, ACommitThatCannotBeDecidedIsSaidToBeUnknown) {
  DbProxy proxy(db_.url());
  const auto db = open(proxy.url());
  proxy.arm(DbProxy::Cut::after_commit);
  EXPECT_EQ(slug_of([&] { db->write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{1}); }); }),
            "unknown_commit");
  proxy.arm(DbProxy::Cut::before_commit);
  db->write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{2}); });
  EXPECT_EQ(times(2), 1);
}

TEST_F(Faults, ATransactionThatOnlyReadIsRunAgainAfterALostCommit) {
  DbProxy proxy(db_.url());
  const auto db = open(proxy.url());
  proxy.arm(DbProxy::Cut::after_commit);
  int runs = 0;
  EXPECT_EQ(db->write_now([&](Tx& tx) {
    ++runs;
    return tx.one(kCount)[0].i64(0);
  }),
            0);
  EXPECT_EQ(runs, 2);
}

TEST_F(Faults, ClosingFailsWhatIsQueuedAndFinishesWhatRuns) {
  const auto db = open(db_.url(), [](PoolConfig& c) { c.connections = 1; });
  constexpr Stmt kSlow{"t.slow", "insert into t select 1 from pg_sleep(0.2)"};
  std::latch running(1);
  std::string queued;
  std::thread first([&] {
    db->write_now([&](Tx& tx) {
      running.count_down();
      tx.exec(kSlow);
    });
  });
  running.wait();
  std::thread second(
      [&] { queued = slug_of([&] { db->write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{2}); }); }); });
  std::this_thread::sleep_for(50ms);
  db->close();
  first.join();
  second.join();
  EXPECT_EQ(times(1), 1);
  EXPECT_EQ(queued, "database");
  EXPECT_EQ(slug_of([&] { db->read_now([](Tx&) {}); }), "database");
}

// Statistics come late (autovacuum), so the size of the table has to be enough for a plan to follow it.
TEST_F(Faults, PlansFollowATableThatGrows) {
  const auto db = open(db_.url(), [](PoolConfig& c) { c.connections = 1; });
  db->write_now([](Tx& tx) {
    tx.script("create table grown (id bigint primary key) with (autovacuum_enabled = false)");
    tx.script("insert into grown values (1)");
    tx.script("analyze grown");
  });
  constexpr Stmt kByKey{"test.by_key", "select id from grown where id = $1"};
  constexpr Stmt kScans{
      "test.scans",
      "select seq_scan from pg_stat_user_tables, pg_stat_force_next_flush() where relname = 'grown'"};
  const auto scans = [&] {
    db->read_now([&](Tx& tx) {
      for (std::int64_t i = 0; i < 20; ++i) tx.exec(kByKey, i);
    });
    db->read_now([&](Tx& tx) { tx.exec(kScans); });
    return db->read_now([&](Tx& tx) { return tx.one(kScans)[0].i64(0); });
  };
  EXPECT_GT(scans(), 10) << "a table of one page is read whole: else this test shows nothing";
  db->write_now([](Tx& tx) { tx.script("insert into grown select generate_series(2, 20000)"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  scans();  // the plans are renewed behind it
  const auto before = scans();
  EXPECT_EQ(scans(), before);
}

}  // namespace
}  // namespace welkin::db
