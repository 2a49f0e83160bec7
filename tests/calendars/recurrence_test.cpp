#include "calendars/recurrence.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "calendars/fixtures.hpp"

namespace welkin::calendars {
namespace {

using fixtures::at;

Rule rule_of(std::string_view text) {
  auto read = parse_rule(text);
  EXPECT_TRUE(std::holds_alternative<Rule>(read)) << text << ": " << std::get_if<RuleFault>(&read)->why;
  return std::get<Rule>(read);
}

std::vector<std::string> instances(std::string_view text, std::string_view start, std::size_t count,
                                   std::string_view from = "00010101T000000") {
  const Rule rule = rule_of(text);
  RuleIterator each(rule, at(start));
  each.skip_to(at(from));
  std::vector<std::string> out;
  std::int64_t end = INT64_MAX;
  if (rule.until) end = rule.until->local_seconds;
  while (out.size() < count) {
    const auto found = each.next(end);
    if (!found) break;
    out.push_back(wire::format_ical_time({.local_seconds = *found}));
  }
  return out;
}

using Times = std::vector<std::string>;

TEST(Recurrence, ReadsWhatOthersWrite) {
  const auto rule = rule_of("freq=weekly; interval=2 ;byday=MO,1WE;wkst=SU;X-FOO=1;");
  EXPECT_EQ(rule.freq, Freq::weekly);
  EXPECT_EQ(rule.interval, 2);
  ASSERT_EQ(rule.by_day.size(), 2U);
  EXPECT_EQ(rule.by_day[1].nth, 0);  // means nothing in weeks
  EXPECT_EQ(rule.week_start, 6);
}

TEST(Recurrence, RefusesWhatCannotBeRead) {
  for (const auto* bad :
       {"", "INTERVAL=2", "FREQ=FORTNIGHTLY", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;COUNT=-1", "FREQ=DAILY;UNTIL=20260230", "FREQ=DAILY;BYHOUR=24", "FREQ=DAILY;BYDAY=XX",
        "FREQ=MONTHLY;BYDAY=54MO", "FREQ=MONTHLY;BYMONTHDAY=0", "FREQ=MONTHLY;BYMONTHDAY=32",
        "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY;FOO=1", "FREQ=DAILY;COUNT", "FREQ=DAILY;SKIP=OMIT",
        "FREQ=DAILY;COUNT=99999999999999999999"})
    EXPECT_TRUE(std::holds_alternative<RuleFault>(parse_rule(bad))) << bad;
  const auto read = parse_rule("RSCALE=CHINESE;FREQ=YEARLY");
  ASSERT_TRUE(std::holds_alternative<RuleFault>(read));
  EXPECT_EQ(std::get<RuleFault>(read).kind, RuleFault::Kind::rscale);
}

TEST(Recurrence, StartAlwaysCounts) {
  EXPECT_EQ(instances("FREQ=WEEKLY;BYDAY=MO;COUNT=3", "20260101T100000", 9),
            (Times{"20260101T100000", "20260105T100000", "20260112T100000"}));
  EXPECT_EQ(instances("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "20260101T100000", 4),
            (Times{"20260101T100000", "20260130T100000", "20260227T100000", "20260331T100000"}));
}

TEST(Recurrence, MonthsWithoutTheDayAreLeftOut) {
  EXPECT_EQ(
      instances("FREQ=MONTHLY;COUNT=5", "20260131T090000", 9),
      (Times{"20260131T090000", "20260331T090000", "20260531T090000", "20260731T090000", "20260831T090000"}));
  EXPECT_EQ(instances("FREQ=YEARLY", "20240229T000000", 3),
            (Times{"20240229T000000", "20280229T000000", "20320229T000000"}));
}

TEST(Recurrence, SkipMovesDaysThatAMonthLacks) {
  EXPECT_EQ(instances("RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=FORWARD", "20240229T000000", 3),
            (Times{"20240229T000000", "20250301T000000", "20260301T000000"}));
  EXPECT_EQ(instances("RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD", "20260131T000000", 3),
            (Times{"20260131T000000", "20260228T000000", "20260331T000000"}));
}

TEST(Recurrence, ExamplesOfTheStandard) {  // RFC 5545 §3.8.5.3
  EXPECT_EQ(
      instances("FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "19961105T090000", 3),
      (Times{"19961105T090000", "20001107T090000", "20041102T090000"}));
  EXPECT_EQ(instances("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "19970512T090000", 3),
            (Times{"19970512T090000", "19980511T090000", "19990517T090000"}));
  // A week belongs to one year, also where it lies in two: 1 January 2022 is in week 52 of 2021.
  EXPECT_EQ(instances("FREQ=YEARLY;BYWEEKNO=6,19,52;BYDAY=SA,TU", "20211228T130000", 3),
            (Times{"20211228T130000", "20220101T130000", "20220208T130000"}));
  // Positions count in the whole week, also where DTSTART lies in its middle: of WE, TH and FR the second is
  // TH.
  EXPECT_EQ(instances("FREQ=WEEKLY;BYDAY=WE,TH,FR;BYSETPOS=1,2", "20260716T023000", 3),
            (Times{"20260716T023000", "20260722T023000", "20260723T023000"}));
  EXPECT_EQ(instances("FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", "19970101T090000", 4),
            (Times{"19970101T090000", "19970410T090000", "19970719T090000", "20000101T090000"}));
  EXPECT_EQ(instances("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "19970805T090000", 9),
            (Times{"19970805T090000", "19970810T090000", "19970819T090000", "19970824T090000"}));
  EXPECT_EQ(instances("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "19970805T090000", 9),
            (Times{"19970805T090000", "19970817T090000", "19970819T090000", "19970831T090000"}));
  EXPECT_EQ(instances("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "19980213T090000", 3),
            (Times{"19980213T090000", "19980313T090000", "19981113T090000"}));
  EXPECT_EQ(instances("FREQ=DAILY;BYHOUR=9,10;BYMINUTE=0,20,40;COUNT=4", "19970902T090000", 9),
            (Times{"19970902T090000", "19970902T092000", "19970902T094000", "19970902T100000"}));
  EXPECT_EQ(instances("FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10", "19970902T090000", 7),
            (Times{"19970902T090000", "19970902T092000", "19970902T094000", "19970902T100000",
                   "19970902T102000", "19970902T104000", "19970903T090000"}));
  EXPECT_EQ(instances("FREQ=YEARLY;BYDAY=20MO", "19970519T090000", 2),
            (Times{"19970519T090000", "19980518T090000"}));
  EXPECT_EQ(instances("FREQ=MONTHLY;BYMONTHDAY=-3", "19970928T090000", 3),
            (Times{"19970928T090000", "19971029T090000", "19971128T090000"}));
}

TEST(Recurrence, JumpsKeepThePhase) {
  EXPECT_EQ(instances("FREQ=HOURLY;INTERVAL=7", "20260105T093000", 1, "20280617T101500"),
            (Times{"20280617T153000"}));
  for (const auto* text :
       {"FREQ=SECONDLY;INTERVAL=7777", "FREQ=MINUTELY;INTERVAL=91", "FREQ=HOURLY;INTERVAL=11;BYMINUTE=3,9",
        "FREQ=DAILY;INTERVAL=5", "FREQ=DAILY;INTERVAL=3;COUNT=400", "FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,SU",
        "FREQ=WEEKLY;COUNT=80", "FREQ=MONTHLY;INTERVAL=5;BYDAY=-1FR", "FREQ=YEARLY;INTERVAL=2;BYMONTH=2",
        "FREQ=MONTHLY;COUNT=9", "FREQ=DAILY;COUNT=300;BYDAY=TU"}) {
    auto all = instances(text, "20260105T093000", 20'000);
    for (const std::string from :
         {"20260105T093000", "20260105T093001", "20260301T000000", "20270809T101112"}) {
      auto wanted = all;
      std::erase_if(wanted, [&](const auto& time) { return time < from; });
      if (wanted.size() > 5) wanted.resize(5);
      EXPECT_EQ(instances(text, "20260105T093000", 5, from), wanted) << text << " from " << from;
    }
  }
}

TEST(Recurrence, FarWindowsAndEmptyRulesEnd) {
  EXPECT_EQ(instances("FREQ=SECONDLY", "20260101T100000", 2, "25000101T000000"),
            (Times{"25000101T000000", "25000101T000001"}));
  for (const auto* text :
       {"FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30", "FREQ=SECONDLY;BYMONTHDAY=31;BYMONTH=2",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4",
        "FREQ=HOURLY;BYYEARDAY=1;BYMONTH=2", "FREQ=DAILY;BYSETPOS=2", "FREQ=WEEKLY;BYSETPOS=300"})
    EXPECT_EQ(instances(text, "20260101T100000", 9), (Times{"20260101T100000"})) << text;
  EXPECT_FALSE(rule_of("FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30").has_a_day());
  EXPECT_TRUE(rule_of("FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=29").has_a_day());
}

// Legal, small, and each worth hours or gigabytes to whom it is taken at its word.
TEST(Recurrence, NoRuleCostsMoreThanItsSteps) {
  const auto up_to = [](int last) {
    std::string list = "0";
    for (int i = 1; i <= last; ++i) list += "," + std::to_string(i);
    return list;
  };
  const std::string every_second =
      ";BYHOUR=" + up_to(23) + ";BYMINUTE=" + up_to(59) + ";BYSECOND=" + up_to(59);
  std::string year_days = "1,-1", days = "MO";
  for (int i = 2; i <= 366; ++i) year_days += "," + std::to_string(i) + "," + std::to_string(-i);
  for (int i = 0; i < 900; ++i) days += ",53SU";
  for (const std::string& text :
       {"FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU" + every_second,
        "FREQ=YEARLY;BYDAY=MO;BYSETPOS=1" + every_second,
        "FREQ=HOURLY;BYSETPOS=-366;BYMINUTE=" + up_to(59) + ";BYSECOND=" + up_to(59),
        "FREQ=YEARLY;BYMONTH=2;BYYEARDAY=" + year_days + ";BYSETPOS=300;BYDAY=" + days,
        "FREQ=MONTHLY;BYMONTH=2;BYSETPOS=300;BYYEARDAY=" + year_days + ";BYDAY=" + days}) {
    const Rule rule = rule_of(text);
    RuleIterator each(rule, at("20260101T100000"), 20'000);
    std::size_t found = 0;
    while (each.next(INT64_MAX)) ++found;
    EXPECT_TRUE(each.used_up()) << text.substr(0, 80);
    EXPECT_LE(found, 20'000u);
  }
  EXPECT_EQ(instances("FREQ=DAILY" + every_second, "20260101T235959", 3),
            (Times{"20260101T235959", "20260102T000000", "20260102T000001"}));
}

// Four hundred random rules as python3-dateutil sees them (tests/calendars/make_dateutil.py).
TEST(Recurrence, AgreesWithDateutil) {
  std::ifstream file(WELKIN_CORPUS "/recurrence.txt");
  std::size_t rules = 0;
  for (std::string line; std::getline(file, line); ++rules) {
    std::istringstream words(line);
    std::string text, start;
    words >> text >> start;
    const Times wanted{std::istream_iterator<std::string>(words), {}};
    const Rule rule = rule_of(text);
    RuleIterator each(rule, at(start), 20'000'000);
    Times found;
    while (found.size() < 8) {
      const auto next = each.next(at("20391231T235959"));
      if (!next) break;
      found.push_back(wire::format_ical_time({.local_seconds = *next}));
    }
    EXPECT_EQ(found, wanted) << text << " from " << start;
  }
  EXPECT_EQ(rules, 400U);
}

TEST(Recurrence, LastOfACount) {
  EXPECT_EQ(last_of_counted(rule_of("FREQ=WEEKLY;COUNT=8"), at("20260302T093000")), at("20260420T093000"));
  EXPECT_EQ(last_of_counted(rule_of("FREQ=MONTHLY;COUNT=5"), at("20260131T090000")), at("20260831T090000"));
  EXPECT_EQ(last_of_counted(rule_of("FREQ=DAILY;COUNT=2000000000"), at("20260131T090000")), std::nullopt);
  EXPECT_EQ(last_of_counted(rule_of("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=2"), at("20260131T090000")),
            std::nullopt);
}

}  // namespace
}  // namespace welkin::calendars
