#include "welkin/calendars/object.hpp"

#include <gtest/gtest.h>

#include "calendars/fixtures.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars {
namespace {

using fixtures::at;
using fixtures::calendar;
using fixtures::component;
using fixtures::event;
using fixtures::todo;

/// The precondition that keeps the text out of a calendar; "" when it may be stored.
std::string refusal(std::string_view text, const ObjectRules& rules = {}) {
  try {
    check_object(wire::parse_ical(text), rules);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::forbidden);
    return e.slug();
  }
  return "";
}
std::string refusal_of_event(std::string_view joined) {
  return refusal(calendar(component("VEVENT", "F", joined)));
}

TEST(Object, PlainEventWithBareLineEndsAndNoVersion) {
  const std::string text =
      "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:F1\nDTSTART:20260105T100000Z\nDTEND:20260105T110000Z\nSUMMARY:"
      "plain\n"
      "END:VEVENT\nEND:VCALENDAR";
  EXPECT_EQ(refusal(text), "");
  const auto facts = describe_object(wire::parse_ical(text));
  EXPECT_EQ(facts.uid, "F1");
  EXPECT_EQ(facts.kind, kEvent);
  EXPECT_EQ(facts.summary, "plain");
  EXPECT_EQ(facts.span, (Span{at("20260105T100000"), at("20260105T110001")}));
  EXPECT_FALSE(facts.recurring);
}

TEST(Object, SpanOfASeries) {
  const auto facts = describe_object(fixtures::f2());
  EXPECT_TRUE(facts.recurring);
  EXPECT_TRUE(facts.has_override);
  EXPECT_EQ(facts.span, (Span{at("20260302T083000"), at("20260420T083001")}));
  EXPECT_TRUE(describe_object(event("DTSTART:20260101T100000Z / RRULE:FREQ=SECONDLY")).endless());
  EXPECT_TRUE(
      describe_object(event("DTSTART:20260101T100000Z / RRULE:FREQ=DAILY;COUNT=2000000000")).endless());
  EXPECT_EQ(describe_object(event("DTSTART:20260101T100000Z / RRULE:FREQ=DAILY;UNTIL=20260110")).span->last,
            at("20260111T000000"));
}

TEST(Object, FloatingTimesWidenTheSpan) {
  const auto facts = describe_object(event("DTSTART;VALUE=DATE:20260328 / DTEND;VALUE=DATE:20260331"));
  EXPECT_EQ(facts.span, (Span{at("20260328") - 14 * 3600, at("20260331") + 12 * 3600 + 1}));
}

TEST(Object, SpansOfToDos) {
  EXPECT_EQ(describe_object(todo("SUMMARY:x")).span, (Span{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(describe_object(todo("CREATED:20260101T000000Z / COMPLETED:20260111T000000Z")).span,
            (Span{at("20260101") - 1, at("20260111") + 1}));
  EXPECT_EQ(describe_object(todo("DUE:20260111T000000Z")).span,
            (Span{at("20260111") - 1, at("20260111") + 1}));
  EXPECT_TRUE(describe_object(todo("DUE:20260111T000000Z / RRULE:FREQ=DAILY")).endless());
  EXPECT_EQ(describe_object(wire::parse_ical(calendar(component("VJOURNAL", "J", "SUMMARY:x")))).span,
            std::nullopt);
}

TEST(Object, PeopleAndWords) {
  const auto facts = describe_object(
      event("DTSTART:20260907T080000Z / RRULE:FREQ=WEEKLY;COUNT=3 / SUMMARY:Gr\xc3\x9c\xc3\x9f\\, alle / "
            "CLASS:X-ODD / TRANSP:TRANSPARENT / "
            "STATUS:TENTATIVE / SEQUENCE:3 / CATEGORIES:A,B / "
            "ORGANIZER;CN=Alice;SCHEDULE-AGENT=client:mailto:alice@example.org / "
            "ATTENDEE;PARTSTAT=ACCEPTED:mailto:alice@example.org / "
            "ATTENDEE;RSVP=TRUE;SCHEDULE-AGENT=X-FOO:mailto:Bob@example.org / "
            "ATTENDEE:MAILTO:bob@example.org / BEGIN:VALARM / ACTION:DISPLAY / TRIGGER:-PT15M / END:VALARM"));
  EXPECT_EQ(facts.summary, "Gr\xc3\x9c\xc3\x9f, alle");
  EXPECT_NE(facts.search.find("gr\xc3\xbcss, alle\n"), std::string::npos);
  EXPECT_NE(facts.search.find("a,b\n"), std::string::npos);
  EXPECT_NE(facts.search.find("mailto:bob@example.org\n"), std::string::npos);
  EXPECT_EQ(facts.organizer, "mailto:alice@example.org");
  EXPECT_EQ(facts.organizer_agent, "CLIENT");
  ASSERT_EQ(facts.attendees.size(), 2U);
  EXPECT_EQ(facts.attendees[0].partstat, "ACCEPTED");
  EXPECT_EQ(facts.attendees[1].partstat, "NEEDS-ACTION");
  EXPECT_EQ(facts.attendees[1].schedule_agent, "NONE");
  EXPECT_TRUE(facts.is_scheduling && facts.has_alarm && facts.is_transparent);
  EXPECT_EQ(facts.status, Status::tentative);
  EXPECT_EQ(facts.classification, Classification::is_private);
  EXPECT_EQ(facts.sequence, 3);
}

TEST(Object, WhatIsNoObject) {
  const std::string one = component("VEVENT", "A", "DTSTART:20260101T100000Z");
  EXPECT_EQ(refusal("BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\n" + one + "END:VCALENDAR\r\n"),
            "valid_calendar_object_resource");
  EXPECT_EQ(refusal(calendar(one + component("VEVENT", "B", "DTSTART:20260101T100000Z"))),
            "valid_calendar_object_resource");
  EXPECT_EQ(refusal(calendar(one + component("VTODO", "A", ""))), "valid_calendar_object_resource");
  EXPECT_EQ(refusal(calendar("BEGIN:VEVENT\r\nDTSTART:20260101T100000Z\r\nEND:VEVENT\r\n")),
            "valid_calendar_object_resource");
  EXPECT_EQ(refusal(calendar(one + one)), "valid_calendar_object_resource");
  const std::string moved =
      component("VEVENT", "A", "RECURRENCE-ID:20260101T100000Z / DTSTART:20260102T100000Z");
  EXPECT_EQ(refusal(calendar(moved + moved)), "valid_calendar_object_resource");
  EXPECT_EQ(refusal(calendar("")), "valid_calendar_object_resource");
  EXPECT_EQ(refusal(calendar(one), {.kinds = kTodo}), "supported_calendar_component");
  EXPECT_EQ(refusal(calendar(component("VPOLL", "A", ""))), "supported_calendar_component");
}

TEST(Object, WhatCannotBeRead) {
  for (const auto* joined :
       {"DTSTART:20260230T100000Z", "SUMMARY:no start", "DTSTART:20261301T100000Z",
        "DTSTART:20260101T240000Z", "DTSTART:20260101T100000Z / DURATION:1H",
        "DTSTART:20260101T100000Z / RRULE:FREQ=NEVER", "DTSTART:20260101T100000Z / EXDATE:tomorrow",
        "DTSTART:20260101T100000Z / RDATE:20260101T100000Z/now",
        "DTSTART:20260101T100000Z / BEGIN:VALARM / TRIGGER:soon / END:VALARM",
        "RECURRENCE-ID:x / DTSTART:20260101T100000Z"})
    EXPECT_EQ(refusal_of_event(joined), "valid_calendar_data") << joined;
}

TEST(Object, LimitsOfACalendar) {
  EXPECT_EQ(refusal_of_event("DTSTART:20260101T100000Z / RRULE:FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30"),
            "max_instances");
  EXPECT_EQ(refusal_of_event("DTSTART:20260101T100000Z / RRULE:RSCALE=CHINESE;FREQ=YEARLY"),
            "supported_rscale");
  EXPECT_EQ(refusal_of_event("DTSTART:00000101T100000Z"), "min_date_time");
  EXPECT_EQ(refusal(calendar(component("VEVENT", "A", "DTSTART:22010101T100000Z")), {.year_max = 2200}),
            "max_date_time");
  EXPECT_EQ(refusal(calendar(component("VEVENT", "A", "DTSTART:20260101T100000Z / ATTENDEE:a / ATTENDEE:b")),
                    {.attendees_max = 1}),
            "max_attendees_per_instance");
}

TEST(Object, OddButUsable) {
  for (const auto* joined :
       {"DTSTART:20260101T100000Z / RRULE:FREQ=SECONDLY",
        "DTSTART:20260101T100000Z / RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "DTSTART:20260101T100000Z / RRULE:FREQ=DAILY;COUNT=2;UNTIL=20260110T000000Z", "DTSTART:20260101",
        "DTSTART:20260101T100000Z / DTEND:20260101T090000Z / DURATION:PT1H",
        "DTSTART;VALUE=DATE:20260101 / DTEND:20260101T090000Z",
        "DTSTART:20260101T100000Z / EXDATE:", "DTSTART;TZID=Nowhere/Land:20260101T100000",
        "RECURRENCE-ID:20260101T100000Z / DTSTART:20260101T100000Z",
        "DTSTART:20260101T100000Z / X-ODD;VALUE=FOO:\\q"})
    EXPECT_EQ(refusal_of_event(joined), "") << joined;
  EXPECT_EQ(refusal(calendar(
                component("VTODO", "T", "DUE:20260101 / DTSTART:20260102T100000Z / RRULE:FREQ=DAILY"))),
            "");
}

TEST(Object, FilesOfManyObjects) {
  static int made = 0;
  const auto all = wire::parse_icals(
      "BEGIN:VCALENDAR\r\nMETHOD:PUBLISH\r\nX-WR-CALNAME:n\r\nPRODID:p\r\nBEGIN:VTIMEZONE\r\nTZID:A\r\nEND:"
      "VTIMEZONE\r\n" +
      component("VEVENT", "1", "DTSTART;TZID=A:20260101T100000") +
      component("VEVENT", "2", "DTSTART:20260101T100000Z") +
      component("VEVENT", "1", "RECURRENCE-ID;TZID=A:20260101T100000 / DTSTART;TZID=A:20260102T100000") +
      "BEGIN:VTODO\r\nSUMMARY:no uid\r\nEND:VTODO\r\nEND:VCALENDAR\r\n");
  const auto objects = split_objects(all, +[] { return "made-" + std::to_string(++made); });
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(objects[0].components.size(), 3U);  // the zone, the master, the override
  EXPECT_EQ(objects[0].components[0].name, "VTIMEZONE");
  EXPECT_EQ(objects[0].properties.size(), 1U);
  EXPECT_EQ(objects[1].components.size(), 1U);
  EXPECT_EQ(objects[2].components[0].value("UID"), "made-1");
  for (const auto& object : objects) EXPECT_NO_THROW(check_object(object));
}

}  // namespace
}  // namespace welkin::calendars
