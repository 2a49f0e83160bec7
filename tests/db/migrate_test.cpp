#include "welkin/db/migrate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "db/child.hpp"
#include "support/test_db.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {
namespace {

using tests::TestDb;

TEST(Split, KnowsQuotesDollarsAndComments) {
  EXPECT_EQ(split_statements("a; b;\n\n c"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(split_statements("select ';'';'; b"), (std::vector<std::string>{"select ';'';'", "b"}));
  EXPECT_EQ(split_statements(R"(select e'\';'; b)"), (std::vector<std::string>{R"(select e'\';')", "b"}));
  EXPECT_EQ(split_statements(R"(select '\'; b)"), (std::vector<std::string>{R"(select '\')", "b"}));
  EXPECT_EQ(split_statements("select \";\"; b"), (std::vector<std::string>{"select \";\"", "b"}));
  EXPECT_EQ(split_statements("do $$ begin; end $$; b"),
            (std::vector<std::string>{"do $$ begin; end $$", "b"}));
  EXPECT_EQ(split_statements("do $x$ ; $$ ; $x$; b"), (std::vector<std::string>{"do $x$ ; $$ ; $x$", "b"}));
  EXPECT_EQ(split_statements("select $1; b"), (std::vector<std::string>{"select $1", "b"}));
  EXPECT_EQ(split_statements("select a$b$; c"), (std::vector<std::string>{"select a$b$", "c"}));
  EXPECT_EQ(split_statements("-- x; y\na -- ; \n b; c"), (std::vector<std::string>{"a -- ; \n b", "c"}));
  EXPECT_EQ(split_statements("/* ; /* ; */ ; */ a; b"), (std::vector<std::string>{"a", "b"}));
}

TEST(Split, EmptyAndUnfinishedScripts) {
  EXPECT_TRUE(split_statements("").empty());
  EXPECT_TRUE(split_statements(" ;; \n -- nothing\n /* ; */").empty());
  for (const auto* cut : {"select 'a", "select \"a", "do $$ a", "/* a", "-- a", "select e'\\", "$", "$x"}) {
    EXPECT_LE(split_statements(cut).size(), 1u) << cut;
  }
}

/// What a set of migrations has made, as one text: tables, columns, indexes, functions, rows and what is
/// noted as done.
constexpr Stmt kFingerprint{"t.fingerprint", R"(
  select string_agg(line, chr(10) order by line) from (
    select format('column %s.%s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod)) line
      from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped and relkind in ('r', 'i')
    union all select format('index %s valid %s', indexrelid::regclass, indisvalid) from pg_index
      join pg_class on pg_class.oid = indexrelid where relnamespace = 'public'::regnamespace
    union all select format('function %s %s', oid::regprocedure, prosrc) from pg_proc
     where pronamespace = 'public'::regnamespace and prolang <> (select oid from pg_language where lanname = 'c')
    union all select format('done %s %s %s', id, step, finished_at is not null) from schema_migrations
    union all select format('functions %s', id) from schema_functions) x)"};

std::string fingerprint(TestDb& db) {
  return db.db().read_now([](Tx& tx) { return tx.one(kFingerprint)[0].str(0); });
}

// Ends its own session when the count of these statements reaches `kill_at`; a sequence counts on through
// rollbacks.
constexpr const char* kTrap =
    "do $$ begin if nextval('traps') = (select kill_at from trap) then"
    "  perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); end if; end $$;\n";

std::string with_traps(const std::string& script, int& traps) {
  std::string out;
  if (script.starts_with("-- welkin: no-transaction")) out = "-- welkin: no-transaction\n";
  out += kTrap;
  ++traps;
  for (const auto& statement : split_statements(script)) {
    out += statement + ";\n" + kTrap;
    ++traps;
  }
  return out;
}

/// One of each kind: in a transaction, step by step with indexes made concurrently and a backfill, functions.
std::vector<Migration> some_migrations() {
  return {{"202601010000_a",
           "create table a (id int primary key, v int);"
           "insert into a select i, i % 10 from generate_series(1, 100) i;"
           "create index a_v on a (v)"},
          {"202601010001_b",
           "-- welkin: no-transaction\n"
           "create index concurrently a_id_v on a (id, v);"
           "update a set v = 0 where id <= 50 and v <> 0;"
           "create unique index concurrently if not exists a_unique on a (id, v)"},
          {"202601010002_c", "alter table a add column w text not null default 'x'; drop index a_v"}};
}
std::vector<Migration> some_functions() {
  return {{"f",
           "create or replace function f() returns int language sql as $$ select 1; $$;"
           "create or replace function g() returns int language sql as $$ select f() $$"},
          {"h", "create or replace function h() returns int language sql as $$ select 2 $$"}};
}

/// Runs until it is through; each cut-off run must say that the database went away, nothing else.
int migrate_through(const std::string& url, const std::vector<Migration>& migrations,
                    const std::vector<Migration>& functions) {
  for (int cut_off = 0;; ++cut_off) {
    try {
      migrate(url, migrations, functions);
      return cut_off;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::unavailable);
      if (cut_off == 5) throw;
    }
  }
}

void arm_trap(TestDb& db, int kill_at) {
  db.script("create table trap (kill_at int); insert into trap values (" + std::to_string(kill_at) +
            "); create sequence traps");
}
void remove_trap(TestDb& db) { db.script("drop table trap; drop sequence traps"); }

TEST(Migrate, TheBundleMakesTheTablesAndIsDoneOnce) {
  TestDb db(false);
  const auto first = migrate(db.url(), bundled_migrations(), bundled_functions());
  EXPECT_EQ(first.size(), bundled_migrations().size());
  EXPECT_TRUE(migrate(db.url(), bundled_migrations(), bundled_functions()).empty());
  constexpr Stmt kTables{"t.tables",
                         "select to_regclass('users') is not null and to_regproc('now_us') is not null"};
  EXPECT_TRUE(db.db().read_now([&](Tx& tx) { return tx.one(kTables)[0].boolean(0); }));
}

TEST(Migrate, CutOffBehindAnyStatementItResumes) {
  auto migrations = some_migrations();
  auto functions = some_functions();
  int traps = 0;
  for (auto& m : migrations) m.sql = with_traps(m.sql, traps);
  for (auto& f : functions) f.sql = with_traps(f.sql, traps);
  std::string straight;
  for (int kill_at = 0; kill_at <= traps; ++kill_at) {  // 0: never
    TestDb db(false);
    arm_trap(db, kill_at);
    EXPECT_EQ(migrate_through(db.url(), migrations, functions), kill_at == 0 ? 0 : 1) << kill_at;
    remove_trap(db);
    const auto made = fingerprint(db);
    if (kill_at == 0) straight = made;
    EXPECT_EQ(made, straight) << "cut off at statement " << kill_at;
  }
}

TEST(Migrate, TheBundleSurvivesCutsToo) {
  auto migrations = bundled_migrations();
  auto functions = bundled_functions();
  int traps = 0;
  for (auto& m : migrations) m.sql = with_traps(m.sql, traps);
  for (auto& f : functions) f.sql = with_traps(f.sql, traps);
  std::string straight;
  for (const int kill_at : {0, 1, traps / 4, traps / 2, traps * 3 / 4, traps}) {
    TestDb db(false);
    arm_trap(db, kill_at);
    EXPECT_EQ(migrate_through(db.url(), migrations, functions), kill_at == 0 ? 0 : 1) << kill_at;
    remove_trap(db);
    const auto made = fingerprint(db);
    if (kill_at == 0) straight = made;
    EXPECT_EQ(made, straight) << "cut off at statement " << kill_at;
  }
}

TEST(Migrate, AProcessKilledAtAnyMomentIsResumed) {
  TestDb whole;
  const auto straight = fingerprint(whole);
  for (const int ms : {20, 60, 100, 160, 240, 350}) {
    TestDb db(false);
    {
      tests::Child child({"migrate", db.url()});
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    }
    migrate(db.url(), bundled_migrations(), bundled_functions());
    EXPECT_EQ(fingerprint(db), straight) << "killed after " << ms << " ms";
  }
}

TEST(Migrate, SeveralAtOnceDoItOnce) {
  TestDb db(false);
  std::atomic<std::size_t> applied{0};
  std::vector<std::thread> servers;
  for (int i = 0; i < 4; ++i) {
    servers.emplace_back([&] { applied += migrate(db.url(), some_migrations(), some_functions()).size(); });
  }
  for (auto& server : servers) server.join();
  EXPECT_EQ(applied, some_migrations().size());
}

TEST(Migrate, ANewerDatabaseIsRefusedAndLeftAlone) {
  TestDb db(false);
  auto newer = some_migrations();
  newer.push_back({"202701010000_future", "create table future (a int)"});
  migrate(db.url(), newer, {});
  const auto before = fingerprint(db);
  try {
    migrate(db.url(), some_migrations(), some_functions());
    FAIL();
  } catch (const std::runtime_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("newer Welkin"), std::string::npos) << what;
    EXPECT_NE(what.find("202701010000_future"), std::string::npos) << what;
  }
  EXPECT_EQ(fingerprint(db), before);
}

TEST(Migrate, AFailureNamesTheStatementAndLeavesNothing) {
  TestDb db(false);
  migrate(db.url(), some_migrations(), {});
  const auto before = fingerprint(db);
  auto more = some_migrations();
  more.push_back({"202601010003_bad", "create table b (a int); insert into b values (1); select nonsense"});
  try {
    migrate(db.url(), more, {});
    FAIL();
  } catch (const std::runtime_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("202601010003_bad, statement 3"), std::string::npos) << what;
    EXPECT_NE(what.find("nonsense"), std::string::npos) << what;
  }
  EXPECT_EQ(fingerprint(db), before);
}

// CREATE UNIQUE INDEX CONCURRENTLY that fails, or is cut off, leaves an invalid index of that name behind.
TEST(Migrate, AnInvalidIndexIsMadeAnew) {
  TestDb db(false);
  auto migrations = some_migrations();
  migrations.push_back(
      {"202601010003_u", "-- welkin: no-transaction\ncreate unique index concurrently u on a (v)"});
  EXPECT_THROW(migrate(db.url(), migrations, {}), std::runtime_error);
  EXPECT_NE(fingerprint(db).find("index u valid f"), std::string::npos);
  db.script("delete from a where id > 1");
  migrate(db.url(), migrations, {});
  EXPECT_NE(fingerprint(db).find("index u valid t"), std::string::npos);
}

TEST(Migrate, FunctionsRunAgainOnlyWhenTheirTextChanged) {
  TestDb db(false);
  db.script("create table runs (n int)");
  std::vector<Migration> functions{{"count", "insert into runs values (1)"}};
  constexpr Stmt kRuns{"t.runs", "select count(*) from runs"};
  const auto runs = [&] { return db.db().read_now([&](Tx& tx) { return tx.one(kRuns)[0].i64(0); }); };
  for (int i = 0; i < 3; ++i) migrate(db.url(), {}, functions);
  EXPECT_EQ(runs(), 1);
  functions[0].sql += " -- changed";
  for (int i = 0; i < 3; ++i) migrate(db.url(), {}, functions);
  EXPECT_EQ(runs(), 2);
}

TEST(Migrate, NoServerIsUnavailable) {
  try {
    migrate("host=/nowhere dbname=x", {}, {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::unavailable);
  }
}

TEST(Migrate, AnotherEncodingIsRefused) {
  TestDb db(false);
  const std::string latin = "welkin_latin_" + std::to_string(getpid());
  db.script("create database " + latin + " template template0 encoding 'LATIN1' locale 'C'");
  std::string what;
  try {
    migrate(tests::with_database(db.url(), latin), {}, {});
  } catch (const std::runtime_error& e) {
    what = e.what();
  }
  db.script("drop database " + latin + " with (force)");
  EXPECT_NE(what.find("UTF8"), std::string::npos) << what;
}

}  // namespace
}  // namespace welkin::db
