#include "welkin/core/clock.hpp"

#include <gtest/gtest.h>

namespace welkin::times {
namespace {

constexpr Micros kExample = 784'111'777'000'000;  // the instant of RFC 9110 §5.6.7

TEST(HttpDate, WritesImfFixdateAndReadsAllThreeForms) {
  EXPECT_EQ(http_date(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(from_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), kExample);
  EXPECT_EQ(from_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), kExample);
  EXPECT_EQ(from_http_date("Sun Nov  6 08:49:37 1994"), kExample);
}

TEST(HttpDate, RefusesOtherText) {
  for (const std::string_view bad : {"", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
                                     "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
                                     "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMTx"})
    EXPECT_EQ(from_http_date(bad), std::nullopt) << bad;
}

TEST(Rfc3339, RoundTripsAndReadsOffsets) {
  EXPECT_EQ(rfc3339(kExample), "1994-11-06T08:49:37Z");
  EXPECT_EQ(from_rfc3339("1994-11-06T08:49:37Z"), kExample);
  EXPECT_EQ(from_rfc3339("1994-11-06T09:49:37+01:00"), kExample);
  EXPECT_EQ(from_rfc3339("1994-11-06T08:49:37.25Z"), kExample + 250'000);
  for (const std::string_view bad :
       {"", "1994-11-06", "1994-13-06T08:49:37Z", "1994-11-06T08:49:37", "1994-11-06T08:49:37+1"})
    EXPECT_EQ(from_rfc3339(bad), std::nullopt) << bad;
}

TEST(Seconds, RoundsDownAlsoBefore1970) {
  EXPECT_EQ(seconds(1'999'999), 1);
  EXPECT_EQ(seconds(-1), -1);
  EXPECT_EQ(seconds(0), 0);
}

}  // namespace
}  // namespace welkin::times
