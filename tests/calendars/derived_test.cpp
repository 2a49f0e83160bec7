// What the server makes of what others wrote: days of cards, masked objects, objects of feeds.
#include <gtest/gtest.h>

#include "welkin/calendars/birthdays.hpp"
#include "welkin/calendars/mask.hpp"
#include "welkin/calendars/stored.hpp"
#include "welkin/calendars/subscriptions.hpp"

namespace welkin::calendars {
namespace {

std::string card(const std::string& more) {
  return "BEGIN:VCARD\r\nVERSION:4.0\r\nUID:u\r\nFN:Eva, M\r\n" + more + "END:VCARD\r\n";
}

TEST(DateEvents, AreMadeOfTheCardAlone) {
  const auto one = date_events("book", "eva.vcf", card("BDAY:19900304\r\nNOTE:a\r\n"));
  ASSERT_EQ(one.size(), 1u);
  const auto other = date_events("book", "eva.vcf", card("NOTE:b\r\nBDAY:19900304\r\n"));
  EXPECT_EQ(one[0].name, other.at(0).name);
  EXPECT_EQ(one[0].data, other.at(0).data);
  EXPECT_NE(one[0].name, date_events("other book", "eva.vcf", card("BDAY:19900304\r\n")).at(0).name);
  EXPECT_NE(one[0].name, date_events("book", "jo.vcf", card("BDAY:19900304\r\n")).at(0).name);
  const auto names = date_event_names("book", "eva.vcf");
  EXPECT_NE(std::find(names.begin(), names.end(), one[0].name), names.end());
  // It can be stored as it is.
  const auto facts = facts_of(one[0].data, collections::component::kEvent);
  EXPECT_EQ(facts.uid + ".ics", one[0].name);
  EXPECT_EQ(facts.title, "\U0001F382 Eva, M (1990)");
  EXPECT_EQ(facts.flags & collections::object_flags::kRecurs, collections::object_flags::kRecurs);
}

TEST(DateEvents, EndOnTheNextDay) {
  const auto ends = [](const std::string& day) {
    const auto data = date_events("b", "c", card("BDAY:" + day + "\r\n")).at(0).data;
    return data.substr(data.find("DTEND;VALUE=DATE:") + 17, 8);
  };
  EXPECT_EQ(ends("19991231"), "20000101");
  EXPECT_EQ(ends("19990228"), "19990301");
  EXPECT_EQ(ends("20000228"), "20000229");
  EXPECT_EQ(ends("--0430"), "19720501");
}

TEST(DateEvents, WhatIsNoCardHasNoDays) {
  EXPECT_TRUE(date_events("b", "c", "").empty());
  EXPECT_TRUE(date_events("b", "c", "BEGIN:VCARD").empty());
  EXPECT_TRUE(date_events("b", "c", card("BDAY:99999999\r\n")).empty());
  EXPECT_EQ(date_events("b", "c", card("BDAY:19900304\r\nANNIVERSARY:20100102\r\n")).size(), 2u);
}

TEST(Mask, TellsTimesAndNothingElse) {
  const std::string data =
      "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//secret//"
      "EN\r\nX-WR-CALNAME:secret\r\nBEGIN:VEVENT\r\nUID:u\r\n"
      "DTSTAMP:20260101T000000Z\r\nDTSTART:20260105T100000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\nCLASS:"
      "CONFIDENTIAL\r\n"
      "SUMMARY:secret\r\nDESCRIPTION:secret\r\nLOCATION:secret\r\nATTENDEE;CN=secret:mailto:secret@example."
      "org\r\n"
      "ORGANIZER:mailto:secret@example.org\r\nX-MINE:secret\r\nURL:http://secret/\r\nBEGIN:VALARM\r\n"
      "ACTION:DISPLAY\r\nDESCRIPTION:secret\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT\r\n"
      "BEGIN:X-SECRET\r\nX-A:secret\r\nEND:X-SECRET\r\nEND:VCALENDAR\r\n";
  const auto told = masked(data);
  EXPECT_EQ(told.find("secret"), std::string::npos) << told;
  for (const char* line : {"UID:u\r\n", "DTSTART:20260105T100000Z\r\n", "RRULE:FREQ=DAILY;COUNT=3\r\n",
                           "SUMMARY:Busy\r\n", "CLASS:CONFIDENTIAL\r\n"})
    EXPECT_NE(told.find(line), std::string::npos) << line;
  EXPECT_EQ(masked(data), told);
  EXPECT_EQ(masked("secret").find("secret"), std::string::npos);
}

TEST(Mask, TheStrictestClassCounts) {
  const auto flags = [](const std::string& first, const std::string& second) {
    const auto event = [](const std::string& more) {
      return "BEGIN:VEVENT\r\nUID:u\r\nDTSTART:20260105T100000Z\r\n" + more + "END:VEVENT\r\n";
    };
    return facts_of("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + event("RRULE:FREQ=DAILY\r\n" + first) +
                        event("RECURRENCE-ID:20260106T100000Z\r\n" + second) + "END:VCALENDAR\r\n",
                    collections::component::kAll)
               .flags &
           12;
  };
  using namespace collections::object_flags;
  EXPECT_EQ(flags("", ""), 0);
  EXPECT_EQ(flags("CLASS:PUBLIC\r\n", "CLASS:\r\n"), 0);
  EXPECT_EQ(flags("CLASS:confidential\r\n", ""), kConfidential);
  EXPECT_EQ(flags("", "CLASS:PRIVATE\r\n"), kPrivate);
  EXPECT_EQ(flags("CLASS:CONFIDENTIAL\r\n", "CLASS:X-WHATEVER\r\n"), kPrivate);
}

std::string feed(const std::string& inside) {
  return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nMETHOD:PUBLISH\r\n" + inside + "END:VCALENDAR\r\n";
}
std::string event(const std::string& inside) { return "BEGIN:VEVENT\r\n" + inside + "END:VEVENT\r\n"; }

TEST(Feeds, AreTakenApart) {
  EXPECT_FALSE(read_feed(""));
  EXPECT_FALSE(read_feed("<html/>"));
  EXPECT_EQ(read_feed(feed(""))->size(), 0u);
  const auto objects =
      read_feed(feed(event("UID:a\r\nDTSTART:20260105T100000Z\r\nRRULE:FREQ=DAILY\r\n") +
                     event("UID:b\r\nSUMMARY:no start\r\n") +
                     event("UID:a\r\nRECURRENCE-ID:20260106T100000Z\r\nDTSTART:20260106T110000Z\r\n") +
                     event("UID:c\r\nDTSTART:20260230T100000Z\r\n")));
  ASSERT_EQ(objects->size(), 1u);
  EXPECT_EQ(objects->front().uid, "a");
  EXPECT_NE(objects->front().data.find("RECURRENCE-ID"), std::string::npos);
  EXPECT_EQ(objects->front().data.find("METHOD"), std::string::npos);
  EXPECT_EQ(read_feed(objects->front().data)->front().content, objects->front().content)
      << "what was kept compares with what is fetched";
}

TEST(Feeds, WhatSaysTheSameIsTheSame) {
  const auto content = [](const std::string& inside) {
    return read_feed(feed(event(inside)))->at(0).content;
  };
  const auto one = content("UID:a\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260105T100000Z\r\nSUMMARY:s\r\n");
  EXPECT_EQ(
      content("UID:b\r\nDTSTAMP:20270101T000000Z\r\nSEQUENCE:4\r\nDTSTART:20260105T100000Z\r\nSUMMARY:s\r\n"),
      one);
  EXPECT_NE(content("UID:a\r\nDTSTART:20260105T100000Z\r\nSUMMARY:t\r\n"), one);
  // Without UIDs, the content is the name, each time the same.
  const auto nameless = feed(event("DTSTART:20260105T100000Z\r\n") + event("DTSTART:20260106T100000Z\r\n"));
  const auto first = read_feed(nameless), again = read_feed(nameless);
  ASSERT_EQ(first->size(), 2u);
  EXPECT_EQ(first->at(0).uid, again->at(0).uid);
  EXPECT_NE(first->at(0).uid, first->at(1).uid);
}

}  // namespace
}  // namespace welkin::calendars
