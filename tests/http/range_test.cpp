#include "welkin/http/range.hpp"

#include <gtest/gtest.h>

#include <random>

#include "welkin/core/error.hpp"

namespace welkin::http {
namespace {

std::string ranges(std::string_view value, std::uint64_t size) {
  try {
    std::string out;
    for (const auto& s : parse_range(value, size))
      out += std::to_string(s.offset) + "+" + std::to_string(s.length) + " ";
    return out.empty() ? "whole" : out;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::range_not_satisfiable);
    return "416";
  }
}

TEST(Range, Single) {
  EXPECT_EQ(ranges("bytes=0-499", 1000), "0+500 ");
  EXPECT_EQ(ranges("bytes=500-", 1000), "500+500 ");
  EXPECT_EQ(ranges("bytes=-500", 1000), "500+500 ");
  EXPECT_EQ(ranges("bytes=-5000", 1000), "0+1000 ");
  EXPECT_EQ(ranges("bytes=0-0", 1000), "0+1 ");
  EXPECT_EQ(ranges("bytes=999-", 1000), "999+1 ");
  EXPECT_EQ(ranges("bytes=0-99999999999999999999999999", 1000), "0+1000 ");
  EXPECT_EQ(ranges("Bytes = 1 - 2", 1000), "1+2 ");
}

TEST(Range, OutsideIs416) {
  for (const auto* value :
       {"bytes=1000-", "bytes=1000-2000", "bytes=-0", "bytes=99999999999999999999999-", "bytes=1000-,-0"})
    EXPECT_EQ(ranges(value, 1000), "416") << value;
  EXPECT_EQ(ranges("bytes=0-", 0), "whole");
  EXPECT_EQ(ranges("bytes=-5", 0), "whole");
}

TEST(Range, MalformedIsIgnored) {
  for (const auto* value : {"", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=1",
                            "items=0-5", "bytes=0-5;q=1", "bytes=+1-2", "bytes=1-2-3", "bytes=0x1-2", "=0-1",
                            "bytes:0-1", "bytes=0-1,x", "bytes=0-1,5-2"})
    EXPECT_EQ(ranges(value, 1000), "whole") << value;
}

TEST(Range, SeveralKeepTheirOrderAndJoin) {
  EXPECT_EQ(ranges("bytes=0-9,20-29", 1000), "0+10 20+10 ");
  EXPECT_EQ(ranges("bytes=20-29,0-9", 1000), "20+10 0+10 ");
  EXPECT_EQ(ranges("bytes=0-9,10-19", 1000), "0+20 ");
  EXPECT_EQ(ranges("bytes=0-9,5-14", 1000), "0+15 ");
  EXPECT_EQ(ranges("bytes=0-9,20-29,5-25", 1000), "0+30 ");
  EXPECT_EQ(ranges("bytes=0-9, 2000-, 20-29", 1000), "0+10 20+10 ");
  EXPECT_EQ(ranges("bytes=0-,0-,0-,-1000", 1000), "0+1000 ");
}

TEST(Range, TooManyAreIgnored) {
  std::string apart = "bytes=0-0";
  for (int i = 1; i < 16; ++i) apart += "," + std::to_string(i * 10) + "-" + std::to_string(i * 10);
  EXPECT_EQ(parse_range(apart, 1000).size(), 16u);
  EXPECT_EQ(ranges(apart + ",500-500", 1000), "whole");
  std::string flood = "bytes=0-0";
  for (int i = 0; i < 10'000; ++i) flood += ",0-0";
  EXPECT_EQ(ranges(flood, 1000), "whole");
}

/// Joining against the definition: the same bytes, no two slices that touch.
TEST(Range, JoiningKeepsExactlyTheBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string value = "bytes=";
    std::vector<bool> expected(60), got(60);
    for (unsigned n = 1 + random() % 8; n > 0; --n) {
      const unsigned first = random() % 60;
      const unsigned last = first + random() % 12;
      value += std::to_string(first) + "-" + std::to_string(last) + ",";
      for (unsigned i = first; i <= last && i < 60; ++i) expected[i] = true;
    }
    const auto slices = parse_range(value, 60);
    for (const auto& s : slices)
      for (auto i = s.offset; i < s.offset + s.length; ++i) {
        ASSERT_FALSE(got.at(i)) << value << " gives a byte twice";
        got[i] = true;
      }
    ASSERT_EQ(got, expected) << value;
    for (std::size_t a = 0; a < slices.size(); ++a)
      for (std::size_t b = 0; b < slices.size(); ++b)
        ASSERT_TRUE(a == b || slices[a].offset + slices[a].length != slices[b].offset) << value;
  }
}

TEST(IfRange, HoldsForTheStrongTagOrTheExactDate) {
  const Micros date = *times::from_http_date("Sun, 06 Nov 1994 08:49:37 GMT");
  const auto holds = [&](const char* value) {
    Fields f;
    if (value) f.add("If-Range", value);
    return if_range_holds(f, "\"v1\"", date + 250'000);
  };
  EXPECT_TRUE(holds(nullptr));
  EXPECT_TRUE(holds("\"v1\""));
  EXPECT_FALSE(holds("\"v2\""));
  EXPECT_FALSE(holds("W/\"v1\""));
  EXPECT_TRUE(holds("Sun, 06 Nov 1994 08:49:37 GMT"));
  EXPECT_FALSE(holds("Sun, 06 Nov 1994 08:49:38 GMT"));
  EXPECT_FALSE(holds("nonsense"));
  EXPECT_FALSE(holds(""));
}

TEST(ContentRange, CountsInclusively) { EXPECT_EQ(content_range({0, 500}, 1234), "bytes 0-499/1234"); }

}  // namespace
}  // namespace welkin::http
