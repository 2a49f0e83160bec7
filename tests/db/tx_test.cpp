#include <gtest/gtest.h>

#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {
namespace {

using tests::run;
using tests::TestDb;

constexpr Stmt kCount{"t.count", "select count(*) from t"};
constexpr Stmt kInsert{"t.insert", "insert into t values ($1)"};

class Transactions : public ::testing::Test {
 protected:
  Transactions() { db_.script("create table t (a int8 primary key)"); }
  std::int64_t count() {
    return db().read_now([](Tx& tx) { return tx.one(kCount)[0].i64(0); });
  }
  Db& db() { return db_.db(); }
  TestDb db_{false};
};

TEST_F(Transactions, WriteCommitsAndGivesTheResult) {
  const auto n = run(db().write([](Tx& tx) {
    tx.exec(kInsert, std::int64_t{1});
    tx.exec(kInsert, std::int64_t{2});
    return tx.one(kCount)[0].i64(0);
  }));
  EXPECT_EQ(n, 2);
  EXPECT_EQ(count(), 2);
}

TEST_F(Transactions, AnExceptionRollsBackAndTravels) {
  EXPECT_THROW(run(db().write([](Tx& tx) {
                 tx.exec(kInsert, std::int64_t{1});
                 throw Error(Errc::conflict, "name_taken", "no");
               })),
               Error);
  EXPECT_EQ(count(), 0);
}

TEST_F(Transactions, UniqueViolationTellsTheConstraint) {
  db().write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{1}); });
  try {
    db().write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{1}); });
    FAIL();
  } catch (const SqlError& e) {
    EXPECT_TRUE(e.unique_violation());
    EXPECT_EQ(e.constraint(), "t_pkey");
  }
  db().write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{2}); });  // the connection is as good as new
  EXPECT_EQ(count(), 2);
}

TEST_F(Transactions, OurOwnCodesComeWithTheirSlug) {
  db_.script(
      "create function f() returns void language plpgsql as $$ begin"
      " raise exception using errcode = 'WN404', message = 'parent_gone'; end $$");
  constexpr Stmt kCall{"t.call", "select f()"};
  try {
    db().write_now([&](Tx& tx) { tx.exec(kCall); });
    FAIL();
  } catch (const SqlError& e) {
    EXPECT_EQ(e.sqlstate(), "WN404");
    EXPECT_EQ(e.message(), "parent_gone");
  }
}

TEST_F(Transactions, ASwallowedErrorNeverLooksLikeACommit) {
  EXPECT_THROW(db().write_now([](Tx& tx) {
    tx.exec(kInsert, std::int64_t{1});
    try {
      tx.exec(kInsert, std::int64_t{1});
    } catch (const SqlError&) {
    }
  }),
               std::logic_error);
  EXPECT_EQ(count(), 0);
}

TEST_F(Transactions, SnapshotSeesOneMomentAndCannotWrite) {
  const auto [before, after] = db().read_now([&](Tx&) { return std::pair(0, 0); });
  EXPECT_EQ(before, after);
  const auto same = run(db().snapshot([&](Tx& tx) {
    const auto first = tx.one(kCount)[0].i64(0);
    db_.script("insert into t values (77)");
    return first == tx.one(kCount)[0].i64(0);
  }));
  EXPECT_TRUE(same);
  EXPECT_EQ(count(), 1);
  EXPECT_THROW(run(db().snapshot([](Tx& tx) { tx.exec(kInsert, std::int64_t{5}); })), SqlError);
}

TEST_F(Transactions, ReadSeesWhatOthersCommitMeanwhile) {
  const auto [first, second] = run(db().read([&](Tx& tx) {
    const auto before = tx.one(kCount)[0].i64(0);
    db_.script("insert into t values (77)");
    return std::pair(before, tx.one(kCount)[0].i64(0));
  }));
  EXPECT_EQ(first + 1, second);
}

TEST_F(Transactions, ScriptTakesPartInTheTransaction) {
  EXPECT_THROW(db().write_now([](Tx& tx) {
    tx.script("insert into t values (1); insert into t values (2)");
    throw Error(Errc::conflict, "x", "x");
  }),
               Error);
  EXPECT_EQ(count(), 0);
  db().write_now([](Tx& tx) { tx.script("insert into t values (1); insert into t values (2)"); });
  EXPECT_EQ(count(), 2);
  EXPECT_THROW(db().write_now([](Tx& tx) { tx.script("insert into t values (3); select 1/0"); }), SqlError);
  EXPECT_EQ(count(), 2);
}

TEST_F(Transactions, AJobThatRunsNoStatementCostsNothing) {
  EXPECT_EQ(run(db().write([](Tx&) { return 7; })), 7);
}

TEST_F(Transactions, DeferredConstraintsFailAtCommit) {
  db_.script("create table c (a int8 references t deferrable initially deferred)");
  constexpr Stmt kChild{"t.child", "insert into c values ($1)"};
  EXPECT_THROW(db().write_now([&](Tx& tx) { tx.exec(kChild, std::int64_t{9}); }), SqlError);
  db().write_now([&](Tx& tx) {
    tx.exec(kChild, std::int64_t{9});
    tx.exec(kInsert, std::int64_t{9});
  });
}

TEST_F(Transactions, AFailedPrepareCanBeRepaired) {
  constexpr Stmt kLate{"t.late", "select a from late"};
  db().read_now([&](Tx& tx) {
    EXPECT_THROW(tx.exec(kLate), SqlError);
    EXPECT_THROW(tx.exec(kLate), SqlError);
    tx.script("create table late (a int8)");
    EXPECT_EQ(tx.exec(kLate).size(), 0);
  });
}

TEST_F(Transactions, TwoStatementsMayNotShareAName) {
  constexpr Stmt kOther{"t.count", "select 1"};
  db().read_now([&](Tx& tx) {
    tx.exec(kCount);
    EXPECT_THROW(tx.exec(kOther), std::logic_error);
    EXPECT_EQ(tx.exec(kCount).size(), 1);
  });
}

TEST_F(Transactions, AChangedTableMakesNoStalePlan) {
  constexpr Stmt kAll{"t.all", "select * from t"};
  for (int i = 0; i < 8; ++i) db().read_now([&](Tx& tx) { tx.exec(kAll); });
  db_.script("alter table t add column b text");
  for (int i = 0; i < 8; ++i) db().read_now([&](Tx& tx) { tx.exec(kAll); });
}

TEST_F(Transactions, AJobMayNotWaitForAnotherOne) {
  EXPECT_THROW(db().read_now([&](Tx&) { db().read_now([](Tx&) {}); }), std::logic_error);
}

}  // namespace
}  // namespace welkin::db
