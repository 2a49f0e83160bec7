#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/test_db.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {
namespace {

using tests::TestDb;
using Limits = std::numeric_limits<std::int64_t>;

class ParamsRows : public ::testing::Test {
 protected:
  template <class F>
  void in(F f) {
    db_.db().read_now([&](Tx& tx) { f(tx); });
  }
  TestDb db_{false};
};

TEST_F(ParamsRows, NumbersTravelBothWays) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.numbers", "select $1::int2, $2::int4, $3::int8, $4::bool, $5::int8"};
    const auto rows = tx.one(kEcho, std::int16_t{-7}, std::numeric_limits<std::int32_t>::min(), Limits::max(),
                             true, NodeId{42});
    const auto row = rows[0];
    EXPECT_EQ(row.i16(0), -7);
    EXPECT_EQ(row.i64(0), -7);
    EXPECT_EQ(row.i32(1), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(row.i64(2), Limits::max());
    EXPECT_TRUE(row.boolean(3));
    EXPECT_EQ(row.id<NodeId>(4), NodeId{42});
  });
}

TEST_F(ParamsRows, BytesKeepTheirNuls) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.bytes", "select $1::bytea, $2::uuid, $3::bytea, length($1::bytea)"};
    const Bytes bytes{std::byte{0}, std::byte{255}, std::byte{0}};
    const Uuid uuid{1, 2, 3, 0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255};
    const auto rows = tx.one(kEcho, bytes, uuid, Bytes{});
    EXPECT_TRUE(std::ranges::equal(rows[0].bytes(0), bytes));
    EXPECT_EQ(rows[0].uuid(1), uuid);
    EXPECT_TRUE(rows[0].bytes(2).empty());
    EXPECT_EQ(rows[0].i32(3), 3);
  });
}

TEST_F(ParamsRows, TextIsTypedByTheServer) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.text", "select $1::text, $2::timestamptz, $3::jsonb, 'x'::name, '\"y\"'::json"};
    const std::string name = "Grüße 🌍 \"';--";
    const auto rows = tx.one(kEcho, name, "2026-11-30 10:07:52.000001+00", std::string(R"({"a":1})"));
    EXPECT_EQ(rows[0].str(0), name);
    EXPECT_EQ(rows[0].timestamp(1), 1'796'033'272'000'001);
    EXPECT_EQ(rows[0].text(2), R"({"a": 1})");
    EXPECT_EQ(rows[0].text(3), "x");
    EXPECT_EQ(rows[0].text(4), "\"y\"");
  });
}

TEST_F(ParamsRows, TimesAtTheEndsOfTheCalendar) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.times",
                         "select 'epoch'::timestamptz, 'infinity'::timestamptz, '-infinity'::timestamptz,"
                         " '1969-12-31 23:59:59+00'::timestamptz, null::timestamptz"};
    const auto rows = tx.one(kEcho);
    EXPECT_EQ(rows[0].timestamp(0), 0);
    EXPECT_EQ(rows[0].timestamp(1), Limits::max());
    EXPECT_EQ(rows[0].timestamp(2), Limits::min());
    EXPECT_EQ(rows[0].timestamp(3), -1'000'000);
    EXPECT_EQ(rows[0].opt_timestamp(4), std::nullopt);
  });
}

TEST_F(ParamsRows, ArraysTravelBothWays) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.arrays",
                         "select $1::int8[], $2::int4[], $3::text[], $4::int8[], cardinality($5::bytea[]),"
                         " cardinality($6::uuid[]), $7::int2[], octet_length(($5::bytea[])[2])"};
    const std::vector<std::int64_t> numbers{1, -2, Limits::min()};
    const std::vector<std::string> names{"a", "", "ü,{}\"\\", "NULL"};
    const auto rows =
        tx.one(kEcho, numbers, std::vector<std::int32_t>{5, 6}, names, std::vector<std::int64_t>{},
               std::vector<Bytes>{Bytes(3), Bytes(4)}, std::vector<Uuid>(3), std::vector<std::int16_t>{-1});
    EXPECT_EQ(rows[0].i64_array(0), numbers);
    EXPECT_EQ(rows[0].i64_array(1), (std::vector<std::int64_t>{5, 6}));
    EXPECT_EQ(rows[0].text_array(2), names);
    EXPECT_TRUE(rows[0].i64_array(3).empty());
    EXPECT_EQ(rows[0].i32(4), 2);
    EXPECT_EQ(rows[0].i32(5), 3);
    EXPECT_EQ(rows[0].i64_array(6), (std::vector<std::int64_t>{-1}));
    EXPECT_EQ(rows[0].i32(7), 4);
  });
}

TEST_F(ParamsRows, NullsAndTheirStatementsWithOtherTypes) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.nulls", "select $1::int8, $2::text"};
    // The null comes first: the server chooses the type, and the same statement must then still take an int8.
    const auto none = tx.one(kEcho, std::optional<std::int64_t>(), std::optional<std::string>());
    EXPECT_TRUE(none[0].is_null(0));
    EXPECT_EQ(none[0].opt_i64(0), std::nullopt);
    EXPECT_EQ(none[0].opt_str(1), std::nullopt);
    EXPECT_EQ(none[0].id<UserId>(0), UserId{});
    const auto some = tx.one(kEcho, std::optional<std::int64_t>(9), std::optional<std::string>("x"));
    EXPECT_EQ(some[0].opt_i64(0), 9);
    EXPECT_EQ(some[0].opt_str(1), "x");
    const auto narrow = tx.one(kEcho, std::int32_t{7}, "y");
    EXPECT_EQ(narrow[0].i64(0), 7);
  });
}

TEST_F(ParamsRows, FloatsAndExtremes) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.floats", "select 0.5::float8, (-2.25)::float4, 'NaN'::float8"};
    const auto rows = tx.one(kEcho);
    EXPECT_EQ(rows[0].f64(0), 0.5);
    EXPECT_EQ(rows[0].f64(1), -2.25);
    EXPECT_TRUE(std::isnan(rows[0].f64(2)));
  });
}

TEST_F(ParamsRows, WrongReadsAreProgrammingErrors) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.wrong",
                         "select 1::int8, 'a'::text, null::int8, array[1,null]::int8[], array[[1],[2]]"};
    const auto rows = tx.one(kEcho);
    EXPECT_THROW(rows[0].i32(0), std::logic_error);
    EXPECT_THROW(rows[0].text(0), std::logic_error);
    EXPECT_THROW(rows[0].i64(1), std::logic_error);
    EXPECT_THROW(rows[0].i64(2), std::logic_error);
    EXPECT_THROW(rows[0].i64(99), std::logic_error);
    EXPECT_THROW(rows[0].i64(-1), std::logic_error);
    EXPECT_THROW(rows[0].i64_array(3), std::logic_error);
    EXPECT_THROW(rows[0].i64_array(4), std::logic_error);
    EXPECT_THROW(rows[0].bytes(1), std::logic_error);
    EXPECT_THROW(rows[0].uuid(1), std::logic_error);
    EXPECT_THROW(rows[0].timestamp(0), std::logic_error);
    EXPECT_THROW(rows[0].boolean(0), std::logic_error);
    EXPECT_THROW(rows[0].f64(0), std::logic_error);
  });
}

TEST_F(ParamsRows, TextWithNulIsRefusedNotCutOff) {
  const std::string tricky("admin\0hidden", 12);
  EXPECT_THROW(Params().add(tricky), Error);
  in([&](Tx& tx) {
    constexpr Stmt kEcho{"t.nul", "select $1::text[]"};
    EXPECT_THROW(tx.exec(kEcho, std::vector<std::string>{tricky}), Error);
  });
}

TEST_F(ParamsRows, BrokenUtf8IsTheCallersFault) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.utf8", "select $1::text"};
    for (const auto* bad : {"\xff", "\xc0\xaf", "\xed\xa0\x80"}) {
      try {
        tx.exec(kEcho, bad);
        ADD_FAILURE() << "accepted";
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::invalid);
      }
    }
    EXPECT_EQ(tx.one(kEcho, "fine")[0].text(0), "fine");
  });
}

TEST_F(ParamsRows, AMegabyteOfEverything) {
  in([](Tx& tx) {
    constexpr Stmt kEcho{"t.big", "select $1::bytea, $2::text"};
    const Bytes bytes(8 << 20, std::byte{7});
    const std::string text(3 << 20, 'x');
    const auto rows = tx.one(kEcho, bytes, text);
    EXPECT_TRUE(std::ranges::equal(rows[0].bytes(0), bytes));
    EXPECT_EQ(rows[0].text(1), text);
  });
}

TEST_F(ParamsRows, RowsAreCountedAndWalked) {
  in([](Tx& tx) {
    tx.script("create table t (a int)");
    constexpr Stmt kInsert{"t.insert", "insert into t select generate_series(1, $1::int4)"};
    constexpr Stmt kSelect{"t.select", "select a from t order by a"};
    constexpr Stmt kDelete{"t.delete", "delete from t where a > 3"};
    EXPECT_EQ(tx.exec(kInsert, 10).affected(), 10);
    std::int64_t sum = 0;
    for (const auto row : tx.exec(kSelect)) sum += row.i64(0);
    EXPECT_EQ(sum, 55);
    EXPECT_EQ(tx.exec(kDelete).affected(), 7);
    EXPECT_EQ(tx.exec(kSelect).size(), 3);
    EXPECT_THROW(tx.one(kSelect), std::logic_error);
    EXPECT_TRUE(Rows().empty());
    EXPECT_EQ(Rows().affected(), 0);
  });
}

}  // namespace
}  // namespace welkin::db
