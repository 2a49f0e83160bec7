#include "calendars/itip.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "calendars/fixtures.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars::itip {
namespace {

using fixtures::calendar;
using fixtures::component;

const Addresses kAlice = addresses_of("alice", "alice@example.org"),
                kBob = addresses_of("bob", "bob@example.org");
const std::string kBobs = "mailto:bob@example.org", kCarols = "mailto:carol@example.org";
constexpr std::int64_t kNow = 1'796'040'000;

const std::string kPeople =
    " / ORGANIZER:mailto:alice@example.org / ATTENDEE;PARTSTAT=ACCEPTED:mailto:alice@example.org"
    " / ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob@example.org"
    " / ATTENDEE:mailto:carol@example.org";
const std::string kSeries =
    "DTSTART:20260907T080000Z / DURATION:PT1H / RRULE:FREQ=WEEKLY;COUNT=3 / SUMMARY:plan";
const std::string kSecond =
    "RECURRENCE-ID:20260914T080000Z / DTSTART:20260914T080000Z / DURATION:PT1H / SUMMARY:plan";

IcalComponent object(const std::string& master, const std::vector<std::string>& overrides = {}) {
  std::string text = master.empty() ? "" : component("VEVENT", "F17", master);
  for (const auto& one : overrides) text += component("VEVENT", "F17", one);
  return wire::parse_ical(calendar(text));
}
std::string replaced(std::string in, const std::string& what, const std::string& by) {
  const auto at = in.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? in : in.replace(at, what.size(), by);
}
OrganizerChange change(const IcalComponent& old, const IcalComponent& now, bool merge = false) {
  return change_as_organizer(&old, now, kAlice, merge, kNow);
}
/// "REQUEST bob, CANCEL carol": who hears what; a refresh in brackets.
std::string told(const std::vector<Message>& messages) {
  std::string out;
  for (const auto& m : messages) {
    if (!out.empty()) out += ", ";
    const auto name = m.to.substr(7, m.to.find('@') - 7);
    out += m.is_refresh ? "(" + name + ")" : std::string(name_of(m.method)) + ' ' + name;
  }
  return out;
}
std::string partstat(const IcalComponent& of, const std::string& who, std::size_t which = 0) {
  const auto* attendee = attendee_in(of.components.at(which), who);
  return attendee == nullptr ? "(none)" : partstat_of(*attendee);
}
std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& e) {
    return e.slug();
  }
  return "";
}

TEST(Itip, AddressesOfOnePersonAreFoundHoweverTheyAreWritten) {
  EXPECT_EQ(canonical_address("MAILTO:Bob@Example.ORG"), kBobs);
  EXPECT_EQ(canonical_address("mailto:bob%40example.org"), kBobs);
  EXPECT_EQ(canonical_address("/dav/principals/users/bob/"), "user:bob");
  EXPECT_EQ(canonical_address("/cloud/caldav/principals/users/Bob"), "user:bob");
  EXPECT_NE(canonical_address("http://evil.example/dav/principals/users/bob/"), "user:bob")
      << "another server's paths are not ours";
  EXPECT_NE(canonical_address("user:bob"), "user:bob") << "only paths become this";
  EXPECT_EQ(role_of(object(kSeries + kPeople), kAlice), Role::organizer);
  EXPECT_EQ(role_of(object(kSeries + kPeople), kBob), Role::attendee);
  EXPECT_EQ(role_of(object(kSeries + kPeople), addresses_of("eve", "eve@example.org")), Role::none);
  EXPECT_EQ(role_of(object(kSeries), kAlice), Role::none);
}

TEST(Itip, ANewEventIsARequestToEverybodyElse) {
  const auto made = change_as_organizer(nullptr, object(kSeries + kPeople), kAlice, false, kNow);
  EXPECT_EQ(told(made.messages), "REQUEST bob, REQUEST carol");
  EXPECT_EQ(made.messages[0].calendar.value("METHOD"), "REQUEST");
  EXPECT_EQ(made.messages[0].calendar.components.at(0).value("DTSTAMP"), wire::format_ical_utc(kNow));
  EXPECT_TRUE(same_content(made.stored, object(kSeries + kPeople)));
}

// RFC 6638 §7.1; acceptance 90.
TEST(Itip, WhoeverIsNotOursToServeHearsNothing) {
  for (const char* agent : {"NONE", "CLIENT", "X-FOO"}) {
    const auto people = replaced(kPeople, "ATTENDEE:mailto:carol",
                                 std::string("ATTENDEE;SCHEDULE-AGENT=") + agent + ":mailto:carol");
    const auto made = change_as_organizer(nullptr, object(kSeries + people), kAlice, false, kNow);
    EXPECT_EQ(told(made.messages), "REQUEST bob") << agent;
    EXPECT_EQ(made.messages[0].calendar.components.at(0).properties.size(),
              object(kSeries + people).components.at(0).properties.size());
    for (const auto& property : made.messages[0].calendar.components.at(0).properties)
      EXPECT_EQ(property.parameter("SCHEDULE-AGENT"), nullptr) << "stays between client and server";
    EXPECT_EQ(told(change(object(kSeries + kPeople), object(kSeries + people)).messages), "CANCEL carol");
  }
}

TEST(Itip, OnlyWhatConcernsOthersIsTold) {
  const auto was = object(kSeries + kPeople);
  const auto with = [&](const std::string& more) { return object(kSeries + " / " + more + kPeople); };
  // Acceptance 93.
  auto alarm = was;
  alarm.components[0].components.push_back(
      {"VALARM", {{"ACTION", {}, "DISPLAY"}, {"TRIGGER", {}, "-PT5M"}}, {}});
  EXPECT_EQ(told(change(was, alarm).messages), "");
  EXPECT_EQ(told(change(was, with("X-MOZ-LASTACK:20260101T000000Z")).messages), "");
  EXPECT_EQ(told(change(was, with("TRANSP:TRANSPARENT")).messages), "(bob), (carol)");
  EXPECT_EQ(told(change(was, with("LOCATION:here")).messages), "REQUEST bob, REQUEST carol");
  EXPECT_EQ(told(change(was, with("DESCRIPTION:a\\n b")).messages), "REQUEST bob, REQUEST carol");
  EXPECT_EQ(told(change(with("DESCRIPTION:a  b"), with("DESCRIPTION:a\\nb")).messages), "(bob), (carol)");
  EXPECT_EQ(told(change(was, with("STATUS:CONFIRMED")).messages), "(bob), (carol)");
  EXPECT_EQ(told(change(was, with("STATUS:CANCELLED")).messages), "CANCEL bob, CANCEL carol");
  // The same time, spelled otherwise.
  EXPECT_EQ(told(change(was, object(replaced(kSeries, "DURATION:PT1H", "DTEND:20260907T090000Z") + kPeople))
                     .messages),
            "(bob), (carol)");
  EXPECT_EQ(
      told(change(was, object(replaced(kSeries, "FREQ=WEEKLY;COUNT=3", "COUNT=3;FREQ=WEEKLY") + kPeople))
               .messages),
      "(bob), (carol)");
}

TEST(Itip, WhoIsAddedOrRemovedHearsOfItAndNobodyElseIsDisturbed) {
  const auto without = replaced(kPeople, " / ATTENDEE:mailto:carol@example.org", "");
  EXPECT_EQ(told(change(object(kSeries + without), object(kSeries + kPeople)).messages),
            "(bob), REQUEST carol");
  EXPECT_EQ(told(change(object(kSeries + kPeople), object(kSeries + without)).messages),
            "(bob), CANCEL carol");
  EXPECT_EQ(told(cancel_all(object(kSeries + kPeople), kAlice, kNow)), "CANCEL bob, CANCEL carol");
  const auto cancel = cancel_all(object(kSeries + kPeople), kAlice, kNow)[0].calendar;
  EXPECT_EQ(cancel.components.at(0).value("STATUS"), "CANCELLED");
  EXPECT_EQ(cancel.components.at(0).value("SEQUENCE"), "1");
}

// RFC 6638 §3.2.8.
TEST(Itip, AnotherTimeAsksEverybodyAgain) {
  const auto accepted =
      replaced(kPeople, "PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob", "PARTSTAT=ACCEPTED:mailto:bob");
  const auto made =
      change(object(kSeries + accepted), object(replaced(kSeries, "T080000Z", "T090000Z") + accepted));
  EXPECT_EQ(told(made.messages), "REQUEST bob, REQUEST carol");
  EXPECT_EQ(partstat(made.stored, kBobs), "NEEDS-ACTION");
  EXPECT_EQ(partstat(made.stored, "mailto:alice@example.org"), "ACCEPTED") << "her own stays";
  EXPECT_EQ(attendee_in(made.stored.components[0], kBobs)->parameter_value("RSVP"), "TRUE");
  EXPECT_EQ(made.stored.components[0].value("SEQUENCE"), "1") << "clients that do not count are helped";
  EXPECT_EQ(partstat(change(object(kSeries + accepted), object(kSeries + " / LOCATION:x" + accepted)).stored,
                     kBobs),
            "ACCEPTED");
}

// Acceptance 89, the second half.
TEST(Itip, AnswersThatCameMeanwhileStay) {
  const auto accepted =
      replaced(kPeople, "PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob", "PARTSTAT=ACCEPTED:mailto:bob");
  const auto declined =
      replaced(kPeople, "PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob", "PARTSTAT=DECLINED:mailto:bob");
  const auto now = object(kSeries + " / LOCATION:x" + kPeople);
  const auto was = object(kSeries + accepted, {kSecond + declined});
  const auto merged = change(was, now, true).stored;
  EXPECT_EQ(partstat(merged, kBobs), "ACCEPTED");
  ASSERT_EQ(merged.components.size(), 2u) << "an answer to one instance was kept in an override";
  EXPECT_EQ(partstat(merged, kBobs, 1), "DECLINED");
  EXPECT_EQ(merged.components[1].value("LOCATION"), "x");
  EXPECT_EQ(merged.components[1].value("RECURRENCE-ID"), "20260914T080000Z");
  const auto whole = change(was, now, false).stored;
  EXPECT_EQ(partstat(whole, kBobs), "NEEDS-ACTION") << "who has seen everything says how it is";
  EXPECT_EQ(whole.components.size(), 1u);
}

TEST(Itip, EverybodySeesTheInstancesHeIsInvitedTo) {
  const auto without_bob =
      replaced(kPeople, " / ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob@example.org", "");
  const auto with_dora = kPeople + " / ATTENDEE:mailto:dora@example.org";
  const auto whole = object(kSeries + kPeople, {kSecond + without_bob,
                                                "RECURRENCE-ID:20260921T080000Z / DTSTART:20260921T100000Z / "
                                                "DURATION:PT1H / SUMMARY:secret" +
                                                    with_dora});
  const auto bobs = view_of(whole, kBobs).value();
  ASSERT_EQ(bobs.components.size(), 2u);
  EXPECT_EQ(bobs.components[0].value("EXDATE"), "20260914T080000Z");
  const auto doras = view_of(whole, "mailto:dora@example.org").value();
  ASSERT_EQ(doras.components.size(), 1u);
  EXPECT_EQ(doras.components[0].value("RECURRENCE-ID"), "20260921T080000Z");
  EXPECT_FALSE(view_of(whole, "mailto:eve@example.org"));
  // Taken out of one instance; and out of the only one.
  EXPECT_EQ(
      told(change(object(kSeries + kPeople), object(kSeries + kPeople, {kSecond + without_bob})).messages),
      "REQUEST bob, REQUEST carol");
  EXPECT_EQ(told(change(object(kSeries + kPeople, {kSecond + with_dora}),
                        object(kSeries + kPeople, {kSecond + kPeople}))
                     .messages),
            "(bob), (carol), CANCEL dora");
}

TEST(Itip, ForceSendIsHeardOnce) {
  const auto forced =
      replaced(kPeople, "ATTENDEE:mailto:carol", "ATTENDEE;SCHEDULE-FORCE-SEND=REQUEST:mailto:carol");
  const auto made = change(object(kSeries + kPeople), object(kSeries + forced));
  EXPECT_EQ(told(made.messages), "REQUEST carol");
  EXPECT_TRUE(same_content(made.stored, object(kSeries + kPeople)));
  const auto faked =
      replaced(kPeople, "ATTENDEE:mailto:carol", "ATTENDEE;SCHEDULE-STATUS=\"2.0\":mailto:carol");
  EXPECT_TRUE(same_content(change(object(kSeries + kPeople), object(kSeries + faked)).stored,
                           object(kSeries + kPeople)))
      << "what became of a message is ours to say";
}

TEST(Itip, ObjectsHaveOneOrganizer) {
  const auto other = replaced(kPeople, "ORGANIZER:mailto:alice", "ORGANIZER:mailto:eve");
  EXPECT_EQ(refusal([&] { require_one_organizer(object(kSeries + kPeople, {kSecond + other})); }),
            "same_organizer_in_all_components");
  EXPECT_EQ(refusal([&] { require_one_organizer(object(kSeries + kPeople, {kSecond + kPeople})); }), "");
}

// --- the other side

AttendeeChange answer(const IcalComponent& old, const IcalComponent& now) {
  return change_as_attendee(&old, now, kBob, kNow);
}
std::string answered(const std::string& partstat) {
  return replaced(kPeople, "PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob",
                  "PARTSTAT=" + partstat + ":mailto:bob");
}

TEST(Itip, AnAnswerGoesToTheOrganizerWithNothingElse) {
  auto now = object(kSeries + answered("ACCEPTED") + " / X-SECRET:1 / COMMENT:fine");
  now.components[0].components.push_back(
      {"VALARM", {{"ACTION", {}, "DISPLAY"}, {"TRIGGER", {}, "-PT5M"}}, {}});
  const auto made = answer(object(kSeries + kPeople), now);
  ASSERT_TRUE(made.reply);
  EXPECT_EQ(made.reply->to, "mailto:alice@example.org");
  const auto& reply = made.reply->calendar.components.at(0);
  EXPECT_EQ(made.reply->calendar.value("METHOD"), "REPLY");
  EXPECT_EQ(reply.count("ATTENDEE"), 1u);
  EXPECT_EQ(partstat(made.reply->calendar, kBobs), "ACCEPTED");
  EXPECT_EQ(reply.text("COMMENT"), "fine");
  EXPECT_EQ(reply.property("X-SECRET"), nullptr);
  EXPECT_TRUE(reply.components.empty());
  EXPECT_TRUE(same_content(made.stored, now)) << "stored as it was sent";
  EXPECT_FALSE(answer(now, now).reply);
  auto quiet = replaced(kSeries + answered("DECLINED"), "ORGANIZER:", "ORGANIZER;SCHEDULE-AGENT=CLIENT:");
  EXPECT_FALSE(answer(object(kSeries + kPeople), object(quiet)).reply) << "the app does it";
}

TEST(Itip, AnAttendeeChangesWhatIsHis) {
  const auto was = object(kSeries + kPeople);
  const auto refused = [&](const IcalComponent& now) {
    return refusal([&] { answer(was, now); }) == "allowed_attendee_scheduling_object_change";
  };
  // Acceptance 92.
  EXPECT_TRUE(refused(object(replaced(kSeries, "T080000Z", "T090000Z") + kPeople)));
  EXPECT_TRUE(refused(object(replaced(kSeries, "PT1H", "PT2H") + kPeople)));
  EXPECT_TRUE(refused(object(replaced(kSeries, "COUNT=3", "COUNT=4") + kPeople)));
  EXPECT_TRUE(refused(object(replaced(kSeries, "SUMMARY:plan", "SUMMARY:other") + kPeople)));
  EXPECT_TRUE(refused(object(kSeries + kPeople + " / ATTENDEE:mailto:eve@example.org")));
  EXPECT_TRUE(refused(
      object(kSeries +
             replaced(kPeople, " / ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob@example.org", ""))));
  EXPECT_TRUE(refused(object(kSeries + replaced(kPeople, "ORGANIZER:mailto:alice", "ORGANIZER:mailto:bob"))));
  EXPECT_TRUE(refused(object(kSeries)));
  EXPECT_TRUE(refused(object(
      kSeries + kPeople,
      {replaced(kSecond, "RECURRENCE-ID:20260914T080000Z", "RECURRENCE-ID:20260915T080000Z") + kPeople})));
  // What clients write anew is put back without a word.
  auto noisy = object(kSeries + kPeople + " / DESCRIPTION:added / PRIORITY:1 / SEQUENCE:7");
  const auto kept = answer(was, noisy);
  EXPECT_FALSE(kept.reply);
  EXPECT_EQ(kept.stored.components[0].property("DESCRIPTION"), nullptr);
  EXPECT_EQ(kept.stored.components[0].property("SEQUENCE"), nullptr);
  const auto mine = object(kSeries + kPeople + " / TRANSP:TRANSPARENT / CATEGORIES:x / X-A:1 / COLOR:red");
  EXPECT_TRUE(same_content(answer(was, mine).stored, mine));
}

TEST(Itip, OneInstanceIsAnsweredOrLeft) {
  const auto was = object(kSeries + kPeople);
  auto made = answer(was, object(kSeries + kPeople, {kSecond + answered("DECLINED")}));
  ASSERT_TRUE(made.reply);
  ASSERT_EQ(made.reply->calendar.components.size(), 1u);
  EXPECT_EQ(made.reply->calendar.components[0].value("RECURRENCE-ID"), "20260914T080000Z");
  EXPECT_EQ(partstat(made.reply->calendar, kBobs), "DECLINED");
  // Taken out of his calendar.
  made = answer(was, object(kSeries + " / EXDATE:20260914T080000Z" + kPeople));
  ASSERT_TRUE(made.reply);
  EXPECT_EQ(made.reply->calendar.components.at(0).value("RECURRENCE-ID"), "20260914T080000Z");
  EXPECT_EQ(partstat(made.reply->calendar, kBobs), "DECLINED");
  EXPECT_EQ(made.stored.components.at(0).value("EXDATE"), "20260914T080000Z");
  // And it does not come back with the next word of the organizer's.
  const auto organizers = apply_reply(was, made.reply->calendar).value();
  ASSERT_EQ(organizers.components.size(), 2u) << "an override for the answer";
  EXPECT_EQ(partstat(organizers, kBobs, 1), "DECLINED");
  EXPECT_EQ(partstat(organizers, kBobs, 0), "NEEDS-ACTION");
  const auto next = apply_request(&made.stored, view_of(organizers, kBobs).value(), kBob);
  ASSERT_EQ(next.components.size(), 1u);
  EXPECT_EQ(next.components[0].value("EXDATE"), "20260914T080000Z");
}

TEST(Itip, LeavingIsDecliningUnlessThatIsKnown) {
  EXPECT_EQ(partstat(decline(object(kSeries + answered("ACCEPTED")), kBob, kNow)->calendar, kBobs),
            "DECLINED");
  EXPECT_FALSE(decline(object(kSeries + answered("DECLINED")), kBob, kNow));
  EXPECT_FALSE(decline(object(kSeries + " / STATUS:CANCELLED" + answered("ACCEPTED")), kBob, kNow));
}

TEST(Itip, ACopyKeepsWhatIsItsOwners) {
  auto had = object(kSeries + answered("ACCEPTED") + " / TRANSP:TRANSPARENT / X-MINE:1");
  had.components[0].components.push_back(
      {"VALARM", {{"ACTION", {}, "DISPLAY"}, {"TRIGGER", {}, "-PT5M"}}, {}});
  const auto moved = object(replaced(kSeries, "T080000Z", "T090000Z") + kPeople);
  const auto message = view_of(change(object(kSeries + answered("ACCEPTED")), moved).stored, kBobs).value();
  const auto now = apply_request(&had, message, kBob);
  EXPECT_EQ(now.components[0].value("DTSTART"), "20260907T090000Z");
  EXPECT_EQ(partstat(now, kBobs), "NEEDS-ACTION");
  EXPECT_EQ(now.components[0].value("TRANSP"), "TRANSPARENT");
  EXPECT_EQ(now.components[0].value("X-MINE"), "1");
  EXPECT_EQ(now.components[0].components.size(), 1u);
  const auto gone = apply_cancel(had, cancel_all(object(kSeries + kPeople), kAlice, kNow)[0].calendar);
  EXPECT_EQ(gone.components[0].value("STATUS"), "CANCELLED");
}

TEST(Itip, AnOrganizerSaysNothingForAnAttendee) {
  const auto message = view_of(object(kSeries + answered("ACCEPTED")), kBobs).value();
  EXPECT_EQ(partstat(apply_request(nullptr, message, kBob), kBobs), "NEEDS-ACTION");
  const auto had = object(kSeries + answered("TENTATIVE"));
  EXPECT_EQ(partstat(apply_request(&had, message, kBob), kBobs), "TENTATIVE");
  const auto again = view_of(object(kSeries + kPeople), kBobs).value();
  EXPECT_EQ(partstat(apply_request(&had, again, kBob), kBobs), "NEEDS-ACTION") << "but asks again";
}

TEST(Itip, WhoWasNotInvitedCannotAnswer) {
  const auto reply =
      answer(object(kSeries + kPeople), object(kSeries + answered("ACCEPTED"))).reply->calendar;
  auto stranger = reply;
  attendee_in(stranger.components[0], kBobs)->value = "mailto:eve@example.org";
  EXPECT_FALSE(apply_reply(object(kSeries + kPeople), stranger));
  auto elsewhere = reply;
  elsewhere.components[0].set("RECURRENCE-ID", "20260908T080000Z");
  EXPECT_FALSE(apply_reply(object(kSeries + kPeople), elsewhere)) << "no such instance";
}

TEST(Itip, ZonesAndDatesNameTheSameInstance) {
  const std::string zoned =
      "DTSTART;TZID=Europe/Berlin:20260907T100000 / DURATION:PT1H / RRULE:FREQ=WEEKLY;COUNT=3 / SUMMARY:plan";
  const auto was = object(zoned + kPeople);
  // Some clients name instances in UTC.
  const auto made = answer(
      was,
      object(zoned + kPeople,
             {"RECURRENCE-ID:20260914T080000Z / DTSTART:20260914T080000Z / DURATION:PT1H / SUMMARY:plan" +
              answered("TENTATIVE")}));
  ASSERT_TRUE(made.reply);
  const auto organizers = apply_reply(was, made.reply->calendar).value();
  ASSERT_EQ(organizers.components.size(), 2u);
  EXPECT_EQ(organizers.components[1].value("RECURRENCE-ID"), "20260914T100000")
      << "as the series tells its time";
  const std::string days = "DTSTART;VALUE=DATE:20260907 / RRULE:FREQ=DAILY;COUNT=3 / SUMMARY:plan";
  const auto out = answer(object(days + kPeople), object(days + " / EXDATE;VALUE=DATE:20260908" + kPeople));
  ASSERT_TRUE(out.reply);
  EXPECT_EQ(out.reply->calendar.components.at(0).value("RECURRENCE-ID"), "20260908");
}

/// Meetings as nobody means them, but may send them: lines of some moved, doubled and dropped.
class Scrambler {
 public:
  explicit Scrambler(unsigned seed) : random_(seed) {}
  /// An object that may be stored; nullopt when this one may not.
  std::optional<IcalComponent> next() {
    static const std::string kMoved =
        "RECURRENCE-ID:20260914T080000Z / DTSTART:20260914T100000Z / DURATION:PT2H / SUMMARY:plan";
    auto made =
        object(pick(3) == 0 ? "" : kSeries + kPeople, {kSecond + answered("DECLINED"), kMoved + kPeople});
    if (pick(2) == 0) made.components.erase(made.components.end() - 1);
    for (int i = 0; i < 4; ++i) scramble(made.components.at(pick(made.components.size())));
    std::string text;
    wire::append_ical(text, made);
    if (!is_storable(text)) return std::nullopt;
    return wire::parse_ical(text);
  }
  static bool is_storable(const std::string& text) {
    try {
      check_object(wire::parse_ical(text));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

 private:
  std::size_t pick(std::size_t of) { return std::uniform_int_distribution<std::size_t>(0, of - 1)(random_); }
  void scramble(IcalComponent& component) {
    static const IcalProperty kOdd[] = {
        {"EXDATE", {}, "20260914T080000Z,20260921T080000Z"},
        {"EXDATE", {{"VALUE", {"DATE"}}}, "20260914"},
        {"RECURRENCE-ID", {{"RANGE", {"THISANDFUTURE"}}}, "20260921T080000Z"},
        {"RECURRENCE-ID", {{"VALUE", {"DATE"}}}, "20260921"},
        {"RDATE", {{"VALUE", {"PERIOD"}}}, "20260922T080000Z/PT1H"},
        {"DTSTART", {{"TZID", {"Nowhere/Land"}}}, "20260907T080000"},
        {"DTSTART", {{"VALUE", {"DATE"}}}, "20260907"},
        {"DTEND", {}, "20260907T070000Z"},
        {"ATTENDEE", {{"SCHEDULE-AGENT", {"CLIENT"}}}, "mailto:bob@example.org"},
        {"ATTENDEE", {{"PARTSTAT", {"accepted"}}}, "MAILTO:BOB@EXAMPLE.ORG"},
        {"ATTENDEE", {}, ""},
        {"ORGANIZER", {{"SCHEDULE-AGENT", {"NONE"}}}, "mailto:alice@example.org"},
        {"SEQUENCE", {}, "99999999999"},
        {"STATUS", {}, "CANCELLED"},
    };
    auto& lines = component.properties;
    const auto at = pick(lines.size());
    switch (pick(4)) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        lines.push_back(lines[at]);
        break;
      default:
        lines.push_back(kOdd[pick(std::size(kOdd))]);
    }
  }
  std::mt19937 random_;
};

// Whatever two objects follow each other: what is made of them can be stored and read.
TEST(Itip, WhatComesOutCanAlwaysBeKept) {
  Scrambler scrambler(17);
  std::optional<IcalComponent> old;
  int organized = 0, attended = 0;
  const auto expect_storable = [](const IcalComponent& made, const char* what) {
    std::string text;
    wire::append_ical(text, made);
    EXPECT_TRUE(Scrambler::is_storable(text)) << what << '\n' << text;
  };
  for (int i = 0; i < 1200; ++i) {
    const auto now = scrambler.next();
    if (!now) continue;
    const auto* before = old && role_of(*old, kAlice) == Role::organizer ? &*old : nullptr;
    if (role_of(*now, kAlice) == Role::organizer) {
      ++organized;
      const auto made = change_as_organizer(before, *now, kAlice, i % 2 == 0, kNow);
      expect_storable(made.stored, "organizer");
      for (const auto& message : made.messages) {
        if (message.to != kBobs) continue;
        expect_storable(apply_request(nullptr, message.calendar, kBob), "new copy");
        if (old) {
          expect_storable(apply_request(&*old, message.calendar, kBob), "copy");
          expect_storable(apply_cancel(*old, message.calendar), "cancelled copy");
        }
      }
      cancel_all(made.stored, kAlice, kNow);
    }
    if (role_of(*now, kBob) == Role::attendee && old && role_of(*old, kBob) == Role::attendee) {
      decline(*now, kBob, kNow);
      std::optional<AttendeeChange> made;
      if (refusal([&] { made = change_as_attendee(&*old, *now, kBob, kNow); }).empty()) {
        ++attended;
        expect_storable(made->stored, "attendee");
        if (made->reply)
          if (const auto replied = apply_reply(*old, made->reply->calendar))
            expect_storable(*replied, "replied");
      }
    }
    old = now;
  }
  EXPECT_GT(organized, 80);
  EXPECT_GT(attended, 8);
}

}  // namespace
}  // namespace welkin::calendars::itip
