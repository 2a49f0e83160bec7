// Calendars published at an address (acceptance 97).
#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

struct GroupwareFeeds : Groupware {
  ApiClient nobody = server.nobody();

  /// The path of a new address.
  std::string publish(const std::string& path) {
    EXPECT_EQ(send("POST", path, {{"Content-Type", "application/xml"}},
                   "<CS:publish-calendar" + std::string(kSpaces) + "/>"),
              200)
        << last.body;
    const auto url = last.header("location");
    EXPECT_NE(last.body.find(url), std::string::npos);
    const auto at = url.find("/dav/public/");
    EXPECT_NE(at, std::string::npos) << url;
    return at == std::string::npos ? "" : url.substr(at);
  }
  int unpublish(const std::string& path) {
    return send("POST", path, {{"Content-Type", "application/xml"}},
                "<CS:unpublish-calendar" + std::string(kSpaces) + "/>");
  }
};

TEST_F(GroupwareFeeds, Acceptance97WhoKnowsTheAddressReads) {
  const auto when = std::string("DTSTART:20260105T100000Z / DTEND:20260105T110000Z / ");
  put(cal + "open.ics",
      event("open", when + "SUMMARY:open / ORGANIZER:mailto:a@example.org / ATTENDEE:mailto:b@example.org / "
                           "BEGIN:VALARM / ACTION:DISPLAY / DESCRIPTION:x / TRIGGER:-PT5M / END:VALARM"));
  put(cal + "private.ics", event("private", when + "SUMMARY:secret / CLASS:PRIVATE"));
  put(cal + "half.ics", event("half", when + "SUMMARY:secret / CLASS:CONFIDENTIAL"));
  set(cal, "<d:displayname>Band, and friends</d:displayname><IC:calendar-color>#FF0000</IC:calendar-color>");
  const auto path = publish(cal);
  const auto got = nobody.get(path);
  ASSERT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(got.header("content-type"), "text/calendar; charset=utf-8");
  EXPECT_EQ(got.header("content-disposition").substr(0, 6), "inline");
  EXPECT_NE(got.header("x-robots-tag").find("noindex"), std::string::npos);
  EXPECT_TRUE(got.body.starts_with("BEGIN:VCALENDAR\r\n"));
  EXPECT_TRUE(got.body.ends_with("END:VCALENDAR\r\n"));
  for (const char* line :
       {"X-WR-CALNAME:Band\\, and friends\r\n", "NAME:Band\\, and friends\r\n",
        "X-APPLE-CALENDAR-COLOR:#FF0000\r\n", "REFRESH-INTERVAL;VALUE=DURATION:PT4H\r\n",
        "X-PUBLISHED-TTL:PT4H\r\n", "SUMMARY:open\r\n", "SUMMARY:Busy\r\n", "UID:half\r\n"})
    EXPECT_NE(got.body.find(line), std::string::npos) << line;
  for (const char* word : {"secret", "UID:private", "VALARM", "ATTENDEE", "ORGANIZER", "example.org"})
    EXPECT_EQ(got.body.find(word), std::string::npos) << word;

  const auto etag = got.header("etag");
  EXPECT_EQ(nobody.get(path, {{"If-None-Match", etag}}).status, 304);
  const auto head = nobody.send("HEAD", path);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.header("etag"), etag);
  put(cal + "new.ics", event("new"));
  const auto again = nobody.get(path, {{"If-None-Match", etag}});
  EXPECT_EQ(again.status, 200);
  EXPECT_NE(again.header("etag"), etag);
  EXPECT_NE(again.body.find("UID:new"), std::string::npos);
}

TEST_F(GroupwareFeeds, AnAddressEndsWhenItsOwnerSaysSo) {
  cal = home + "band/";  // the default calendar cannot be deleted
  ASSERT_EQ(send("MKCALENDAR", cal), 201);
  const auto first = publish(cal);
  EXPECT_EQ(nobody.get(first).status, 200);
  const auto second = publish(cal);
  EXPECT_EQ(nobody.get(first).status, 404) << "a new address ends the old one";
  EXPECT_EQ(nobody.get(second).status, 200);
  EXPECT_EQ(unpublish(cal), 200);
  EXPECT_EQ(nobody.get(second).status, 404);
  EXPECT_EQ(unpublish(cal), 200) << "again is no mistake";

  const auto third = publish(cal);
  server.sql("update users set is_disabled = true where id = " + std::to_string(alice.id.value));
  EXPECT_EQ(nobody.get(third).status, 404) << "who may not sign in publishes nothing";
  server.sql("update users set is_disabled = false where id = " + std::to_string(alice.id.value));
  EXPECT_EQ(nobody.get(third).status, 200);
  server.sql("update collection_feeds set expires_at = now() - interval '1 second'");
  EXPECT_EQ(nobody.get(third).status, 404);
  server.sql("update collection_feeds set expires_at = null");
  ASSERT_EQ(send("DELETE", cal), 204);
  EXPECT_EQ(nobody.get(third).status, 404);
}

TEST_F(GroupwareFeeds, OnlyTheOwnerPublishesAndOnlyReadingIsOpen) {
  const auto shared = share(cal, 2);
  EXPECT_EQ(send(bobs, "POST", shared, {{"Content-Type", "application/xml"}},
                 "<CS:publish-calendar" + std::string(kSpaces) + "/>"),
            403);
  EXPECT_EQ(send("POST", book, {{"Content-Type", "application/xml"}},
                 "<CS:publish-calendar" + std::string(kSpaces) + "/>"),
            400)
      << "books are not published";
  const auto path = publish(cal);
  for (const std::string method : {"PUT", "DELETE", "PROPFIND", "PROPPATCH", "REPORT", "POST"}) {
    const auto status = nobody.send(method, path, {{"Content-Type", "text/calendar"}}, event("x")).status;
    EXPECT_TRUE(status == 401 || status == 405) << method << ' ' << status;
  }
  EXPECT_EQ(get(cal).find("UID:x"), std::string::npos);
  // The token is nowhere but in the address.
  const auto token = path.substr(path.rfind('/') + 1, path.size() - path.rfind('/') - 5);
  EXPECT_EQ(server.number("select count(*) from collection_feeds f where f::text like '%" + token + "%'"), 0);
  EXPECT_GE(token.size(), 22u) << "128 bits at least";
}

TEST_F(GroupwareFeeds, GuessesAreCounted) {
  TestServer alone;
  const auto owner = alone.user("owner");
  auto as = alone.as(owner);
  auto stranger = alone.nobody();
  int limited = 0;
  for (int i = 0; i < 60; ++i) {
    const auto answer = stranger.get("/dav/public/guess" + std::to_string(i) + ".ics");
    EXPECT_TRUE(answer.status == 404 || answer.status == 429) << answer.status;
    if (answer.status != 429) continue;
    ++limited;
    EXPECT_TRUE(answer.has("retry-after"));
  }
  EXPECT_GT(limited, 0);
}

}  // namespace
}  // namespace welkin::tests
