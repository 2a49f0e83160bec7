#include "dav/groupware/scheduling.hpp"
#include "support/smtp_server.hpp"
#include "welkin/calendars/mailer.hpp"
#include "welkin/core/bytes.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {
namespace {

/// A server of its own with a relay. Mails leave when the test says so.
struct Mailing {
  test::SmtpServer relay;
  TestServer server{[this](Config& config) {
    config.mail_host = "127.0.0.1";
    config.mail_port = relay.port();
    config.mail_tls = "none";
    config.mail_from = "cloud@example.org";
    config.mail_per_day_max = 12;
  }};
};
Mailing& mailing() {
  static Mailing one;
  return one;
}

struct SchedulingMail : SchedulingBase {
  SchedulingMail() : SchedulingBase(mailing().server) { relay().set_rcpt_reply("250 ok"); }
  static test::SmtpServer& relay() { return mailing().relay; }
  calendars::Mailer mailer{*server.db, server.config};
  std::size_t before = relay().mails().size();
  static constexpr const char* kExt = "mailto:ext@elsewhere.example";

  std::string with_ext(const std::string& more = "") const {
    return people("RSVP=TRUE", " / ATTENDEE;RSVP=TRUE:" + std::string(kExt) + more);
  }
  /// Sends what is due; what came of it.
  std::vector<test::SmtpServer::Mail> sent() {
    while (mailer.send_one()) {
    }
    auto all = relay().mails();
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before));
    before = relay().mails().size();
    return all;
  }
  /// The iCalendar of a mail, from its attachment.
  static wire::IcalComponent calendar_of(const std::string& data) {
    const auto part = data.find("text/calendar");
    const auto from = data.find("\r\n\r\n", part) + 4, to = data.find("\r\n--", from);
    std::string digits;
    for (const char c : data.substr(from, to - from))
      if (c != '\r' && c != '\n') digits += c;
    return wire::parse_ical(as_text(text::from_base64(digits).value()));
  }
};

// Acceptance 88, the mail.
TEST_F(SchedulingMail, WhoHasNoAccountGetsAMail) {
  ASSERT_EQ(put(cal + "F17.ics", meeting(with_ext())), 201);
  EXPECT_EQ(status(parsed(dav, cal + "F17.ics"), kExt), "1.0") << "on its way";
  const auto tag = last.header("schedule-tag");
  const auto mails = sent();
  ASSERT_EQ(mails.size(), 1u) << "bob has an account";
  EXPECT_EQ(mails[0].to, "<ext@elsewhere.example>");
  EXPECT_EQ(mails[0].from, "<cloud@example.org>");
  EXPECT_NE(mails[0].data.find("Reply-To: <" + alice.name + "@example.org>"), std::string::npos);
  const auto message = calendar_of(mails[0].data);
  EXPECT_EQ(message.value("METHOD"), "REQUEST");
  EXPECT_EQ(event_in(message).value("UID"), uid);
  EXPECT_EQ(mails[0].data.find("SCHEDULE-"), std::string::npos);
  EXPECT_EQ(status(parsed(dav, cal + "F17.ics"), kExt), "1.1");
  EXPECT_EQ(last.header("schedule-tag"), tag);
  // One mail a change: the same again, an alarm and a move are none.
  EXPECT_EQ(put(cal + "F17.ics", get(cal + "F17.ics")), 204);
  EXPECT_EQ(put(cal + "F17.ics",
                meeting(with_ext() + " / BEGIN:VALARM / ACTION:DISPLAY / TRIGGER:-PT5M / END:VALARM")),
            204);
  EXPECT_EQ(send("MOVE", cal + "F17.ics", {{"Destination", cal + "moved.ics"}}), 201);
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(send("DELETE", cal + "moved.ics"), 204);
  const auto cancels = sent();
  ASSERT_EQ(cancels.size(), 1u);
  EXPECT_EQ(calendar_of(cancels[0].data).value("METHOD"), "CANCEL");
}

TEST_F(SchedulingMail, AnAnswerToSomebodyElsewhereIsAMail) {
  const std::string far = "mailto:boss@elsewhere.example";
  const auto body = [&](const std::string& word) {
    return event(uid, std::string(kSeries) + " / ORGANIZER:" + far + " / ATTENDEE;PARTSTAT=" + word + ":" +
                          mail(alice));
  };
  ASSERT_EQ(put(cal + "x.ics", body("NEEDS-ACTION")), 201);
  EXPECT_TRUE(sent().empty());
  ASSERT_EQ(put(cal + "x.ics", body("ACCEPTED")), 204);
  const auto mails = sent();
  ASSERT_EQ(mails.size(), 1u);
  EXPECT_EQ(mails[0].to, "<boss@elsewhere.example>");
  EXPECT_EQ(calendar_of(mails[0].data).value("METHOD"), "REPLY");
  EXPECT_EQ(status(parsed(dav, cal + "x.ics"), far), "1.1");
}

TEST_F(SchedulingMail, WhatIsOverOrCannotBeSentToIsNot) {
  ASSERT_EQ(put(cal + "old.ics", meeting(with_ext(), "DTSTART:20200101T100000Z / DURATION:PT1H")), 201);
  uid = server.fresh("uid");
  ASSERT_EQ(put(cal + "odd.ics",
                meeting(people("RSVP=TRUE", " / ATTENDEE:mailto:a%0D%0ARCPT@b / ATTENDEE:urn:x:y"))),
            201);
  const auto mine = parsed(dav, cal + "odd.ics");
  EXPECT_EQ(status(mine, "mailto:a%0D%0ARCPT@b"), "3.7");
  EXPECT_EQ(status(mine, "urn:x:y"), "3.7");
  EXPECT_TRUE(sent().empty());
}

TEST_F(SchedulingMail, ARelayThatFailsIsAskedAgainAndOneThatRefusesIsNot) {
  put(cal + "F17.ics", meeting(with_ext()));
  relay().set_rcpt_reply("451 later");
  EXPECT_TRUE(mailer.send_one());
  EXPECT_FALSE(mailer.send_one()) << "not at once";
  EXPECT_EQ(status(parsed(dav, cal + "F17.ics"), kExt), "1.0");
  relay().set_rcpt_reply("250 ok");
  server.sql("update scheduling_mails set next_at = now() where next_at is not null");
  EXPECT_EQ(sent().size(), 1u);
  uid = server.fresh("uid");
  put(cal + "two.ics", meeting(with_ext()));
  relay().set_rcpt_reply("550 nobody");
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(status(parsed(dav, cal + "two.ics"), kExt), "5.1");
  // In vain for three days.
  uid = server.fresh("uid");
  put(cal + "three.ics", meeting(with_ext()));
  relay().set_rcpt_reply("250 ok");
  server.sql("update scheduling_mails set expires_at = now() where next_at is not null");
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(status(parsed(dav, cal + "three.ics"), kExt), "5.1");
}

// A process that died with a mail in hand leaves it to others.
TEST_F(SchedulingMail, AMailInHandIsTakenAgainWhenItsTimeIsOver) {
  put(cal + "F17.ics", meeting(with_ext()));
  server.sql(
      "update scheduling_mails set next_at = now() + interval '15 minutes', tries = 1 where next_at is not "
      "null");
  EXPECT_TRUE(sent().empty());
  server.sql("update scheduling_mails set next_at = now() where next_at is not null");
  const auto first = sent();
  ASSERT_EQ(first.size(), 1u);
}

TEST_F(SchedulingMail, NobodyMakesThisARelayForTheWorld) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += " / ATTENDEE:mailto:a" + std::to_string(i) + "@elsewhere.example";
  ASSERT_EQ(put(cal + "many.ics", meeting(people("RSVP=TRUE", many))), 201);
  EXPECT_EQ(sent().size(), 12u);
  int failed = 0;
  const auto mine = parsed(dav, cal + "many.ics");
  for (int i = 0; i < 20; ++i)
    failed += status(mine, "mailto:a" + std::to_string(i) + "@elsewhere.example") == "5.1" ? 1 : 0;
  EXPECT_EQ(failed, 8);
}

struct Off {
  TestServer server{[](Config& config) { config.scheduling = false; }};
};
struct SchedulingOff : SchedulingBase {
  static TestServer& off() {
    static Off one;
    return one.server;
  }
  SchedulingOff() : SchedulingBase(off()) {}
};

// Acceptance 3 and 4: what is not offered is not announced.
TEST_F(SchedulingOff, NothingIsAnnouncedOrDone) {
  EXPECT_EQ(send("OPTIONS", cal), 200);
  EXPECT_EQ(last.header("dav").find("calendar-auto-schedule"), std::string::npos);
  EXPECT_EQ(propfind(home, "1", "<d:resourcetype/>").hrefs(), (std::vector<std::string>{home, cal, tasks}));
  const auto me = propfind("/dav/principals/users/" + alice.name + "/", "0",
                           "<C:schedule-inbox-URL/><C:schedule-outbox-URL/>");
  EXPECT_EQ(me.responses.at(0).status_of(caldav("schedule-inbox-URL")), 404);
  EXPECT_EQ(me.responses.at(0).status_of(caldav("schedule-outbox-URL")), 404);
  EXPECT_EQ(send("PROPFIND", inbox, {{"Depth", "0"}}), 404);
  EXPECT_EQ(send("POST", outbox, {{"Content-Type", "text/calendar"}}, "x"), 404);
  ASSERT_EQ(put(cal + "F17.ics", meeting(people())), 201);
  EXPECT_TRUE(last.has("etag"));
  EXPECT_FALSE(last.has("schedule-tag"));
  EXPECT_EQ(get(cal + "F17.ics"), meeting(people()));
  EXPECT_TRUE(members(bobs, bob_cal).empty());
  EXPECT_EQ(send("DELETE", cal), 204);
}

}  // namespace
}  // namespace welkin::tests
