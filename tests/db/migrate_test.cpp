#include "welkin/db/migrate.hpp"

#include <gtest/gtest.h>

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

TEST(Migrate, TheBundleMakesTheTablesAndIsDoneOnce) {
  TestDb db(false);
  const auto first = migrate(db.url(), bundled_migrations(), bundled_functions());
  EXPECT_EQ(first.size(), bundled_migrations().size());
  EXPECT_TRUE(migrate(db.url(), bundled_migrations(), bundled_functions()).empty());
  constexpr Stmt kTables{"t.tables",
                         "select to_regclass('users') is not null and to_regproc('now_us') is not null"};
  EXPECT_TRUE(db.db().read_now([&](Tx& tx) { return tx.one(kTables)[0].boolean(0); }));
}

}  // namespace
}  // namespace welkin::db
