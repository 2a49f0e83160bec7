#include "welkin/calendars/expand.hpp"

#include <gtest/gtest.h>

#include "calendars/fixtures.hpp"
#include "welkin/calendars/freebusy.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars {
namespace {

using fixtures::at;
using fixtures::calendar;
using fixtures::component;
using fixtures::event;
using wire::IcalComponent;

TimeRange range(std::string_view start, std::string_view end) { return {at(start), at(end)}; }

TEST(Expand, SeriesWithAnOverride) {
  const auto out = expand_object(fixtures::f2(), range("20260323T000000Z", "20260402T000000Z"), Zone());
  ASSERT_EQ(out.components.size(), 3U);
  const std::string_view ids[] = {"20260323T083000Z", "20260330T073000Z", "20260401T073000Z"};
  const std::string_view starts[] = {"20260323T083000Z", "20260331T130000Z", "20260401T073000Z"};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& each = out.components[i];
    EXPECT_EQ(each.value("RECURRENCE-ID"), ids[i]);
    EXPECT_EQ(each.count("RECURRENCE-ID"), 1U);
    EXPECT_EQ(each.value("DTSTART"), starts[i]);
    EXPECT_TRUE(each.property("DTSTART")->parameters.empty());
    EXPECT_EQ(each.value("DURATION"), "PT1H");
    for (const auto* gone : {"RRULE", "RDATE", "EXDATE"}) EXPECT_EQ(each.property(gone), nullptr);
  }
  EXPECT_EQ(out.components[1].value("SUMMARY"), "moved");
  EXPECT_EQ(out.value("VERSION"), "2.0");
}

TEST(Expand, TrueInstancesOfTheFixtures) {
  std::vector<std::string> starts;
  for (const auto& each : instances_of(fixtures::f2(), {}, Zone()))
    starts.push_back(wire::format_ical_utc(each.start));
  EXPECT_EQ(starts, (std::vector<std::string>{"20260302T083000Z", "20260309T083000Z", "20260323T083000Z",
                                              "20260331T130000Z", "20260401T073000Z", "20260406T073000Z",
                                              "20260413T073000Z", "20260420T073000Z"}));
  starts.clear();
  const auto f18 =
      event("DTSTART;TZID=Europe/Berlin:20260328T023000 / DURATION:PT30M / RRULE:FREQ=DAILY;COUNT=3");
  for (const auto& each : instances_of(f18, {}, Zone())) starts.push_back(each.start_text);
  EXPECT_EQ(starts, (std::vector<std::string>{"20260328T013000Z", "20260329T013000Z", "20260330T003000Z"}));
}

TEST(Expand, DatesAndFloatingTimesStayWhatTheyAre) {
  const auto days =
      expand_object(event("DTSTART;VALUE=DATE:20240229 / DTEND;VALUE=DATE:20240302 / RRULE:FREQ=YEARLY"),
                    range("20280101T000000Z", "20290101T000000Z"), *Zone::iana("Europe/Berlin"));
  ASSERT_EQ(days.components.size(), 1U);
  EXPECT_EQ(days.components[0].value("DTSTART"), "20280229");
  EXPECT_EQ(days.components[0].value("DTEND"), "20280302");
  EXPECT_EQ(days.components[0].property("RECURRENCE-ID")->parameter_value("VALUE"), "DATE");
  const auto floating =
      expand_object(event("DTSTART:20260601T120000"), range("20260601T000000Z", "20260602T000000Z"), Zone());
  EXPECT_EQ(floating.components[0].value("DTSTART"), "20260601T120000");
  EXPECT_EQ(floating.components[0].property("RECURRENCE-ID"), nullptr);
}

TEST(Expand, NothingInTheRangeIsAnEmptyCalendar) {
  EXPECT_TRUE(expand_object(fixtures::f2(), range("20270101T000000Z", "20270201T000000Z"), Zone())
                  .components.empty());
}

TEST(Expand, EndsAreMovedWithTheirStarts) {
  const auto out = expand_object(
      event("DTSTART;TZID=Europe/Berlin:20260327T230000 / DTEND;TZID=Europe/Berlin:20260328T010000 / "
            "RRULE:FREQ=DAILY;COUNT=3 / RDATE;VALUE=PERIOD:20260401T100000Z/PT5M"),
      {}, Zone());
  ASSERT_EQ(out.components.size(), 4U);
  EXPECT_EQ(out.components[1].value("DTEND"), "20260329T000000Z");  // two hours of exact time
  EXPECT_EQ(out.components[3].value("DTEND"), "20260401T100500Z");
}

TEST(Expand, FloodsAreRefused) {
  try {
    expand_object(event("DTSTART:20260101T100000Z / RRULE:FREQ=SECONDLY"),
                  range("20270101T000000Z", "20280101T000000Z"), Zone());
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.slug(), "max_instances");
  }
  EXPECT_EQ(expand_object(event("DTSTART:20260101T100000Z / RRULE:FREQ=SECONDLY"),
                          range("20270101T000000Z", "20270101T010000Z"), Zone())
                .components.size(),
            3600U);
}

TEST(Expand, LimitsToOverridesInTheRange) {
  DataRequest request;
  request.limit_recurrences = range("20260413T000000Z", "20260414T000000Z");
  EXPECT_EQ(render_object(fixtures::f2(), request, Zone()).components.size(), 1U);
  request.limit_recurrences = range("20260330T000000Z", "20260401T000000Z");
  EXPECT_EQ(render_object(fixtures::f2(), request, Zone()), fixtures::f2());
  request.limit_recurrences = range("20260330T080000Z", "20260330T083000Z");  // where it would have been
  EXPECT_EQ(render_object(fixtures::f2(), request, Zone()).components.size(), 2U);
}

TEST(Expand, LimitsFreeBusy) {
  const auto object = wire::parse_ical(calendar(component(
      "VFREEBUSY", "B",
      "FREEBUSY:20260101T000000Z/PT1H,20260102T000000Z/PT1H / FREEBUSY;FBTYPE=FREE:20260103T000000Z/PT1H")));
  DataRequest request;
  request.limit_free_busy = range("20260102T003000Z", "20260103T000000Z");
  const auto out = render_object(object, request, Zone());
  EXPECT_EQ(out.components[0].count("FREEBUSY"), 1U);
  EXPECT_EQ(out.components[0].value("FREEBUSY"), "20260102T000000Z/PT1H");
}

TEST(Expand, Selection) {
  const auto object = event(
      "DTSTART:20260101T100000Z / SUMMARY:s / DESCRIPTION:d / BEGIN:VALARM / TRIGGER:PT0S / END:VALARM");
  CompSelection in_event{"VEVENT"};
  in_event.properties = {{"UID"}, {"DESCRIPTION", true}};
  CompSelection whole{"VCALENDAR"};
  whole.properties = {{"VERSION"}};
  whole.components = {in_event};
  const auto out = render_object(object, {whole, {}, {}, {}}, Zone());
  EXPECT_EQ(out.properties.size(), 1U);
  ASSERT_EQ(out.components.size(), 1U);
  EXPECT_EQ(out.components[0].properties.size(), 2U);
  EXPECT_EQ(out.components[0].value("DESCRIPTION"), "");
  EXPECT_TRUE(out.components[0].components.empty());
  whole.components = {{"VEVENT"}};
  EXPECT_EQ(render_object(object, {whole, {}, {}, {}}, Zone()).components, object.components);
  whole.components.clear();
  whole.all_components = true;
  EXPECT_EQ(render_object(object, {whole, {}, {}, {}}, Zone()).components, object.components);
}

std::string busy(const std::vector<IcalComponent>& objects, std::vector<std::string> own = {}) {
  BusyTimes times(range("20260301T000000Z", "20260401T000000Z"), std::move(own));
  for (const auto& object : objects) times.add(object, Zone());
  std::string out;
  for (const auto& each : times.periods())
    out += wire::format_ical_utc(each.start).substr(4, 9) + "-" +
           wire::format_ical_utc(each.end).substr(4, 9) +
           (each.kind == Busy::busy        ? ""
            : each.kind == Busy::tentative ? "?"
                                           : "!") +
           " ";
  return out;
}

TEST(FreeBusy, MergesAndRanks) {
  const auto one = event("DTSTART:20260302T080000Z / DTEND:20260302T100000Z"),
             two = event("DTSTART:20260302T090000Z / DTEND:20260302T110000Z"),
             maybe = event("DTSTART:20260302T103000Z / DTEND:20260302T120000Z / STATUS:TENTATIVE"),
             free = event("DTSTART:20260302T130000Z / DTEND:20260302T140000Z / TRANSP:TRANSPARENT"),
             off = event("DTSTART:20260302T150000Z / DTEND:20260302T160000Z / STATUS:CANCELLED"),
             moment = event("DTSTART:20260302T170000Z");
  EXPECT_EQ(busy({two, maybe, one, free, off, moment}), "0302T0800-0302T1100 0302T1100-0302T1200? ");
  EXPECT_EQ(busy({fixtures::f2()}),
            "0302T0830-0302T0930 0309T0830-0309T0930 0323T0830-0323T0930 0331T1300-0331T1400 ");
  EXPECT_EQ(busy({event("DTSTART:20260228T230000Z / DTEND:20260301T010000Z")}), "0301T0000-0301T0100 ");
}

TEST(FreeBusy, AnswersOfTheOwner) {
  const auto invited = [](std::string_view partstat) {
    return event(
        "DTSTART:20260302T080000Z / DTEND:20260302T100000Z / ORGANIZER:mailto:a@b / ATTENDEE;PARTSTAT=" +
        std::string(partstat) + ":MAILTO:Me@b");
  };
  EXPECT_EQ(busy({invited("DECLINED")}, {"mailto:me@b"}), "");
  EXPECT_EQ(busy({invited("NEEDS-ACTION")}, {"mailto:me@b"}), "0302T0800-0302T1000? ");
  EXPECT_EQ(busy({invited("ACCEPTED")}, {"mailto:me@b"}), "0302T0800-0302T1000 ");
  EXPECT_EQ(busy({invited("DECLINED")}), "0302T0800-0302T1000 ");
}

TEST(FreeBusy, StoredPeriodsAndAvailability) {
  const auto stored =
      wire::parse_ical(calendar(component("VFREEBUSY", "B",
                                          "FREEBUSY;FBTYPE=BUSY-UNAVAILABLE:20260303T000000Z/PT1H / "
                                          "FREEBUSY;FBTYPE=FREE:20260304T000000Z/PT1H")));
  EXPECT_EQ(busy({stored}), "0303T0000-0303T0100! ");
  const auto office =
      wire::parse_ical(calendar(component("VAVAILABILITY", "A",
                                          "DTSTART:20260302T000000Z / DTEND:20260304T000000Z / "
                                          "BEGIN:AVAILABLE / UID:x / DTSTART:20260302T090000Z / "
                                          "DTEND:20260302T170000Z / RRULE:FREQ=DAILY / END:AVAILABLE")));
  EXPECT_EQ(busy({office, event("DTSTART:20260302T080000Z / DTEND:20260302T100000Z")}),
            "0302T0000-0302T0800! 0302T0800-0302T1000 0302T1700-0303T0900! 0303T1700-0304T0000! ");
}

TEST(FreeBusy, Component) {
  const auto out = free_busy_calendar(range("20260301T000000Z", "20260401T000000Z"),
                                      {{at("20260302T080000Z"), at("20260302T100000Z"), Busy::tentative}},
                                      at("20260101T000000Z"), "-//w//EN");
  const auto& busy = out.components.front();
  EXPECT_EQ(busy.value("DTSTART"), "20260301T000000Z");
  EXPECT_EQ(busy.value("FREEBUSY"), "20260302T080000Z/20260302T100000Z");
  EXPECT_EQ(busy.property("FREEBUSY")->parameter_value("FBTYPE"), "BUSY-TENTATIVE");
}

}  // namespace
}  // namespace welkin::calendars
