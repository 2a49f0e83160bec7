#include <set>
#include <thread>

#include "dav/groupware/scheduling.hpp"
#include "welkin/calendars/mailer.hpp"

namespace welkin::tests {
namespace {

TEST_F(Scheduling, IsAnnouncedAndHasItsPlaces) {
  EXPECT_EQ(send("OPTIONS", cal), 200);
  EXPECT_NE(last.header("dav").find("calendar-auto-schedule"), std::string::npos);
  const auto me = propfind("/dav/principals/users/" + alice.name + "/", "0",
                           "<C:schedule-inbox-URL/><C:schedule-outbox-URL/><C:calendar-user-address-set/>"
                           "<C:calendar-user-type/>")
                      .responses.at(0);
  EXPECT_EQ(me.properties.at(caldav("schedule-inbox-URL")).element.children.at(0).text, inbox);
  EXPECT_EQ(me.properties.at(caldav("schedule-outbox-URL")).element.children.at(0).text, outbox);
  EXPECT_EQ(me.properties.at(caldav("calendar-user-address-set")).element.children.at(0).text, mail(alice));
  EXPECT_EQ(me.text(caldav("calendar-user-type")), "INDIVIDUAL");
  const auto listed = propfind(home, "1", "<d:resourcetype/><d:current-user-privilege-set/><CS:getctag/>");
  EXPECT_NE(listed.at(inbox)
                .properties.at("resourcetype")
                .element.child("urn:ietf:params:xml:ns:caldav", "schedule-inbox"),
            nullptr);
  EXPECT_NE(listed.at(outbox)
                .properties.at("resourcetype")
                .element.child("urn:ietf:params:xml:ns:caldav", "schedule-outbox"),
            nullptr);
  EXPECT_EQ(listed.at(inbox).status_of(cs("getctag")), 200);
  const auto has = [&](const std::string& path, const std::string& privilege) {
    for (const auto& one : listed.at(path).properties.at("current-user-privilege-set").element.children)
      if (one.children.at(0).name == privilege) return true;
    return false;
  };
  EXPECT_TRUE(has(inbox, "schedule-deliver"));
  EXPECT_TRUE(has(outbox, "schedule-send-freebusy"));
  EXPECT_FALSE(has(outbox, "schedule-deliver"));
  // Nobody puts anything there, and they stay.
  EXPECT_EQ(put(inbox + "x.ics", event("x")), 403);
  EXPECT_EQ(put(outbox + "x.ics", event("x")), 403);
  EXPECT_EQ(send("DELETE", inbox), 403);
  EXPECT_EQ(send("DELETE", outbox), 403);
  EXPECT_EQ(send("MKCALENDAR", inbox), 403);
  EXPECT_EQ(send(bobs, "PROPFIND", inbox, {{"Depth", "0"}}), 404);
  EXPECT_EQ(report(outbox, "C:calendar-query", "<d:prop><d:getetag/></d:prop>").responses.size(), 0u);
  EXPECT_EQ(last.status, 207);
}

// Acceptance 88; that ext gets a mail is in scheduling_mail_test.
TEST_F(Scheduling, AnInvitationReachesTheAttendeeAndHisInbox) {
  ASSERT_EQ(put(cal + "F17.ics", meeting(people("PARTSTAT=NEEDS-ACTION;RSVP=TRUE",
                                                " / ATTENDEE;RSVP=TRUE:mailto:ext@elsewhere.example"))),
            201)
      << last.body;
  EXPECT_FALSE(last.has("etag")) << "what is stored is not what was sent";
  const auto tag = last.header("schedule-tag");
  EXPECT_TRUE(tag.starts_with('"'));
  const auto mine = parsed(dav, cal + "F17.ics");
  EXPECT_EQ(last.header("schedule-tag"), tag);
  EXPECT_EQ(text(cal + "F17.ics", "C:schedule-tag", caldav("schedule-tag")), tag);
  EXPECT_EQ(status(mine, mail(bob)), "1.2");
  EXPECT_EQ(status(mine, "mailto:ext@elsewhere.example"), "5.2") << "there is no relay";
  const auto copy = only(bobs, bob_cal);
  EXPECT_EQ(event_in(copy).value("UID"), uid);
  EXPECT_EQ(event_in(copy).value("DTSTART"), "20360901T080000Z");
  EXPECT_EQ(partstat(copy, bob), "NEEDS-ACTION");
  EXPECT_TRUE(copy.value("METHOD").empty());
  EXPECT_TRUE(last.has("schedule-tag"));
  EXPECT_EQ(status(copy, mail(bob)), "");
  const auto message = only(bobs, bob_inbox);
  EXPECT_EQ(message.value("METHOD"), "REQUEST");
  EXPECT_EQ(event_in(message).value("UID"), uid);
  // The inbox is a collection like others, and emptied by whoever has read it.
  const auto hrefs = members(bobs, bob_inbox);
  const auto got = dav_answer(bobs.send("REPORT", bob_inbox, {},
                                        "<C:calendar-multiget" + std::string(kSpaces) +
                                            "><d:prop><C:calendar-data/></d:prop><d:href>" + hrefs.at(0) +
                                            "</d:href></C:calendar-multiget>"));
  EXPECT_NE(got.responses.at(0).text(caldav("calendar-data")).find("METHOD:REQUEST"), std::string::npos);
  EXPECT_EQ(send(bobs, "DELETE", hrefs.at(0)), 204);
  EXPECT_TRUE(members(bobs, bob_inbox).empty());
  EXPECT_EQ(members(dav, inbox).size(), 0u);
}

// Acceptance 89.
TEST_F(Scheduling, AnAnswerChangesTheOrganizersCopyButNotItsTag) {
  put(cal + "F17.ics", meeting(people()));
  const auto tag = last.header("schedule-tag");
  const auto before = etag(cal + "F17.ics");
  const auto copy = members(bobs, bob_cal).at(0);
  const auto bobs_tag = bobs.get(copy).header("schedule-tag");
  ASSERT_EQ(put_as(bobs, copy, answered(bobs, copy, bob, "ACCEPTED"), {{"If-Schedule-Tag-Match", bobs_tag}}),
            204)
      << last.body;
  EXPECT_NE(last.header("schedule-tag"), bobs_tag);
  const auto mine = parsed(dav, cal + "F17.ics");
  EXPECT_EQ(partstat(mine, bob), "ACCEPTED");
  EXPECT_EQ(status(mine, mail(bob)), "2.0");
  EXPECT_EQ(last.header("schedule-tag"), tag);
  EXPECT_NE(etag(cal + "F17.ics"), before);
  EXPECT_EQ(only(dav, inbox).value("METHOD"), "REPLY");
  EXPECT_EQ(status(parsed(bobs, copy), mail(alice)), "1.2");
  // She has not seen it yet.
  ASSERT_EQ(put(cal + "F17.ics", meeting(people(), std::string(kSeries) + " / LOCATION:here"),
                {{"If-Schedule-Tag-Match", tag}}),
            204);
  EXPECT_NE(last.header("schedule-tag"), tag);
  EXPECT_EQ(partstat(parsed(dav, cal + "F17.ics"), bob), "ACCEPTED");
  EXPECT_EQ(event_in(parsed(bobs, copy)).value("LOCATION"), "here");
  EXPECT_EQ(partstat(parsed(bobs, copy), bob), "ACCEPTED");
  EXPECT_EQ(put(cal + "F17.ics", meeting(people()), {{"If-Schedule-Tag-Match", tag}}), 412)
      << "that was another one";
  EXPECT_EQ(put(cal + "F17.ics", meeting(people()), {{"If-Match", before}}), 412);
}

TEST_F(Scheduling, OtherAttendeesSeeAnAnswerWithoutBeingTold) {
  put(cal + "F17.ics", meeting(people("RSVP=TRUE", " / ATTENDEE:" + mail(carol))));
  const auto copy = members(bobs, bob_cal).at(0), carols_copy = members(carols, carol_cal).at(0);
  const auto tag = carols.get(carols_copy).header("schedule-tag");
  const auto messages = members(carols, carol_home + "inbox/").size();
  ASSERT_EQ(put_as(bobs, copy, answered(bobs, copy, bob, "TENTATIVE")), 204);
  EXPECT_EQ(partstat(parsed(carols, carols_copy), bob), "TENTATIVE");
  EXPECT_EQ(last.header("schedule-tag"), tag);
  EXPECT_EQ(members(carols, carol_home + "inbox/").size(), messages);
}

TEST_F(Scheduling, OneInstanceIsAnsweredAndMoved) {
  put(cal + "F17.ics", meeting(people()));
  const auto copy = members(bobs, bob_cal).at(0);
  auto object = parsed(bobs, copy);
  auto instance = event_in(object);
  instance.remove("RRULE");
  instance.set("DTSTART", "20360908T080000Z");
  instance.properties.push_back({"RECURRENCE-ID", {}, "20360908T080000Z"});
  for (auto& property : instance.properties)
    if (property.value == mail(bob)) property.set_parameter("PARTSTAT", "DECLINED");
  object.components.push_back(instance);
  std::string body;
  wire::append_ical(body, object);
  ASSERT_EQ(put_as(bobs, copy, body), 204) << last.body;
  const auto mine = parsed(dav, cal + "F17.ics");
  EXPECT_EQ(partstat(mine, bob, 0), "NEEDS-ACTION");
  EXPECT_EQ(partstat(mine, bob, 1), "DECLINED");
  EXPECT_EQ(event_in(mine, 1).value("RECURRENCE-ID"), "20360908T080000Z");
  // The organizer moves another one.
  const std::string moved =
      "RECURRENCE-ID:20360915T080000Z / DTSTART:20360915T120000Z / DURATION:PT1H / SUMMARY:plan";
  ASSERT_EQ(put(cal + "F17.ics", calendar("BEGIN:VEVENT / UID:" + uid + " / " + kSeries + people() +
                                          " / END:VEVENT / BEGIN:VEVENT / UID:" + uid + " / " + moved +
                                          people() + " / END:VEVENT")),
            204);
  const auto now = parsed(bobs, copy);
  EXPECT_EQ(now.components.size(), 3u);
  EXPECT_EQ(get(cal + "F17.ics").find("DECLINED") != std::string::npos, true) << "an answer she had not seen";
}

// Acceptance 90.
TEST_F(Scheduling, WhoeverIsNotServedHearsNothing) {
  for (const std::string agent : {"NONE", "X-FOO", "CLIENT"}) {
    uid = server.fresh("uid");
    ASSERT_EQ(put(cal + agent + ".ics", meeting(people("SCHEDULE-AGENT=" + agent))), 201);
    EXPECT_TRUE(last.has("etag")) << "nothing was changed in it";
    EXPECT_TRUE(members(bobs, bob_cal).empty());
    EXPECT_TRUE(members(bobs, bob_inbox).empty());
  }
  EXPECT_EQ(server.number("select count(*) from scheduling_mails where user_id = " +
                          std::to_string(alice.id.value)),
            0);
}

// Acceptance 91.
TEST_F(Scheduling, LeavingIsDecliningOrSilent) {
  for (const bool quiet : {true, false}) {
    uid = server.fresh("uid");
    const auto name = cal + uid + ".ics";
    put(name, meeting(people()));
    const auto copy = members(bobs, bob_cal).at(0);
    ASSERT_EQ(send(bobs, "DELETE", copy, quiet ? HeaderList{{"Schedule-Reply", "F"}} : HeaderList{}), 204);
    EXPECT_EQ(partstat(parsed(dav, name), bob), quiet ? "NEEDS-ACTION" : "DECLINED");
  }
  // He has said no: no word of it but another time brings it back.
  ASSERT_EQ(
      put(cal + uid + ".ics", meeting(people("PARTSTAT=DECLINED"), std::string(kSeries) + " / LOCATION:x")),
      204);
  EXPECT_TRUE(members(bobs, bob_cal).empty());
  ASSERT_EQ(put(cal + uid + ".ics", meeting(people("PARTSTAT=DECLINED"),
                                            "DTSTART:20360901T090000Z / DURATION:PT1H / SUMMARY:plan")),
            204);
  EXPECT_EQ(members(bobs, bob_cal).size(), 1u);
}

// Acceptance 92.
TEST_F(Scheduling, AnAttendeeDoesNotMoveTheEvent) {
  put(cal + "F17.ics", meeting(people()));
  const auto copy = members(bobs, bob_cal).at(0);
  const auto before = bobs.get(copy).body;
  auto object = wire::parse_ical(before);
  object.components.at(0).set("DTSTART", "20360901T090000Z");
  std::string body;
  wire::append_ical(body, object);
  EXPECT_EQ(put_as(bobs, copy, body), 403);
  EXPECT_EQ(condition(), "C:allowed-attendee-scheduling-object-change");
  EXPECT_EQ(bobs.get(copy).body, before);
  EXPECT_EQ(put_as(bobs, copy, meeting("")), 403) << "nor does he make it his own";
}

// Acceptance 93.
TEST_F(Scheduling, AnAlarmIsNoNews) {
  put(cal + "F17.ics", meeting(people()));
  const auto copy = members(bobs, bob_cal).at(0);
  const auto before = bobs.get(copy).header("etag");
  ASSERT_EQ(put(cal + "F17.ics",
                meeting(people() +
                        " / BEGIN:VALARM / ACTION:DISPLAY / TRIGGER:-PT5M / DESCRIPTION:x / END:VALARM")),
            204);
  EXPECT_EQ(bobs.get(copy).header("etag"), before);
  EXPECT_EQ(members(bobs, bob_inbox).size(), 1u) << "the invitation";
  EXPECT_NE(get(cal + "F17.ics").find("VALARM"), std::string::npos);
  EXPECT_EQ(bobs.get(copy).body.find("VALARM"), std::string::npos);
}

TEST_F(Scheduling, WhatIsOverForTheOrganizerIsCancelledForOthers) {
  put(cal + "F17.ics", meeting(people("RSVP=TRUE", " / ATTENDEE:" + mail(carol))));
  const auto copy = members(bobs, bob_cal).at(0);
  // carol is taken out, and then everything.
  ASSERT_EQ(put(cal + "F17.ics", meeting(people("RSVP=TRUE"))), 204);
  EXPECT_EQ(event_in(only(carols, carol_cal)).value("STATUS"), "CANCELLED");
  EXPECT_EQ(event_in(parsed(bobs, copy)).value("STATUS"), "");
  const auto tag = last.header("schedule-tag");
  ASSERT_EQ(send("DELETE", cal + "F17.ics"), 204);
  EXPECT_EQ(event_in(parsed(bobs, copy)).value("STATUS"), "CANCELLED");
  EXPECT_NE(last.header("schedule-tag"), tag);
  std::multiset<std::string> methods;
  for (const auto& href : members(bobs, bob_inbox)) methods.emplace(parsed(bobs, href).value("METHOD"));
  EXPECT_EQ(methods, (std::multiset<std::string>{"CANCEL", "REQUEST"}));
  // Nobody declines what is cancelled.
  ASSERT_EQ(send(bobs, "DELETE", copy), 204);
  EXPECT_TRUE(members(dav, inbox).empty());
}

TEST_F(Scheduling, ObjectsOfOthersAreNotWrittenInto) {
  // bob has something of his own under that UID.
  const auto own = event(uid, "DTSTART:20360101T100000Z / SUMMARY:private");
  ASSERT_EQ(put_as(bobs, bob_cal + "own.ics", own), 201);
  ASSERT_EQ(put(cal + "F17.ics", meeting(people())), 201);
  EXPECT_EQ(status(parsed(dav, cal + "F17.ics"), mail(bob)), "3.8");
  EXPECT_EQ(bobs.get(bob_cal + "own.ics").body, own);
  EXPECT_TRUE(members(bobs, bob_inbox).empty());
  // And an invitation of alice's is not changed by carol, who knows its UID.
  uid = server.fresh("uid");
  put(cal + "two.ics", meeting(people()));
  const auto evil = event(uid, "DTSTART:20360901T080000Z / SUMMARY:evil / ORGANIZER:" + mail(carol) +
                                   " / ATTENDEE:" + mail(bob) + " / ATTENDEE:" + mail(alice));
  ASSERT_EQ(put_as(carols, carol_cal + "evil.ics", evil), 201);
  EXPECT_EQ(status(parsed(carols, carol_cal + "evil.ics"), mail(bob)), "3.8");
  for (auto* as : {&bobs, &dav})
    for (const auto& href : members(*as, as == &dav ? cal : bob_cal))
      EXPECT_EQ(as->get(href).body.find("evil"), std::string::npos);
  // Nor does carol answer for bob.
  const auto forged = event(
      uid, "DTSTART:20360901T080000Z / DURATION:PT1H / SUMMARY:plan / ORGANIZER:" + mail(alice) +
               " / ATTENDEE;PARTSTAT=DECLINED:" + mail(bob) + " / ATTENDEE;PARTSTAT=ACCEPTED:" + mail(carol));
  EXPECT_EQ(send(carols, "DELETE", carol_cal + "evil.ics"), 204);
  ASSERT_EQ(put_as(carols, carol_cal + "forged.ics", forged), 201);
  EXPECT_EQ(status(parsed(carols, carol_cal + "forged.ics"), mail(alice)), "3.8");
  EXPECT_EQ(partstat(parsed(dav, cal + "two.ics"), bob), "NEEDS-ACTION");
}

TEST_F(Scheduling, TheRulesOfObjectsAreKept) {
  put(cal + "F17.ics", meeting(people()));
  EXPECT_EQ(put(tasks + "x.ics", meeting(people())), 403);
  ASSERT_EQ(send("MKCALENDAR", home + "other/"), 201);
  EXPECT_EQ(put(home + "other/x.ics", meeting(people())), 403);
  EXPECT_EQ(condition(), "C:unique-scheduling-object-resource");
  EXPECT_EQ(send("COPY", cal + "F17.ics", {{"Destination", home + "other/x.ics"}}), 403);
  EXPECT_EQ(condition(), "C:unique-scheduling-object-resource");
  auto taken = meeting(people());
  taken.replace(taken.find("ORGANIZER:" + mail(alice)), 10 + mail(alice).size(), "ORGANIZER:" + mail(carol));
  EXPECT_EQ(put(cal + "F17.ics", taken), 403);
  EXPECT_EQ(condition(), "C:allowed-organizer-scheduling-object-change");
  auto two = wire::parse_ical(meeting(people()));
  two.components.push_back(two.components.at(0));
  two.components[1].remove("RRULE");
  two.components[1].set("RECURRENCE-ID", "20360908T080000Z");
  two.components[1].set("ORGANIZER", mail(carol));
  std::string body;
  wire::append_ical(body, two);
  EXPECT_EQ(put(cal + "F17.ics", body), 403);
  EXPECT_EQ(condition(), "C:same-organizer-in-all-components");
  // Moving it to another calendar is nobody's business, and makes a new tag.
  const auto tag = dav.get(cal + "F17.ics").header("schedule-tag");
  ASSERT_EQ(send("MOVE", cal + "F17.ics", {{"Destination", home + "other/y.ics"}}), 201);
  EXPECT_EQ(members(bobs, bob_inbox).size(), 1u);
  EXPECT_NE(dav.get(home + "other/y.ics").header("schedule-tag"), tag);
  EXPECT_EQ(event_in(only(bobs, bob_cal)).value("STATUS"), "");
  EXPECT_EQ(put(cal + "plain.ics", event("plain" + uid)), 201);
  EXPECT_FALSE(last.has("schedule-tag"));
  EXPECT_TRUE(last.has("etag"));
  EXPECT_EQ(put(cal + "plain.ics", event("plain" + uid), {{"If-Schedule-Tag-Match", "\"x\""}}), 412);
}

TEST_F(Scheduling, WhatFailsTellsNobody) {
  put(cal + "F17.ics", meeting(people()));
  const auto other = event(uid, std::string(kSeries) + people("RSVP=TRUE", " / ATTENDEE:" + mail(carol)));
  EXPECT_EQ(put(cal + "second.ics", other), 403) << "the UID is taken";
  EXPECT_EQ(put(cal + "F17.ics", other, {{"If-Match", "\"00000000000000000000000000000000\""}}), 412);
  EXPECT_TRUE(members(carols, carol_cal).empty());
  EXPECT_TRUE(members(carols, carol_home + "inbox/").empty());
  const auto shared = share(cal, 1);
  EXPECT_EQ(put_as(bobs, shared + "F17.ics", other), 403);
  EXPECT_TRUE(members(carols, carol_cal).empty());
}

TEST_F(Scheduling, WhoWritesInASharedCalendarActsForItsOwner) {
  const auto shared = share(cal, 2);
  ASSERT_EQ(put_as(bobs, shared + "F17.ics",
                   event(uid, std::string(kSeries) + " / ORGANIZER:" + mail(alice) +
                                  " / ATTENDEE:" + mail(alice) + " / ATTENDEE:" + mail(carol))),
            201);
  EXPECT_EQ(event_in(only(carols, carol_cal)).value("ORGANIZER"), mail(alice));
  // Somebody else's meeting in it is nothing to act on.
  uid = server.fresh("uid");
  ASSERT_EQ(
      put_as(bobs, shared + "b.ics",
             event(uid, std::string(kSeries) + " / ORGANIZER:" + mail(bob) + " / ATTENDEE:" + mail(carol))),
      201);
  EXPECT_FALSE(last.has("schedule-tag"));
  EXPECT_EQ(members(carols, carol_cal).size(), 1u);
}

// Acceptance 95, and where invitations go.
TEST_F(Scheduling, InvitationsGoWhereTheirOwnerWants) {
  EXPECT_EQ(send("DELETE", cal), 403);
  EXPECT_EQ(condition(), "C:default-calendar-needed");
  const auto url = [&](ApiClient& as, const std::string& of, const std::string& href) {
    return proppatch(as, of,
                     "<d:set><d:prop><C:schedule-default-calendar-URL><d:href>" + href +
                         "</d:href></C:schedule-default-calendar-URL></d:prop></d:set>")
        .responses.at(0)
        .status_of(caldav("schedule-default-calendar-URL"));
  };
  EXPECT_EQ(bobs.send("MKCALENDAR", bob_home + "work/").status, 201);
  EXPECT_EQ(url(bobs, bob_inbox, bob_home + "work/"), 200);
  EXPECT_EQ(url(bobs, bob_inbox, bob_home + "tasks/"), 403);
  EXPECT_EQ(url(bobs, bob_inbox, cal), 403);
  EXPECT_EQ(url(bobs, bob_inbox, bob_home + "none/"), 403);
  const auto told =
      dav_answer(bobs.send("PROPFIND", bob_inbox, {{"Depth", "0"}},
                           "<d:propfind" + std::string(kSpaces) +
                               "><d:prop><C:schedule-default-calendar-URL/></d:prop></d:propfind>"));
  EXPECT_EQ(
      told.responses.at(0).properties.at(caldav("schedule-default-calendar-URL")).element.children.at(0).text,
      bob_home + "work/");
  put(cal + "F17.ics", meeting(people()));
  EXPECT_EQ(members(bobs, bob_home + "work/").size(), 1u);
  EXPECT_TRUE(members(bobs, bob_cal).empty());
  EXPECT_EQ(send(bobs, "DELETE", bob_cal), 204) << "another takes its place";
  EXPECT_EQ(send(bobs, "DELETE", bob_home + "work/"), 403);
  // A calendar that goes takes its invitations with it, with a word.
  ASSERT_EQ(bobs.send("MKCALENDAR", bob_home + "new/").status, 201);
  ASSERT_EQ(url(bobs, bob_inbox, bob_home + "new/"), 200);
  ASSERT_EQ(send(bobs, "DELETE", bob_home + "work/"), 204);
  EXPECT_EQ(partstat(parsed(dav, cal + "F17.ics"), bob), "DECLINED");
}

std::string busy_request(const std::string& organizer, const std::string& attendees,
                         const std::string& more = "") {
  return calendar(
      "METHOD:REQUEST / BEGIN:VFREEBUSY / UID:fb / DTSTAMP:20260101T000000Z / DTSTART:20360901T000000Z / "
      "DTEND:20360902T000000Z / ORGANIZER:" +
      organizer + attendees + more + " / END:VFREEBUSY");
}

// Acceptance 94.
TEST_F(Scheduling, TheOutboxTellsWhenOthersAreBusy) {
  const HeaderList type{{"Content-Type", "text/calendar"}};
  ASSERT_EQ(
      put_as(bobs, bob_cal + "a.ics",
             event("a" + uid, "DTSTART:20360901T100000Z / DURATION:PT1H / SUMMARY:secret / LOCATION:secret")),
      201);
  ASSERT_EQ(put_as(bobs, bob_cal + "b.ics",
                   event("b" + uid, "DTSTART:20360901T120000Z / DURATION:PT1H / TRANSP:TRANSPARENT")),
            201);
  const auto ask =
      busy_request(mail(alice), " / ATTENDEE:" + mail(bob) + " / ATTENDEE:mailto:nobody@elsewhere.example");
  ASSERT_EQ(send("POST", outbox, type, ask), 200) << last.body;
  const auto answer = wire::parse_xml(last.body);
  ASSERT_TRUE(answer.is("urn:ietf:params:xml:ns:caldav", "schedule-response"));
  ASSERT_EQ(answer.children.size(), 2u);
  const auto part = [&](std::size_t i, const char* name) {
    const auto* found = answer.children.at(i).child("urn:ietf:params:xml:ns:caldav", name);
    return found == nullptr ? std::string("(none)") : found->text;
  };
  EXPECT_EQ(answer.children[0].child("urn:ietf:params:xml:ns:caldav", "recipient")->children.at(0).text,
            mail(bob));
  EXPECT_EQ(part(0, "request-status"), "2.0;Success");
  const auto busy = wire::parse_ical(part(0, "calendar-data"));
  EXPECT_EQ(busy.value("METHOD"), "REPLY");
  const auto& times = busy.components.at(0);
  EXPECT_EQ(times.name, "VFREEBUSY");
  EXPECT_EQ(times.count("FREEBUSY"), 1u);
  EXPECT_TRUE(times.value("FREEBUSY").starts_with("20360901T100000Z/")) << times.value("FREEBUSY");
  EXPECT_EQ(times.value("ATTENDEE"), mail(bob));
  EXPECT_EQ(last.body.find("secret"), std::string::npos);
  EXPECT_EQ(part(1, "request-status"), "3.7;Invalid Calendar User");
  EXPECT_EQ(part(1, "calendar-data"), "(none)");
  // The event that is being moved does not count, nor does a calendar that is not to.
  const auto masked =
      busy_request(mail(alice), " / ATTENDEE:" + mail(bob), " / X-CALENDARSERVER-MASK-UID:a" + uid);
  ASSERT_EQ(send("POST", outbox, type, masked), 200);
  EXPECT_EQ(last.body.find("20360901T100000Z/"), std::string::npos);
  proppatch(bobs, bob_cal,
            "<d:set><d:prop><C:schedule-calendar-transp><C:transparent/></C:schedule-calendar-transp></"
            "d:prop></d:set>");
  ASSERT_EQ(send("POST", outbox, type, ask), 200);
  EXPECT_EQ(last.body.find("20360901T100000Z/"), std::string::npos);
}

TEST_F(Scheduling, WhenSomebodyCannotBeReachedIsTold) {
  const auto set_availability = [&](const std::string& value) {
    return proppatch(bobs, bob_inbox,
                     "<d:set><d:prop><C:calendar-availability>" + value +
                         "</C:calendar-availability></d:prop></d:set>")
        .responses.at(0)
        .status_of(caldav("calendar-availability"));
  };
  EXPECT_EQ(set_availability("garbage"), 403);
  EXPECT_EQ(set_availability(event("x")), 403);
  // Nine to five, every day.
  ASSERT_EQ(set_availability(calendar(
                "BEGIN:VAVAILABILITY / UID:av / DTSTAMP:20260101T000000Z / BEGIN:AVAILABLE / UID:a1 / "
                "DTSTAMP:20260101T000000Z / DTSTART:20360101T090000Z / DTEND:20360101T170000Z / "
                "RRULE:FREQ=DAILY / SUMMARY:a &amp; b / END:AVAILABLE / END:VAVAILABILITY")),
            200);
  ASSERT_EQ(send("POST", outbox, {{"Content-Type", "text/calendar"}},
                 busy_request(mail(alice), " / ATTENDEE:" + mail(bob))),
            200);
  EXPECT_NE(last.body.find("FBTYPE=BUSY-UNAVAILABLE"), std::string::npos) << last.body;
  EXPECT_NE(last.body.find("20360901T000000Z/20360901T090000Z"), std::string::npos) << last.body;
  // A list that nothing would obey is not kept.
  EXPECT_EQ(proppatch(bobs, bob_inbox, "<d:set><d:prop><C:calendar-free-busy-set/></d:prop></d:set>")
                .responses.at(0)
                .status_of(caldav("calendar-free-busy-set")),
            403);
}

TEST_F(Scheduling, AMeetingStaysWithItsOrganizer) {
  put(cal + "F17.ics", meeting(people("RSVP=TRUE", " / ATTENDEE:" + mail(carol))));
  const auto shared_with_bob = share(cal, 2);
  EXPECT_EQ(send(bobs, "MOVE", shared_with_bob + "F17.ics", {{"Destination", bob_home + "tasks/x.ics"}}),
            403);
  EXPECT_EQ(send(bobs, "MOVE", members(bobs, bob_cal).at(0), {{"Destination", shared_with_bob + "x.ics"}}),
            403);
  ASSERT_EQ(bobs.send("MKCALENDAR", bob_home + "new/").status, 201);
  EXPECT_EQ(send(bobs, "MOVE", shared_with_bob + "F17.ics", {{"Destination", bob_home + "new/x.ics"}}), 403);
  EXPECT_EQ(condition(), "C:allowed-organizer-scheduling-object-change");
  EXPECT_EQ(event_in(only(carols, carol_cal)).value("STATUS"), "");
}

TEST_F(Scheduling, OldMessagesLeaveTheInbox) {
  put(cal + "F17.ics", meeting(people()));
  while (calendars::purge_inboxes(*server.db)) {
  }
  EXPECT_EQ(members(bobs, bob_inbox).size(), 1u);
  server.sql(
      "update collection_objects o set created_at = now() - interval '91 days' from collections c where c.id "
      "= "
      "o.collection_id and c.kind = 5 and c.owner_id = " +
      std::to_string(bob.id.value));
  while (calendars::purge_inboxes(*server.db)) {
  }
  EXPECT_TRUE(members(bobs, bob_inbox).empty());
  EXPECT_EQ(server.number(
                "select count(*) from collection_trash t join collections c on c.id = t.collection_id where "
                "c.kind = 5"),
            0);
}

TEST_F(Scheduling, TheOutboxRefusesWhatIsNoQuestion) {
  const HeaderList type{{"Content-Type", "text/calendar"}};
  const auto ask = [&](const std::string& body, const HeaderList& headers) {
    return std::to_string(send("POST", outbox, headers, body)) + ' ' + condition();
  };
  const std::string who = " / ATTENDEE:" + mail(bob);
  EXPECT_EQ(ask(busy_request(mail(bob), who), type), "403 C:valid-organizer");
  EXPECT_EQ(ask(event("x"), type), "400 C:valid-scheduling-message");
  EXPECT_EQ(
      ask(calendar("METHOD:REQUEST / BEGIN:VEVENT / UID:x / DTSTART:20360901T000000Z / END:VEVENT"), type),
      "400 C:valid-scheduling-message");
  EXPECT_EQ(ask(busy_request(mail(alice), ""), type), "400 C:valid-scheduling-message");
  EXPECT_EQ(ask("garbage", type), "403 C:valid-calendar-data");
  EXPECT_EQ(ask(busy_request(mail(alice), who), {{"Content-Type", "text/vcard"}}),
            "403 C:supported-calendar-data");
  std::string many;
  for (int i = 0; i < 31; ++i) many += " / ATTENDEE:mailto:a" + std::to_string(i) + "@example.org";
  EXPECT_EQ(ask(busy_request(mail(alice), many), type), "403 C:max-attendees-per-instance");
  EXPECT_EQ(send("POST", cal, type, busy_request(mail(alice), who)), 400);
  EXPECT_EQ(send(bobs, "POST", outbox, type, busy_request(mail(alice), who)), 404);
}

TEST_F(Scheduling, WritersOfOneMeetingDoNotLoseAnswers) {
  put(cal + "F17.ics", meeting(people("RSVP=TRUE", " / ATTENDEE:" + mail(carol))));
  const auto bobs_copy = members(bobs, bob_cal).at(0), carols_copy = members(carols, carol_cal).at(0);
  for (int turn = 0; turn < 5; ++turn) {
    const std::string word = turn % 2 == 0 ? "ACCEPTED" : "TENTATIVE";
    std::thread first([&] {
      ApiClient as = server.as(bob);
      const auto body = answered(as, bobs_copy, bob, word);
      EXPECT_EQ(as.send("PUT", bobs_copy, {{"Content-Type", "text/calendar"}}, body).status, 204);
    });
    std::thread second([&] {
      ApiClient as = server.as(carol);
      const auto body = answered(as, carols_copy, carol, word);
      EXPECT_EQ(as.send("PUT", carols_copy, {{"Content-Type", "text/calendar"}}, body).status, 204);
    });
    first.join();
    second.join();
    const auto mine = parsed(dav, cal + "F17.ics");
    EXPECT_EQ(partstat(mine, bob), word);
    EXPECT_EQ(partstat(mine, carol), word);
    EXPECT_EQ(partstat(parsed(carols, carols_copy), bob), word);
    EXPECT_EQ(partstat(parsed(bobs, bobs_copy), carol), word);
  }
}

}  // namespace
}  // namespace welkin::tests
