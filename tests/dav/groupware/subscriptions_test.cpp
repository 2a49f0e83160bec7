// Calendars that are kept like an address (acceptance 98). The address is one of the same server, which is
// inside of the network and may be asked only because the setting names it.
#include "dav/groupware/groupware.hpp"
#include "welkin/http/fetch.hpp"

namespace welkin::tests {
namespace {

struct GroupwareSubscriptions : Groupware {
  std::string here = "127.0.0.1:" + std::to_string(server.port());
  std::string sub = home + "sub/";

  void SetUp() override { server.config.fetch_allowed = {here}; }
  void TearDown() override { server.config.fetch_allowed.clear(); }

  int subscribe(const std::string& url, const std::string& method = "MKCALENDAR") {
    const bool calendar_method = method == "MKCALENDAR";
    return send(method, sub, {},
                std::string(calendar_method ? "<C:mkcalendar" : "<d:mkcol") + kSpaces +
                    "><d:set><d:prop><d:resourcetype><d:collection/><CS:subscribed/></d:resourcetype>"
                    "<d:displayname>Holidays</d:displayname><IC:refreshrate>PT1H</IC:refreshrate>"
                    "<CS:source><d:href>" +
                    url + "</d:href></CS:source></d:prop></d:set></" +
                    (calendar_method ? "C:mkcalendar>" : "d:mkcol>"));
  }
  std::string publish(const std::string& path) {
    EXPECT_EQ(send("POST", path, {{"Content-Type", "application/xml"}},
                   "<CS:publish-calendar" + std::string(kSpaces) + "/>"),
              200);
    const auto url = last.header("location");
    return "http://" + here + url.substr(url.find("/dav/public/"));
  }
  /// Asks every address that is due.
  void refresh(bool force = true) {
    if (force) server.sql("update calendar_subscriptions set next_at = now()");
    http::FetchOptions options;
    options.allowed = server.config.fetch_allowed;
    const std::atomic<bool> stop = false;
    const auto fetch = [&](const std::string& url, const std::string& etag, const std::string& modified) {
      auto got = http::fetch(options, {url, etag, modified}, stop);
      calendars::FeedAnswer out;
      using Outcome = http::Fetched::Outcome;
      out.kind = got.outcome == Outcome::fetched        ? calendars::FeedAnswer::Kind::body
                 : got.outcome == Outcome::not_modified ? calendars::FeedAnswer::Kind::unchanged
                                                        : calendars::FeedAnswer::Kind::failed;
      if (out.kind == calendars::FeedAnswer::Kind::failed)
        out.failure = "failed " + std::to_string(got.status);
      if (out.kind == calendars::FeedAnswer::Kind::unchanged) ++unchanged;
      out.body = got.body;
      out.etag = got.etag;
      out.last_modified = got.last_modified;
      return out;
    };
    while (server.subscriptions->refresh_turn(fetch)) {
    }
  }
  /// The same with an answer that is made up.
  void refresh_with(const std::string& body) {
    server.sql("update calendar_subscriptions set next_at = now()");
    const auto fetch = [&](const std::string&, const std::string&, const std::string&) {
      calendars::FeedAnswer out;
      out.kind = calendars::FeedAnswer::Kind::body;
      out.body = body;
      return out;
    };
    while (server.subscriptions->refresh_turn(fetch)) {
    }
  }
  static std::string feed_of(const std::vector<std::string>& inside) {
    std::string out = lines("BEGIN:VCALENDAR / VERSION:2.0 / PRODID:-//x//EN / METHOD:PUBLISH");
    for (const auto& one : inside) out += lines("BEGIN:VEVENT / " + one + " / END:VEVENT");
    return out + lines("END:VCALENDAR");
  }
  std::string id_of_sub() {
    return server.ids.encode(IdKind::calendar,
                             server.number("select id from collections where deleted_at is null and path = "
                                           "'sub' and owner_id = " +
                                           std::to_string(alice.id.value)));
  }
  int unchanged = 0;
};

TEST_F(GroupwareSubscriptions, Acceptance98WhatLiesInsideIsRefused) {
  server.config.fetch_allowed.clear();
  for (const std::string url : {"http://127.0.0.1/",
                                "http://169.254.169.254/",
                                "http://[::1]/",
                                "http://[::ffff:127.0.0.1]/",
                                "http://10.0.0.1/x.ics",
                                "http://2130706433/",
                                "http://0x7f000001/",
                                "http://0177.0.0.1/",
                                "http://localhost/",
                                "http://localhost./",
                                "ftp://example.org/",
                                "file:///etc/passwd",
                                "http://user:secret@example.org/",
                                "http://example.org:25/",
                                "javascript:alert(1)",
                                "",
                                "http:///x",
                                "http://[fe80::1]/",
                                "http://[64:ff9b::7f00:1]/",
                                "http://0.0.0.0/",
                                "http://100.64.0.1/",
                                "http://example.org/\r\nX: y",
                                "webcal://192.168.1.1/"}) {
    EXPECT_EQ(subscribe(url), 207) << url;
    const auto answer = dav_answer(last);
    EXPECT_EQ(answer.responses.at(0).status_of(cs("source")), 403) << url;
    EXPECT_EQ(send("PROPFIND", sub, {{"Depth", "0"}}), 404) << url;
    if (url.find('\r') == std::string::npos)
      EXPECT_EQ(dav.json("POST", "/api/calendar-subscriptions", nlohmann::json{{"url", url}}.dump()).status,
                400)
          << url;
  }
}

TEST_F(GroupwareSubscriptions, Acceptance98AGoodFeedIsReadAndUnchangedItChangesNothing) {
  put(cal + "a.ics", event("a", "DTSTART:20260105T100000Z / SUMMARY:first"));
  put(cal + "b.ics", event("b/with/slashes", "DTSTART:20260106T100000Z / SUMMARY:second"));
  ASSERT_EQ(subscribe(publish(cal)), 201) << last.body;
  refresh();
  const auto listed = sync(sub, "");
  EXPECT_EQ(listed.responses.size(), 2u) << listed.http.body;
  for (const auto& r : listed.responses)
    EXPECT_EQ(r.href.find('/', sub.size()), std::string::npos) << "no UID becomes a path";
  const auto type = propfind(sub, "0", "<d:resourcetype/><CS:source/><IC:refreshrate/><d:displayname/>");
  EXPECT_NE(type.responses.at(0)
                .properties.at("resourcetype")
                .element.child("http://calendarserver.org/ns/", "subscribed"),
            nullptr);
  EXPECT_EQ(type.responses.at(0).text(apple("refreshrate")), "PT1H");
  EXPECT_EQ(type.responses.at(0).text("displayname"), "Holidays");
  refresh();
  EXPECT_EQ(unchanged, 1) << "asked with the tag of the last answer";
  EXPECT_EQ(text(sub, "d:sync-token", "sync-token"), listed.sync_token) << "no number was taken";

  put(cal + "a.ics", event("a", "DTSTART:20260105T100000Z / SUMMARY:other"));
  send("DELETE", cal + "b.ics");
  put(cal + "c.ics", event("c"));
  refresh();
  const auto changes = sync(sub, listed.sync_token);
  EXPECT_EQ(changes.responses.size(), 3u) << changes.http.body;
  EXPECT_EQ(std::count_if(changes.responses.begin(), changes.responses.end(),
                          [](const auto& r) { return r.status == 404; }),
            1);
  // It is a calendar like others, for reading.
  EXPECT_EQ(put(sub + "x.ics", event("x")), 403);
  EXPECT_EQ(send("DELETE", listed.responses[0].href), 403);
  EXPECT_EQ(report(sub, "C:calendar-query",
                   "<d:prop><d:getetag/></d:prop><C:filter><C:comp-filter name=\"VCALENDAR\"><C:comp-filter "
                   "name=\"VEVENT\"><C:time-range start=\"20260105T000000Z\" end=\"20260105T230000Z\"/>"
                   "</C:comp-filter></C:comp-filter></C:filter>")
                .responses.size(),
            2u);
  EXPECT_EQ(send("DELETE", sub), 204);
}

TEST_F(GroupwareSubscriptions, BrokenAnswersKeepWhatIsThere) {
  ASSERT_EQ(subscribe("http://" + here + "/x.ics", "MKCOL"), 201) << last.body;
  refresh_with(feed_of({"UID:a / DTSTART:20260105T100000Z / SUMMARY:one", "UID:broken / SUMMARY:no start",
                        "DTSTART:20260107T100000Z / SUMMARY:no uid"}));
  const auto first = sync(sub, "");
  EXPECT_EQ(first.responses.size(), 2u) << "what is broken is left out, the rest stays";
  for (const std::string bad :
       {"", "<html>not found</html>", "BEGIN:VCALENDAR\r\n", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"}) {
    refresh_with(bad);
    EXPECT_EQ(sync(sub, first.sync_token).responses.size(), 0u) << bad;
  }
  const auto state = json_of(dav.get("/api/calendars/" + id_of_sub() + "/subscription"));
  EXPECT_EQ(state["failures"], 4) << state.dump();
  EXPECT_FALSE(state["failure"].is_null());
  // Other words for the same: another time of writing, another UID, another order.
  refresh_with(
      feed_of({"DTSTART:20260107T100000Z / SUMMARY:no uid",
               "UID:new-each-time / DTSTAMP:20260202T000000Z / DTSTART:20260105T100000Z / SUMMARY:one"}));
  EXPECT_EQ(sync(sub, first.sync_token).responses.size(), 0u);
  EXPECT_EQ(json_of(dav.get("/api/calendars/" + id_of_sub() + "/subscription"))["failures"], 0);
}

TEST_F(GroupwareSubscriptions, WhoFailsIsAskedLaterAndNotMoreOften) {
  ASSERT_EQ(subscribe("http://" + here + "/nothing-here.ics"), 201);
  const auto wait = [&] {
    return server.number(
        "select extract(epoch from s.next_at - now())::bigint from calendar_subscriptions s join collections "
        "c "
        "on c.id = s.collection_id where c.owner_id = " +
        std::to_string(alice.id.value));
  };
  std::int64_t before = 0;
  for (int i = 0; i < 4; ++i) {
    refresh();
    EXPECT_GE(wait(), 3500) << "never more often than the calendar wants";
    EXPECT_GE(wait(), before - 700);
    before = wait();
  }
  EXPECT_GT(before, 6000);
  refresh(false);
  EXPECT_GE(wait(), before - 60) << "what is not due is not asked";
  const auto id = id_of_sub();
  EXPECT_EQ(json_of(dav.get("/api/calendars/" + id + "/subscription"))["failures"], 4);
  EXPECT_EQ(bobs.get("/api/calendars/" + id + "/subscription").status, 404);
  const auto patched = dav.json("PATCH", "/api/calendars/" + id + "/subscription",
                                nlohmann::json{{"refresh_seconds", 1800}}.dump());
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_LE(wait(), 0) << "asked again soon";
  EXPECT_EQ(dav.json("PATCH", "/api/calendars/" + id + "/subscription", R"({"refresh_seconds":1})").status,
            400);
  EXPECT_EQ(
      dav.json("PATCH", "/api/calendars/" + id + "/subscription", R"({"url":"http://10.0.0.1/"})").status,
      400);
  EXPECT_EQ(set(sub, "<CS:source><d:href>http://10.0.0.1/</d:href></CS:source>")
                .responses.at(0)
                .status_of(cs("source")),
            403);
  EXPECT_EQ(
      set(sub, "<IC:refreshrate>often</IC:refreshrate>").responses.at(0).status_of(apple("refreshrate")),
      409);
}

TEST_F(GroupwareSubscriptions, TheAddressIsTheOwnersAndTheEventsAreShared) {
  ASSERT_EQ(subscribe("http://" + here + "/secret-token.ics"), 201);
  refresh_with(feed_of({"UID:a / DTSTART:20260105T100000Z / SUMMARY:one"}));
  const auto shared = share(sub, 2);
  const auto seen = dav_answer(bobs.send(
      "PROPFIND", shared, {{"Depth", "1"}},
      "<d:propfind" + std::string(kSpaces) + "><d:prop><CS:source/><d:getetag/></d:prop></d:propfind>"));
  EXPECT_EQ(seen.responses.size(), 2u);
  EXPECT_EQ(seen.http.body.find("secret-token"), std::string::npos);
  const auto everything = bobs.send("PROPFIND", shared, {{"Depth", "0"}});
  EXPECT_EQ(everything.body.find("secret-token"), std::string::npos);
  EXPECT_EQ(bobs.get("/api/calendars/" + id_of_sub() + "/subscription").status, 404);
}

}  // namespace
}  // namespace welkin::tests
