#include "welkin/core/clock.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <vector>

namespace welkin::times {
namespace {

constexpr Micros kExample = 784'111'777'000'000;  // the instant of RFC 9110 §5.6.7

TEST(HttpDate, WritesImfFixdateAndReadsAllThreeForms) {
  EXPECT_EQ(http_date(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(from_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), kExample);
  EXPECT_EQ(from_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), kExample);
  EXPECT_EQ(from_http_date("Sun Nov  6 08:49:37 1994"), kExample);
}

TEST(Times, AgreeWithTheSystemsCalendar) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> seconds = {0,
                                       -1,
                                       951'782'400,
                                       -62'167'219'200,
                                       -62'167'219'201,
                                       253'402'300'799,
                                       253'402'300'800,
                                       1'000'000'000'000,
                                       -86'400,
                                       4'107'542'399};
  for (int i = 0; i < 20'000; ++i)
    seconds.push_back(static_cast<std::int64_t>(random() % 400'000'000'000ull) - 100'000'000'000);
  for (const std::int64_t s : seconds) {
    const std::time_t t = s;
    std::tm tm{};
    ::gmtime_r(&t, &tm);
    char date[64], http[64];
    std::snprintf(date, sizeof date, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
                  tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    EXPECT_EQ(rfc3339(s * 1'000'000), date) << s;
    const std::size_t n = std::strftime(http, sizeof http, "%a, %d %b ", &tm);
    std::snprintf(http + n, sizeof http - n, "%04d %02d:%02d:%02d GMT", tm.tm_year + 1900, tm.tm_hour,
                  tm.tm_min, tm.tm_sec);
    EXPECT_EQ(http_date(s * 1'000'000 + (s % 1'000 + 1'000) % 1'000), http) << s;
  }
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
