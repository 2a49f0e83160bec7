#include "welkin/calendars/timezone.hpp"

#include <gtest/gtest.h>

#include "calendars/fixtures.hpp"

namespace welkin::calendars {
namespace {

using fixtures::at;

std::string utc(const Zone& zone, std::string_view local) {
  return wire::format_ical_utc(zone.to_utc(at(local)));
}

TEST(Zone, NamesOfEveryKind) {
  EXPECT_EQ(Zone::named("Europe/Berlin")->name(), "Europe/Berlin");
  EXPECT_EQ(Zone::named("europe/berlin")->name(), "Europe/Berlin");
  EXPECT_EQ(Zone::named("/freeassociation.sourceforge.net/Europe/Berlin")->name(), "Europe/Berlin");
  EXPECT_EQ(Zone::named("/citadel.org/20260101_1/America/Indiana/Knox")->name(), "America/Indiana/Knox");
  EXPECT_EQ(Zone::named("W. Europe Standard Time")->name(), "Europe/Berlin");
  EXPECT_EQ(utc(*Zone::named("GMT+0100"), "20260706T090000"), "20260706T080000Z");
  EXPECT_EQ(utc(*Zone::named("UTC-5"), "20260706T090000"), "20260706T140000Z");
  EXPECT_EQ(utc(*Zone::named("\"Europe/Berlin\""), "20260706T090000"), "20260706T070000Z");
  for (const auto* unknown :
       {"", "Nowhere/Land", "Mars/Base", "GMT+", "+99", "/", "//", "Customized Time Zone"})
    EXPECT_FALSE(Zone::named(unknown)) << unknown;
  EXPECT_FALSE(Zone::iana("W. Europe Standard Time"));
}

TEST(Zone, GapsAndRepeatedHours) {  // RFC 5545 §3.3.5
  const auto berlin = *Zone::iana("Europe/Berlin");
  EXPECT_EQ(utc(berlin, "20260328T023000"), "20260328T013000Z");
  EXPECT_EQ(utc(berlin, "20260329T023000"), "20260329T013000Z");  // is 03:30 by then
  EXPECT_EQ(utc(berlin, "20260330T023000"), "20260330T003000Z");
  EXPECT_EQ(utc(berlin, "20261025T023000"), "20261025T003000Z");  // the first of two
  EXPECT_EQ(berlin.to_local(at("20261025T013000")), at("20261025T023000"));
  EXPECT_EQ(utc(*Zone::iana("America/New_York"), "20260601T120000"), "20260601T160000Z");
  EXPECT_EQ(utc(*Zone::iana("Asia/Kathmandu"), "20260601T120000"), "20260601T061500Z");
  EXPECT_EQ(utc(Zone(), "20260601T120000"), "20260601T120000Z");
}

wire::IcalComponent zone_component(std::string_view tzid) {
  return wire::parse_ical(
             fixtures::calendar(fixtures::lines(
                 "BEGIN:VTIMEZONE / TZID:" + std::string(tzid) +
                 " / BEGIN:STANDARD / DTSTART:16011028T030000 / "
                 "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10 / TZOFFSETFROM:+0200 / TZOFFSETTO:+0100 / "
                 "END:STANDARD / "
                 "BEGIN:DAYLIGHT / DTSTART:16010325T020000 / RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3 / "
                 "TZOFFSETFROM:+0100 / TZOFFSETTO:+0200 / END:DAYLIGHT / END:VTIMEZONE")))
      .components.front();
}

TEST(Zone, DescribedByAComponent) {
  const auto zone = *Zone::of(zone_component("Customized Time Zone"));
  EXPECT_FALSE(zone.is_iana());
  const auto berlin = *Zone::iana("Europe/Berlin");
  for (const auto* local : {"20260328T023000", "20260329T023000", "20260706T090000", "20261025T013000",
                            "20261025T023000", "20261025T033000", "20261224T180000"})
    EXPECT_EQ(utc(zone, local), utc(berlin, local)) << local;
  EXPECT_EQ(Zone::of(zone_component("Europe/London"))->name(), "Europe/London");  // ours wins
  wire::IcalComponent empty;
  empty.name = "VTIMEZONE";
  EXPECT_FALSE(Zone::of(empty));
}

TEST(Zone, WritesItsRulesForReadersThatKnowNoNames) {
  for (const auto* name :
       {"Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"}) {
    const auto written = vtimezone_of(name, at("20250101T000000Z"));
    ASSERT_TRUE(written) << name;
    EXPECT_EQ(written->text("TZID"), Zone::iana(name)->name());
    // Under a name that nobody knows, so that the rules are read.
    auto unknown = *written;
    unknown.set("TZID", "Nowhere");
    const auto read = Zone::of(unknown);
    ASSERT_TRUE(read) << name;
    for (const auto* local :
         {"20260115T120000", "20260328T120000", "20260706T090000", "20261025T120000", "20321101T000000"})
      EXPECT_EQ(utc(*read, local), utc(*Zone::iana(name), local)) << name << ' ' << local;
  }
  EXPECT_FALSE(vtimezone_of("Mars/Base", 0));
}

}  // namespace
}  // namespace welkin::calendars
