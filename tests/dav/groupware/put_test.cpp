#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

using GroupwarePut = Groupware;

// LF only, no final line end, no VERSION.
constexpr const char* kPlain =
    "BEGIN:VCALENDAR\nPRODID:-//t//EN\nBEGIN:VEVENT\nUID:F1\nDTSTAMP:20260101T000000Z\n"
    "DTSTART:20260105T100000Z\nDTEND:20260105T110000Z\nSUMMARY:plain\nEND:VEVENT\nEND:VCALENDAR";

TEST_F(GroupwarePut, TheBytesComeBackAsTheyWere) {
  ASSERT_EQ(put(cal + "F1.ics", kPlain, {{"If-None-Match", "*"}}), 201) << last.body;
  const auto etag = last.header("etag");
  EXPECT_TRUE(etag.starts_with('"'));
  const auto got = dav.get(cal + "F1.ics", {{"Accept-Encoding", "gzip, br"}});
  EXPECT_EQ(got.body, kPlain);
  EXPECT_EQ(got.header("etag"), etag) << "no suffix, not weak";
  EXPECT_TRUE(got.header("content-type").starts_with("text/calendar"));
  EXPECT_EQ(dav.send("HEAD", cal + "F1.ics").header("etag"), etag);
  EXPECT_EQ(dav.get(cal + "F1.ics", {{"If-None-Match", etag}}).status, 304);
  EXPECT_EQ(dav.get("/caldav/calendars/" + alice.name + "/personal/F1.ics").body, kPlain);
}

TEST_F(GroupwarePut, ConditionsAreObeyed) {
  put(cal + "F1.ics", kPlain);
  const auto etag = last.header("etag");
  const auto before = ctag(cal);
  EXPECT_EQ(put(cal + "F1.ics", kPlain, {{"If-None-Match", "*"}}), 412);
  EXPECT_EQ(put(cal + "F1.ics", kPlain, {{"If-Match", "\"00000000000000000000000000000000\""}}), 412);
  EXPECT_EQ(put(cal + "new.ics", event("new"), {{"If-Match", "*"}}), 412);
  EXPECT_EQ(put(cal + "F1.ics", kPlain, {{"If", "([\"x\"])"}}), 412);
  EXPECT_EQ(ctag(cal), before) << "what fails changes nothing";
  EXPECT_EQ(put(cal + "F1.ics", kPlain, {{"If-Match", etag}}), 204);
  EXPECT_EQ(last.header("etag"), etag) << "equal bytes";
  EXPECT_NE(ctag(cal), before);
  EXPECT_EQ(put(cal + "F1.ics", event("F1"), {{"If-Match", "W/" + etag}}), 204);
  const auto next = last.header("etag");
  EXPECT_NE(next, etag);
  EXPECT_EQ(put(cal + "F1.ics", kPlain, {{"If-Match", next.substr(1, next.size() - 2)}}), 204)
      << "without quotes";
  EXPECT_EQ(put(cal + "F1.ics", kPlain, {{"If", "([" + etag + "])"}}), 204);
  const auto token = text(cal, "d:sync-token", "sync-token");
  EXPECT_EQ(put(cal + "b.ics", event("b"), {{"If", "<" + cal + "> (<" + token + ">)"}}), 201);
  EXPECT_EQ(put(cal + "c.ics", event("c"), {{"If", "<" + cal + "> (<" + token + ">)"}}), 412);
  EXPECT_EQ(send("DELETE", cal + "F1.ics", {{"If-Match", "\"no\""}}), 412);
  EXPECT_EQ(send("DELETE", cal + "F1.ics", {{"If-Match", etag}}), 204);
  EXPECT_EQ(send("DELETE", cal + "F1.ics"), 404);
}

TEST_F(GroupwarePut, AUidHasOneHolder) {
  put(cal + "F1.ics", kPlain);
  EXPECT_EQ(put(cal + "other.ics", kPlain), 403);
  EXPECT_EQ(condition(), "C:no-uid-conflict");
  EXPECT_NE(last.body.find("<d:href>" + cal + "F1.ics</d:href>"), std::string::npos) << last.body;
  EXPECT_EQ(put(cal + "F1.ics", event("another")), 403);
  EXPECT_EQ(condition(), "C:no-uid-conflict");
  EXPECT_EQ(get(cal + "F1.ics"), kPlain);
}

TEST_F(GroupwarePut, ShapesThatAreNoObjectAreRefused) {
  const std::string e = "DTSTART:20260105T100000Z";
  const auto vevent = [&](const std::string& uid, const std::string& more = "") {
    return "BEGIN:VEVENT / UID:" + uid + " / " + e + more + " / END:VEVENT";
  };
  const std::pair<const char*, std::string> cases[] = {
      {"method", calendar("METHOD:REQUEST / " + vevent("x"))},
      {"two uids", calendar(vevent("x") + " / " + vevent("y"))},
      {"two kinds", calendar(vevent("x") + " / BEGIN:VTODO / UID:x / END:VTODO")},
      {"no uid", calendar("BEGIN:VEVENT / " + e + " / END:VEVENT")},
      {"two masters", calendar(vevent("x") + " / " + vevent("x"))},
      {"one override twice", calendar(vevent("x") + " / " + vevent("x", " / RECURRENCE-ID:20260106T100000Z") +
                                      " / " + vevent("x", " / RECURRENCE-ID:20260106T100000Z"))},
  };
  for (const auto& [what, body] : cases) {
    EXPECT_EQ(put(cal + "x.ics", body), 403) << what;
    EXPECT_EQ(condition(), "C:valid-calendar-object-resource") << what;
  }
  const std::pair<const char*, std::string> data[] = {
      {"unpaired", calendar("BEGIN:VEVENT / UID:x / " + e + " / END:VTODO")},
      {"latin-1", event("x", e + " / SUMMARY:caf\xE9")},
      {"control", event("x", e + " / SUMMARY:a\bb")},
      {"no such day", event("x", "DTSTART:20260230T100000Z")},
      {"nothing", ""},
      {"no start", event("x", "SUMMARY:x")},
      {"a card", card("x")},
  };
  for (const auto& [what, body] : data) {
    EXPECT_EQ(put(cal + "x.ics", body), 403) << what;
    EXPECT_EQ(condition(), "C:valid-calendar-data") << what;
  }
  EXPECT_EQ(put(cal + "x.ics", event("x"), {{"Content-Type", "text/vcard"}}), 403);
  EXPECT_EQ(condition(), "C:supported-calendar-data");
  EXPECT_EQ(propfind(cal, "1", "<d:getetag/>").responses.size(), 1u) << "nothing was stored";
}

TEST_F(GroupwarePut, OverridesAloneAreAnObject) {
  EXPECT_EQ(put(cal + "F5.ics", event("F5",
                                      "RECURRENCE-ID;TZID=Europe/Berlin:20260330T093000 / "
                                      "DTSTART;TZID=Europe/Berlin:20260331T150000 / DURATION:PT1H")),
            201)
      << last.body;
}

TEST_F(GroupwarePut, RulesThatNeverEndAreVetted) {
  const std::string e = "DTSTART:20260101T100000Z / DURATION:PT1M / RRULE:";
  EXPECT_EQ(put(cal + "b.ics", event("b", e + "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30")), 403);
  EXPECT_EQ(condition(), "C:max-instances");
  EXPECT_EQ(put(cal + "a.ics", event("a", e + "FREQ=SECONDLY")), 201);
  EXPECT_EQ(put(cal + "c.ics", event("c", e + "FREQ=DAILY;COUNT=2000000000")), 201);
  EXPECT_EQ(put(cal + "f.ics", event("f", e + "FREQ=DAILY;UNTIL=20260110")), 201);
}

TEST_F(GroupwarePut, WhatIsTooLargeIsToldSo) {
  const auto big = event("big", "DTSTART:20260105T100000Z / ATTACH;ENCODING=BASE64;VALUE=BINARY:" +
                                    std::string(std::size_t{11} << 20, 'A'));
  EXPECT_EQ(put(cal + "big.ics", big), 403);
  EXPECT_EQ(condition(), "C:max-resource-size");
  EXPECT_EQ(dav.get(cal + "big.ics").status, 404) << "on the same connection";
  EXPECT_EQ(put(cal + "long.ics", event("long", "DTSTART:20260105T100000Z / DESCRIPTION:" +
                                                    std::string(std::size_t{2} << 20, 'x'))),
            403);
  EXPECT_EQ(condition(), "C:valid-calendar-data");
  EXPECT_EQ(
      put(cal + "att.ics", event("att", "DTSTART:20260105T100000Z / ATTACH;ENCODING=BASE64;VALUE=BINARY:" +
                                            std::string(std::size_t{2} << 20, 'A'))),
      201);
}

TEST_F(GroupwarePut, NamesOfAllKindsAreOneThing) {
  const std::pair<std::string, std::string> names[] = {
      {"a%20b.ics", "a%20b.ics"}, {"%C3%BC.ics", "%C3%BC.ics"}, {"a%2540b.ics", "a%2540b.ics"},
      {"a+b.ics", "a+b.ics"},     {"a%3Bb.ics", "a;b.ics"},     {"a%40b.ics", "a@b.ics"}};
  int n = 0;
  for (const auto& [sent, canonical] : names) {
    EXPECT_EQ(put(cal + sent, event("u" + std::to_string(n++))), 201) << sent;
    const auto hrefs = propfind(cal, "1", "<d:getetag/>").hrefs();
    EXPECT_EQ(std::count(hrefs.begin(), hrefs.end(), cal + canonical), 1) << canonical;
    EXPECT_EQ(dav.get(cal + canonical).status, 200);
    const auto found = report(cal, "C:calendar-multiget",
                              "<d:prop><d:getetag/></d:prop><d:href>" + cal + sent +
                                  "</d:href><d:href>http://127.0.0.1" + cal + canonical + "</d:href>");
    ASSERT_EQ(found.responses.size(), 1u);
    EXPECT_EQ(found.responses.at(0).href, cal + canonical);
    EXPECT_EQ(found.responses.at(0).status_of("getetag"), 200);
  }
  for (const std::string name : {"a%2Fb.ics", "a%00b.ics"})
    EXPECT_EQ(dav.send("PUT", cal + name, {{"Content-Type", "text/calendar"}}, event("x")).status, 400);
  EXPECT_EQ(put(cal + std::string(256, 'n'), event("x")) / 100, 4);
}

TEST_F(GroupwarePut, PlacesThatTakeNothing) {
  EXPECT_EQ(put(home + "missing/a.ics", event("a")), 409);
  EXPECT_EQ(put(cal + "inner/a.ics", event("a")), 409);
  EXPECT_EQ(put(home, event("a")), 403);
  EXPECT_EQ(put(cal, event("a")), 403);
  EXPECT_EQ(put("/dav/", event("a")), 403);
}

TEST_F(GroupwarePut, TheWrittenThingIsGivenBackWhenItIsAskedFor) {
  EXPECT_EQ(put(cal + "a.ics", kPlain, {{"Prefer", "return=representation"}}), 201);
  EXPECT_EQ(last.body, kPlain);
  EXPECT_EQ(last.header("content-location"), cal + "a.ics");
}

TEST_F(GroupwarePut, TheCtagChangesWithEveryWriteAndNothingElse) {
  const auto a = ctag(cal);
  put(cal + "a.ics", event("a"));
  const auto b = ctag(cal);
  EXPECT_NE(a, b);
  put(cal + "a.ics", "garbage");
  dav.get(cal + "a.ics");
  sync(cal, "");
  EXPECT_EQ(ctag(cal), b);
  put(cal + "a.ics", event("a"));
  EXPECT_NE(ctag(cal), b) << "the same again is a write too";
}

TEST_F(GroupwarePut, AWholeCalendarIsOneFile) {
  const std::string zone =
      "BEGIN:VTIMEZONE / TZID:Europe/Berlin / BEGIN:STANDARD / DTSTART:19701025T030000 / "
      "TZOFFSETFROM:+0200 / TZOFFSETTO:+0100 / END:STANDARD / END:VTIMEZONE / ";
  for (const std::string uid : {"a", "b"})
    ASSERT_EQ(put(cal + uid + ".ics", calendar(zone + "BEGIN:VEVENT / UID:" + uid +
                                               " / DTSTART;TZID=Europe/Berlin:20260302T093000 / END:VEVENT")),
              201);
  put(cal + "c.ics", todo("c"));
  const auto got = dav.get(cal);
  ASSERT_EQ(got.status, 200);
  EXPECT_TRUE(got.header("content-type").starts_with("text/calendar"));
  const auto count = [&](const std::string& what) {
    int n = 0;
    for (auto at = got.body.find(what); at != std::string::npos; at = got.body.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("BEGIN:VCALENDAR"), 1);
  EXPECT_EQ(count("BEGIN:VTIMEZONE"), 1);
  EXPECT_EQ(count("BEGIN:VEVENT"), 2);
  EXPECT_EQ(count("BEGIN:VTODO"), 1);
  EXPECT_NE(got.body.find("X-WR-CALNAME:Personal"), std::string::npos);
  EXPECT_EQ(dav.get(cal, {{"If-None-Match", got.header("etag")}}).status, 304);
  EXPECT_EQ(dav.get(home).status, 200);
}

}  // namespace
}  // namespace welkin::tests
