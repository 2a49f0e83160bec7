#include "welkin/calendars/filter.hpp"

#include <gtest/gtest.h>

#include "calendars/fixtures.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars {
namespace {

using fixtures::at;
using fixtures::calendar;
using fixtures::component;
using fixtures::event;
using fixtures::todo;
using wire::IcalComponent;

/// "20260330T00/20260331T00" to a range; "" is open.
TimeRange range(std::string_view both) {
  const auto slash = both.find('/');
  const auto one = [](std::string_view text, std::int64_t open) { return text.empty() ? open : at(text); };
  return {one(both.substr(0, slash), INT64_MIN), one(both.substr(slash + 1), INT64_MAX)};
}

CompFilter below(CompFilter filter) {
  CompFilter out{"VCALENDAR"};
  out.components.push_back(std::move(filter));
  return out;
}
CompFilter ranged(std::string kind, std::string_view both) {
  return below({std::move(kind), false, false, range(both)});
}

/// Passes, and the index would have led to it too.
bool finds(const CompFilter& filter, const IcalComponent& object, const Zone& floating = Zone()) {
  const bool found = passes(filter, object, floating);
  const auto bounds = bounds_of(filter);
  const auto facts = describe_object(object);
  const bool led =
      (bounds.kinds & facts.kind) != 0 &&
      (!facts.span ? bounds.range.start == INT64_MIN && bounds.range.end == INT64_MAX
                   : facts.span->last > bounds.range.start && facts.span->first < bounds.range.end);
  EXPECT_TRUE(!found || led) << "the index would miss it";
  return found;
}
bool finds_event(const IcalComponent& object, std::string_view both, const Zone& floating = Zone()) {
  return finds(ranged("VEVENT", both), object, floating);
}

TEST(Filter, SeriesWithAnOverride) {
  const auto f2 = fixtures::f2();
  EXPECT_FALSE(finds_event(f2, "20260330T000000Z/20260331T000000Z"));
  EXPECT_TRUE(finds_event(f2, "20260331T130000Z/20260331T133000Z"));
  EXPECT_FALSE(finds_event(f2, "20260316T000000Z/20260317T000000Z"));
  EXPECT_FALSE(finds_event(f2, "20260420T083000Z/20260420T090000Z"));
  EXPECT_TRUE(finds_event(f2, "20260420T073000Z/20260420T080000Z"));
  EXPECT_TRUE(finds_event(f2, "20260401T073000Z/20260401T080000Z"));
  EXPECT_TRUE(finds_event(f2, "20260323T083000Z/20260323T084500Z"));
  EXPECT_FALSE(finds_event(f2, "20260427T000000Z/"));
  EXPECT_FALSE(finds_event(f2, "/20260302T083000Z"));
  EXPECT_TRUE(finds_event(f2, "/20260302T083001Z"));
}

TEST(Filter, OverrideWithoutASeries) {
  const auto f5 = wire::parse_ical(calendar(component("VEVENT", "F5", fixtures::kF2Override)));
  EXPECT_TRUE(finds_event(f5, "20260331T130000Z/20260331T133000Z"));
  EXPECT_FALSE(finds_event(f5, "20260330T000000Z/20260331T000000Z"));
}

TEST(Filter, DaysByTheZoneOfTheCalendar) {
  const auto f3 = event("DTSTART;VALUE=DATE:20260328 / DTEND;VALUE=DATE:20260331");
  const auto berlin = *Zone::iana("Europe/Berlin");
  EXPECT_FALSE(finds_event(f3, "20260327T220000Z/20260327T230000Z", berlin));
  EXPECT_TRUE(finds_event(f3, "20260327T230000Z/20260327T233000Z", berlin));
  EXPECT_TRUE(finds_event(f3, "20260330T215900Z/20260330T220000Z", berlin));
  EXPECT_FALSE(finds_event(f3, "20260330T220000Z/20260330T230000Z", berlin));
  EXPECT_FALSE(finds_event(f3, "20260327T230000Z/20260328T000000Z"));
  EXPECT_TRUE(finds_event(f3, "20260330T220000Z/20260330T230000Z"));
  EXPECT_FALSE(finds_event(f3, "20260331T000000Z/20260331T010000Z"));
  const auto f4 = event("DTSTART:20260601T120000 / DTEND:20260601T130000");
  const auto new_york = *Zone::iana("America/New_York");
  EXPECT_TRUE(finds_event(f4, "20260601T160000Z/20260601T163000Z", new_york));
  EXPECT_FALSE(finds_event(f4, "20260601T120000Z/20260601T130000Z", new_york));
  EXPECT_TRUE(finds_event(f4, "20260601T120000Z/20260601T130000Z"));
}

TEST(Filter, LeapDaysAndShortMonths) {
  const auto f6 = event("DTSTART;VALUE=DATE:20240229 / RRULE:FREQ=YEARLY");
  EXPECT_TRUE(finds_event(f6, "20280229T000000Z/20280301T000000Z"));
  EXPECT_FALSE(finds_event(f6, "20260201T000000Z/20260401T000000Z"));
  const auto f19 = event("DTSTART:20260131T090000Z / RRULE:FREQ=MONTHLY;COUNT=5");
  EXPECT_FALSE(finds_event(f19, "20260201T000000Z/20260301T000000Z"));
  EXPECT_FALSE(finds_event(f19, "20260401T000000Z/20260501T000000Z"));
  EXPECT_TRUE(finds_event(f19, "20260831T000000Z/20260901T000000Z"));
  EXPECT_FALSE(finds_event(f19, "20260901T000000Z/"));
}

TEST(Filter, RulesWithoutEnd) {
  const auto rule = [](std::string_view text, std::string_view start = "20260101T100000Z") {
    return event("DTSTART:" + std::string(start) + " / DURATION:PT1M / RRULE:" + std::string(text));
  };
  const std::string_view year = "20270101T000000Z/20280101T000000Z";
  EXPECT_TRUE(finds_event(rule("FREQ=SECONDLY"), year));
  EXPECT_TRUE(finds_event(rule("FREQ=DAILY;COUNT=2000000000"), year));
  EXPECT_FALSE(finds_event(rule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"), year));
  EXPECT_TRUE(finds_event(rule("FREQ=DAILY"), "25000601T000000Z/25000602T000000Z"));
  const auto f7e = rule("FREQ=HOURLY;INTERVAL=7", "20260105T093000Z");
  EXPECT_TRUE(finds_event(f7e, "20280617T153000Z/20280617T153100Z"));
  EXPECT_FALSE(finds_event(f7e, "20280617T163000Z/20280617T163100Z"));
  const auto f7f = rule("FREQ=DAILY;UNTIL=20260110");
  EXPECT_TRUE(finds_event(f7f, "20260110T000000Z/20260111T000000Z"));
  EXPECT_FALSE(finds_event(f7f, "20260111T000000Z/20260112T000000Z"));
  EXPECT_TRUE(finds_event(rule("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"),
                          "20260227T000000Z/20260228T000000Z"));
}

TEST(Filter, ToDos) {
  const auto found = [](std::string_view joined) {
    return finds(ranged("VTODO", "20260110T000000Z/20260111T000000Z"), todo(joined));
  };
  EXPECT_TRUE(found("DTSTART:20260109T120000Z / DURATION:P1D"));
  EXPECT_TRUE(found("DTSTART:20260110T120000Z"));
  EXPECT_TRUE(found("DUE:20260111T000000Z"));
  EXPECT_TRUE(found("CREATED:20260101T000000Z / COMPLETED:20260111T000000Z"));
  EXPECT_TRUE(found("SUMMARY:nothing"));
  EXPECT_FALSE(found("DUE:20260110T000000Z"));
  EXPECT_FALSE(found("COMPLETED:20260109T235959Z"));
  EXPECT_FALSE(found("DTSTART:20260111T000000Z"));
  EXPECT_TRUE(found("DTSTART:20260109T000000Z / DUE:20260110T000001Z"));
  EXPECT_TRUE(found("CREATED:20260110T235959Z"));
  EXPECT_FALSE(found("CREATED:20260111T000000Z"));
  EXPECT_TRUE(found("DUE:20260103T120000Z / RRULE:FREQ=WEEKLY"));
  EXPECT_FALSE(found("DUE:20260104T120000Z / RRULE:FREQ=WEEKLY"));
}

TEST(Filter, JournalsAndFreeBusy) {
  const auto object = [](std::string_view kind, std::string_view joined) {
    return wire::parse_ical(calendar(component(kind, "J", joined)));
  };
  const std::string_view day = "20260110T000000Z/20260111T000000Z";
  EXPECT_TRUE(finds(ranged("VJOURNAL", day), object("VJOURNAL", "DTSTART;VALUE=DATE:20260110")));
  EXPECT_FALSE(finds(ranged("VJOURNAL", day), object("VJOURNAL", "DTSTART;VALUE=DATE:20260109")));
  EXPECT_FALSE(finds(ranged("VJOURNAL", day), object("VJOURNAL", "SUMMARY:x")));
  EXPECT_TRUE(finds(ranged("VFREEBUSY", day), object("VFREEBUSY", "FREEBUSY:20260109T230000Z/PT2H")));
  EXPECT_FALSE(finds(ranged("VFREEBUSY", day), object("VFREEBUSY", "FREEBUSY:20260109T220000Z/PT2H")));
  EXPECT_TRUE(finds(ranged("VFREEBUSY", day),
                    object("VFREEBUSY", "DTSTART:20260101T000000Z / DTEND:20260110T000000Z")));
  EXPECT_FALSE(finds(ranged("VFREEBUSY", day), object("VFREEBUSY", "SUMMARY:x")));
}

TEST(Filter, Alarms) {
  const auto f10 = event(
      "DTSTART:20260115T100000Z / DTEND:20260115T110000Z / BEGIN:VALARM / ACTION:DISPLAY / TRIGGER:-PT15M / "
      "REPEAT:2 / "
      "DURATION:PT5M / END:VALARM");
  const auto goes_off = [](const IcalComponent& object, std::string_view both) {
    CompFilter in_event{"VEVENT"};
    in_event.components.push_back({"VALARM", false, false, range(both)});
    return finds(below(in_event), object);
  };
  EXPECT_TRUE(goes_off(f10, "20260115T095000Z/20260115T095100Z"));
  EXPECT_FALSE(goes_off(f10, "20260115T094600Z/20260115T095000Z"));
  EXPECT_FALSE(goes_off(f10, "20260115T100000Z/20260115T100100Z"));
  const auto weekly = event(
      "DTSTART:20260115T100000Z / DURATION:PT1H / RRULE:FREQ=WEEKLY / BEGIN:VALARM / TRIGGER;RELATED=END:P1D "
      "/ END:VALARM");
  EXPECT_TRUE(goes_off(weekly, "20260130T110000Z/20260130T110001Z"));
  EXPECT_FALSE(goes_off(weekly, "20260129T110000Z/20260129T110001Z"));
}

TEST(Filter, ZonesByAnyName) {
  const auto f12 = event("DTSTART;TZID=W. Europe Standard Time:20260706T090000 / DURATION:PT1H");
  EXPECT_TRUE(finds_event(f12, "20260706T070000Z/20260706T073000Z"));
  EXPECT_FALSE(finds_event(f12, "20260706T090000Z/20260706T093000Z"));
  const auto f12b = event("DTSTART;TZID=Nowhere/Land:20260706T090000 / DURATION:PT1H");
  EXPECT_TRUE(finds_event(f12b, "20260706T090000Z/20260706T093000Z"));
}

TEST(Filter, ChangesOfTheClock) {
  const auto f18 =
      event("DTSTART;TZID=Europe/Berlin:20260328T023000 / DURATION:PT30M / RRULE:FREQ=DAILY;COUNT=3");
  EXPECT_TRUE(finds_event(f18, "20260329T013000Z/20260329T014500Z"));
  EXPECT_FALSE(finds_event(f18, "20260329T003000Z/20260329T004500Z"));
  const auto f18b = event("DTSTART;TZID=Europe/Berlin:20261025T023000 / DURATION:PT30M");
  EXPECT_TRUE(finds_event(f18b, "20261025T003000Z/20261025T004500Z"));
  EXPECT_FALSE(finds_event(f18b, "20261025T013000Z/20261025T014500Z"));
}

TEST(Filter, ExceptionsInEveryForm) {
  const auto misses = [](std::string_view exdate) {
    return !finds_event(
        event("DTSTART;TZID=Europe/Berlin:20260302T093000 / DURATION:PT1H / RRULE:FREQ=DAILY / " +
              std::string(exdate)),
        "20260304T000000Z/20260305T000000Z");
  };
  EXPECT_TRUE(misses("EXDATE;TZID=Europe/Berlin:20260304T093000"));
  EXPECT_TRUE(misses("EXDATE:20260304T083000Z"));
  EXPECT_TRUE(misses("EXDATE:20260304T093000"));
  EXPECT_TRUE(misses("EXDATE;VALUE=DATE:20260303,20260304"));
  EXPECT_TRUE(misses("EXRULE:FREQ=DAILY;INTERVAL=2"));
  EXPECT_FALSE(misses("EXDATE:20260304T093000Z"));
  EXPECT_FALSE(misses("EXDATE:"));
  EXPECT_TRUE(!finds_event(event("DTSTART;VALUE=DATE:20260302 / RRULE:FREQ=DAILY / EXDATE:20260304T000000Z"),
                           "20260304T000000Z/20260305T000000Z"));
}

TEST(Filter, EndsOfSeriesByEveryClock) {
  const auto last_day = [](std::string_view until, std::string_view range_text) {
    return finds_event(
        event("DTSTART;TZID=Europe/Berlin:20260302T093000 / DURATION:PT1H / RRULE:FREQ=DAILY;UNTIL=" +
              std::string(until)),
        range_text);
  };
  const std::string_view tenth = "20260310T000000Z/20260311T000000Z", eleventh = "20260311T000000Z/";
  for (const auto* until : {"20260310T083000Z", "20260310T093000", "20260310"}) {
    EXPECT_TRUE(last_day(until, tenth)) << until;
    EXPECT_FALSE(last_day(until, eleventh)) << until;
  }
  EXPECT_FALSE(last_day("20260310T082959Z", tenth));
  const auto days = event("DTSTART;VALUE=DATE:20260302 / RRULE:FREQ=DAILY;UNTIL=20260310T000000Z");
  EXPECT_TRUE(finds_event(days, "20260310T000000Z/20260311T000000Z"));
  EXPECT_FALSE(finds_event(days, "20260311T000000Z/"));
}

TEST(Filter, DatesThatAreAdded) {
  const auto object = event(
      "DTSTART:20260302T100000Z / DTEND:20260302T110000Z / RRULE:FREQ=WEEKLY;COUNT=2 / "
      "RDATE;VALUE=PERIOD:20260305T100000Z/PT3H,20260306T100000Z/20260306T101500Z / RDATE:20260307T100000Z");
  for (const auto* found : {"20260302T100000Z/20260302T100001Z", "20260309T103000Z/20260309T103001Z",
                            "20260305T125959Z/20260305T130000Z", "20260306T101459Z/20260306T101500Z",
                            "20260307T105959Z/20260307T110000Z"})
    EXPECT_TRUE(finds_event(object, found)) << found;
  for (const auto* missed : {"20260305T130000Z/20260305T140000Z", "20260306T101500Z/20260306T110000Z",
                             "20260316T100000Z/20260316T110000Z"})
    EXPECT_FALSE(finds_event(object, missed)) << missed;
}

TextMatch match(std::string_view text, text::Collation collation = text::Collation::ascii_casemap,
                bool negate = false) {
  return {text::Matcher(collation, text::MatchType::contains, text), negate};
}
CompFilter with_property(PropFilter filter) {
  CompFilter in_event{"VEVENT"};
  in_event.properties.push_back(std::move(filter));
  return below(in_event);
}

TEST(Filter, Texts) {
  const auto f1 =
      event("DTSTART:20260105T100000Z / SUMMARY:plain / CATEGORIES:A\\,B,C / DTSTAMP:20260101T000000Z");
  EXPECT_TRUE(finds(with_property({"SUMMARY", false, false, {}, {match("PLA")}, {}}), f1));
  EXPECT_FALSE(
      finds(with_property({"SUMMARY", false, false, {}, {match("PLA", text::Collation::octet)}, {}}), f1));
  EXPECT_FALSE(finds(
      with_property({"SUMMARY", false, false, {}, {match("PLA", text::Collation::ascii_casemap, true)}, {}}),
      f1));
  EXPECT_TRUE(finds(with_property({"CATEGORIES", false, false, {}, {match("a,b")}, {}}), f1));
  EXPECT_TRUE(finds(with_property({"CATEGORIES", false, false, {}, {match("B,C")}, {}}), f1));
  EXPECT_TRUE(finds(with_property({"SUMMARY"}), f1));
  EXPECT_FALSE(finds(with_property({"LOCATION"}), f1));
  EXPECT_TRUE(finds(with_property({"LOCATION", true}), f1));
  EXPECT_TRUE(
      finds(with_property({"DTSTART", false, false, range("20260105T100000Z/20260105T100001Z")}), f1));
  EXPECT_FALSE(finds(with_property({"DTSTART", false, false, range("20260105T100001Z/")}), f1));
  EXPECT_TRUE(finds(with_property({"SUMMARY", false, true, {}, {match("no"), match("plain")}, {}}), f1));
  EXPECT_FALSE(finds(with_property({"SUMMARY", false, false, {}, {match("no"), match("plain")}, {}}), f1));
  const auto described = wire::parse_ical(
      calendar(component("VEVENT", "F2", fixtures::kF2Master) +
               component("VEVENT", "F2", std::string(fixtures::kF2Override) + " / DESCRIPTION:x")));
  EXPECT_TRUE(finds(with_property({"DESCRIPTION", true}), described));
  EXPECT_TRUE(finds(with_property({"DESCRIPTION"}), described));
}

TEST(Filter, Parameters) {
  const auto object =
      event("DTSTART:20260105T100000Z / ATTENDEE;PARTSTAT=NEEDS-ACTION;MEMBER=\"a\",\"b\":mailto:x@y");
  const auto attendee = [](ParamFilter parameter) {
    return with_property({"ATTENDEE", false, false, {}, {}, {std::move(parameter)}});
  };
  EXPECT_TRUE(finds(attendee({"PARTSTAT", false, match("needs-action")}), object));
  EXPECT_TRUE(finds(attendee({"MEMBER", false, match("b")}), object));
  EXPECT_FALSE(finds(attendee({"CN", false, match("x", text::Collation::octet, true)}), object));
  EXPECT_TRUE(finds(attendee({"CN", true, {}}), object));
  EXPECT_TRUE(finds(attendee({"PARTSTAT", false, {}}), object));
  EXPECT_FALSE(finds(attendee({"PARTSTAT", true, {}}), object));
}

TEST(Filter, ComponentsTogether) {
  const auto object = event("DTSTART:20260105T100000Z");
  EXPECT_TRUE(finds({"VCALENDAR"}, object));
  CompFilter both{"VCALENDAR"};
  both.components = {{"VEVENT"}, {"VTODO"}};
  EXPECT_FALSE(finds(both, object));
  EXPECT_EQ(bounds_of(both).kinds, 0);
  both.any_of = true;
  EXPECT_TRUE(finds(both, object));
  EXPECT_TRUE(finds(both, todo("SUMMARY:x")));
  EXPECT_EQ(bounds_of(both).kinds, kEvent | kTodo);
  EXPECT_TRUE(finds(below({"VTODO", true}), object));
  EXPECT_FALSE(finds(below({"VEVENT", true}), object));
  CompFilter no_alarm{"VEVENT"};
  no_alarm.components.push_back({"VALARM", true});
  EXPECT_TRUE(finds(below(no_alarm), object));
  CompFilter prodid{"VCALENDAR"};
  prodid.properties.push_back({"PRODID", false, false, {}, {match("//T//")}, {}});
  EXPECT_TRUE(finds(prodid, object));
}

TEST(Filter, WhatMayNotStand) {
  const auto is_refused = [](const CompFilter& filter) {
    try {
      check_filter(filter);
    } catch (const Error& e) {
      return std::string_view(e.slug()) == "valid_filter";
    }
    return false;
  };
  const auto some = range("20260101T000000Z/20260102T000000Z");
  CompFilter in_event{"VEVENT"}, alarm_in_alarm{"VALARM"};
  in_event.components.push_back({"VEVENT"});
  alarm_in_alarm.components.push_back({"X-FOO"});
  CompFilter holding{"VEVENT"};
  holding.components.push_back(alarm_in_alarm);
  CompFilter no_siblings{"VEVENT", true, false, some};
  for (const auto& bad :
       {CompFilter{"VEVENT"}, CompFilter{"VCALENDAR", false, false, some},
        below({"VTIMEZONE", false, false, some}), below({"VALARM"}), below(in_event), below(holding),
        below(no_siblings), below({"VCALENDAR"}), below({"VEVENT", false, false, TimeRange{10, 10}}),
        with_property({"SUMMARY", false, false, some}),
        with_property({"SUMMARY", true, false, {}, {match("x")}, {}}),
        with_property({"SUMMARY", false, false, {}, {}, {{"CN", true, match("x")}}})})
    EXPECT_TRUE(is_refused(bad)) << bad.name;
  CompFilter fine{"VEVENT", false, false, some};
  fine.components.push_back({"VALARM", false, false, some});
  EXPECT_NO_THROW(check_filter(below(fine)));
  EXPECT_NO_THROW(check_filter({"VCALENDAR"}));
}

TEST(Filter, FloodsEndAndAreLetThrough) {
  const auto flood = event("DTSTART:20000101T000000Z / RRULE:FREQ=SECONDLY / EXRULE:FREQ=SECONDLY");
  EXPECT_TRUE(finds_event(flood, "20260101T000000Z/20270101T000000Z"));
  // Thousands of rules, of its own or of its zones, and not one instance.
  std::string rules, zones, dates;
  for (int i = 0; i < 2000; ++i) rules += "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30\r\n";
  for (int i = 0; i < 100; ++i) {
    const auto name = "Z" + std::to_string(i);
    zones += "BEGIN:VTIMEZONE\r\nTZID:" + name + "\r\n";
    for (int j = 0; j < 25; ++j)
      zones +=
          "BEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY="
          "30\r\nTZOFFSETTO:+0100\r\n"
          "END:STANDARD\r\n";
    zones += "END:VTIMEZONE\r\n";
    dates += "RDATE;TZID=" + name + ":20260401T000000\r\n";
  }
  const auto busy = wire::parse_ical(calendar(
      zones + "BEGIN:VEVENT\r\nUID:x\r\nDTSTART:20260101T000000Z\r\n" + rules + dates + "END:VEVENT\r\n"));
  EXPECT_FALSE(finds_event(busy, "20270101T000000Z/20280101T000000Z"));
  EXPECT_THROW(check_object(busy), Error);
}

}  // namespace
}  // namespace welkin::calendars
