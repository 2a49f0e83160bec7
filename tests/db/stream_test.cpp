#include <gtest/gtest.h>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <numeric>
#include <thread>

#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/page_stream.hpp"

namespace welkin::db {
namespace {

namespace asio = boost::asio;
using tests::run;
using tests::TestDb;

constexpr Stmt kPage{"t.page", "select a, b from t where a > $1 order by a limit $2"};
constexpr Stmt kAll{"t.all", "select a, b from t where a > $1 order by a"};
constexpr Stmt kSessions{"t.sessions",
                         "select count(*) from pg_stat_activity where datname = current_database()"
                         " and pid <> pg_backend_pid() and state like 'idle in transaction%'"};

Task<> pause(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor> timer(
      co_await asio::this_coro::executor);
  timer.expires_after(time);
  co_await timer.async_wait(asio::use_awaitable_t<Executor>());
}

Params after(const Row* last) { return Params(last != nullptr ? last->i64(0) : std::int64_t{0}); }

class Streams : public ::testing::Test {
 public:
  Streams() { db_.script("create table t (a int8 primary key, b text)"); }
  void fill(int rows) {
    db_.script("insert into t select i, 'name ' || i from generate_series(1, " + std::to_string(rows) +
               ") i");
  }
  Db& db() { return db_.db(); }
  std::int64_t open_cursors() {
    return db().read_now([](Tx& tx) { return tx.one(kSessions)[0].i64(0); });
  }

  template <class Stream>
  static Task<std::vector<int>> sizes(Stream& stream) {
    std::vector<int> out;
    std::int64_t expected = 1;
    while (auto rows = co_await stream.next()) {
      out.push_back(rows->size());
      for (const auto row : *rows) EXPECT_EQ(row.i64(0), expected++);
    }
    co_return out;
  }
  TestDb db_{false};
};

TEST_F(Streams, PagesComeInOrderWithoutGaps) {
  fill(1000);
  PageStream stream(db(), kPage, after, {.first_rows = 10, .page_rows = 300});
  EXPECT_EQ(run(sizes(stream)), (std::vector<int>{10, 300, 300, 300, 90}));
  EXPECT_EQ(run(stream.next()), std::nullopt);
}

TEST_F(Streams, AnEmptyListAndAFullLastPage) {
  PageStream none(db(), kPage, after);
  EXPECT_TRUE(run(sizes(none)).empty());
  fill(30);
  PageStream full(db(), kPage, after, {.first_rows = 10, .page_rows = 20});
  EXPECT_EQ(run(sizes(full)), (std::vector<int>{10, 20}));
}

TEST_F(Streams, TheNextPageIsOnItsWayWhileThisOneIsRead) {
  fill(30);
  PageStream stream(db(), kPage, after, {.first_rows = 10, .page_rows = 20});
  const auto rows = run([](PageStream& s, TestDb& db) -> Task<int> {
    co_await s.start();
    co_await s.start();
    co_await s.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // a reader at work: the loop has no turn
    db.script("delete from t");
    const auto second = co_await s.next();
    co_return second ? second->size() : 0;
  }(stream, db_));
  EXPECT_EQ(rows, 20);
}

TEST_F(Streams, TheNextPageIsAskedBeforeThisOneIsRead) {
  fill(30);
  PageStream stream(db(), kPage, after, {.first_rows = 10, .page_rows = 10});
  const auto last = run([](PageStream& s, TestDb& db) -> Task<std::int64_t> {
    co_await s.next();
    co_await pause(std::chrono::milliseconds(200));
    db.script("delete from t");  // too late for the second page
    const auto second = co_await s.next();
    co_return second ? (*second)[second->size() - 1].i64(0) : 0;
  }(stream, db_));
  EXPECT_EQ(last, 20);
}

TEST_F(Streams, AFailureIsNoEndOfTheList) {
  PageStream stream(db(), {"t.bad", "select 1 / (1 - $2::int8) from t"}, [](const Row*) { return Params(1); },
                    {.first_rows = 1});
  fill(1);
  EXPECT_THROW(run(stream.next()), SqlError);
  EXPECT_THROW(run(stream.next()), SqlError);
}

TEST_F(Streams, APageStreamThatIsDroppedEarlyIsHarmless) {
  fill(100);
  run([](Db& db) -> Task<> {
    for (int i = 0; i < 20; ++i) {
      PageStream stream(db, kPage, after, {.first_rows = 5, .page_rows = 5});
      co_await stream.next();
    }
  }(db()));
}

TEST_F(Streams, ACursorGivesTheSamePages) {
  fill(1000);
  CursorStream stream(db(), kAll, Params(std::int64_t{0}), 10, 300);
  EXPECT_EQ(run(sizes(stream)), (std::vector<int>{10, 300, 300, 300, 90}));
  EXPECT_EQ(run(stream.next()), std::nullopt);
  EXPECT_EQ(open_cursors(), 0);
}

TEST_F(Streams, ACursorIsOneSnapshot) {
  fill(100);
  CursorStream stream(db(), kAll, Params(std::int64_t{0}), 10, 10);
  const auto seen = run([](CursorStream& s, TestDb& db) -> Task<std::vector<int>> {
    co_await s.next();
    db.script("delete from t");
    std::vector<int> out;
    while (auto rows = co_await s.next()) out.push_back(rows->size());
    co_return out;
  }(stream, db_));
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 90);
}

TEST_F(Streams, ACursorThatIsDroppedEarlyGivesItsConnectionBack) {
  fill(1000);
  run([](Db& db) -> Task<> {
    for (int i = 0; i < 20; ++i) {  // more than may be lent at once
      CursorStream stream(db, kAll, Params(std::int64_t{0}), 5, 5);
      co_await stream.next();
      if (i % 2 == 0) co_await pause(std::chrono::milliseconds(20));
      for (int wait = 0; i % 2 != 0 && wait < 3; ++wait) co_await stream.next();
    }
    co_await pause(std::chrono::milliseconds(100));
  }(db()));
  EXPECT_EQ(open_cursors(), 0);
}

TEST_F(Streams, AStalledReaderLosesTheCursorAndIsTold) {
  fill(100);
  CursorStream stream(db(), kAll, Params(std::int64_t{0}), 10, 10, 50);
  run([](CursorStream& s, Streams& t) -> Task<> {
    co_await s.next();
    co_await pause(std::chrono::milliseconds(400));
    EXPECT_EQ(t.open_cursors(), 0);
    for (int i = 0; i < 2; ++i) {
      std::string slug;
      try {
        co_await s.next();
      } catch (const Error& e) {
        slug = e.slug();
      }
      EXPECT_EQ(slug, "cursor_expired");
    }
  }(stream, *this));
}

TEST_F(Streams, OnlySoManyCursorsAreLent) {
  fill(100);
  run([](Db& db) -> Task<> {
    std::vector<std::unique_ptr<CursorStream>> open;
    std::string slug;
    for (int i = 0; i < 9 && slug.empty(); ++i) {
      open.push_back(std::make_unique<CursorStream>(db, kAll, Params(std::int64_t{0}), 5, 5));
      try {
        co_await open.back()->next();
      } catch (const Error& e) {
        slug = e.slug();
      }
    }
    EXPECT_EQ(slug, "busy");
    EXPECT_EQ(open.size(), 9u);
  }(db()));
}

TEST_F(Streams, AnIdleCursorConnectionMayHaveDied) {
  fill(50);
  for (int i = 0; i < 3; ++i) {
    CursorStream stream(db(), kAll, Params(std::int64_t{0}), 10, 20);
    EXPECT_EQ(run(sizes(stream)), (std::vector<int>{10, 20, 20}));
    db_.cut_sessions();
  }
}

TEST_F(Streams, ACursorCutInTheMiddleIsUnavailableNotShort) {
  fill(100);
  CursorStream stream(db(), kAll, Params(std::int64_t{0}), 10, 10);
  std::string slug;
  run([](CursorStream& s, TestDb& db, std::string& out) -> Task<> {
    co_await s.next();
    co_await pause(std::chrono::milliseconds(100));
    db.cut_sessions();
    try {
      while (co_await s.next()) {
      }
    } catch (const Error& e) {
      out = e.slug();
    }
  }(stream, db_, slug));
  EXPECT_EQ(slug, "database");
}

TEST_F(Streams, ErrorsOfTheStatementTravel) {
  CursorStream stream(db(), {"t.wrong", "select nothing from nowhere"}, Params());
  EXPECT_THROW(run(stream.next()), SqlError);
}

}  // namespace
}  // namespace welkin::db
