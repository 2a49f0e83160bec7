#include <set>

#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

struct GroupwareSync : Groupware {
  void SetUp() override {
    for (const std::string name : {"a", "b", "c", "d", "e"})
      ASSERT_EQ(put(cal + name + ".ics", event(name)), 201);
  }
  static std::string limit(int n) {
    return "<d:limit><d:nresults>" + std::to_string(n) + "</d:nresults></d:limit>";
  }
};

TEST_F(GroupwareSync, TheFirstListIsWhatIsThere) {
  send("DELETE", cal + "b.ics");
  const auto all = sync(cal, "");
  ASSERT_EQ(all.http.status, 207);
  EXPECT_EQ(all.responses.size(), 4u);
  for (const auto& r : all.responses) EXPECT_EQ(r.status_of("getetag"), 200) << "no removals in a first list";
  EXPECT_EQ(all.sync_token, text(cal, "d:sync-token", "sync-token"));
  EXPECT_TRUE(all.http.body.ends_with("</d:sync-token></d:multistatus>"));
  const auto again = sync(cal, all.sync_token);
  EXPECT_TRUE(again.responses.empty());
  EXPECT_EQ(again.sync_token, all.sync_token);
}

TEST_F(GroupwareSync, ChangesAreToldOnce) {
  const auto token = sync(cal, "").sync_token;
  put(cal + "a.ics", event("a", "DTSTART:20270105T100000Z"));
  send("DELETE", cal + "b.ics");
  put(cal + "f.ics", event("f"));
  send("DELETE", cal + "f.ics");
  send("DELETE", cal + "c.ics");
  put(cal + "c.ics", event("c"));
  const auto next = sync(cal, token);
  EXPECT_EQ(next.responses.size(), 4u);
  EXPECT_EQ(next.at(cal + "a.ics").status_of("getetag"), 200);
  EXPECT_EQ(next.at(cal + "b.ics").status, 404);
  EXPECT_EQ(next.at(cal + "f.ics").status, 404);
  EXPECT_EQ(next.at(cal + "c.ics").status_of("getetag"), 200) << "gone and back is there";
  EXPECT_NE(next.sync_token, token);
  EXPECT_TRUE(sync(cal, next.sync_token).responses.empty());
}

TEST_F(GroupwareSync, ALimitCutsAndNothingIsLost) {
  std::set<std::string> seen;
  std::string token;
  int rounds = 0;
  for (bool more = true; more && rounds < 10; ++rounds) {
    const auto page = sync(cal, token, limit(2));
    more = page.find(cal) != nullptr;
    if (more) {
      EXPECT_EQ(page.at(cal).status, 507);
      EXPECT_NE(page.http.body.find("<d:number-of-matches-within-limits/>"), std::string::npos);
    }
    for (const auto& r : page.responses)
      if (r.href != cal) seen.insert(r.href);
    token = page.sync_token;
  }
  EXPECT_EQ(rounds, 3);
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_TRUE(sync(cal, token).responses.empty());
  const auto none = sync(cal, token, limit(0));
  EXPECT_EQ(none.sync_token, token);
}

TEST_F(GroupwareSync, TokensThatAreNone) {
  const auto token = sync(cal, "").sync_token;
  const auto seq = std::stoll(token.substr(token.rfind('-') + 1));
  const auto with = [&](std::int64_t n) { return token.substr(0, token.rfind('-') + 1) + std::to_string(n); };
  for (const auto& bad : {std::string("x"), sync(tasks, "").sync_token, with(seq + 1), with(-1), token + "0x",
                          std::string("http://example.org/ns/sync/1")}) {
    EXPECT_EQ(sync(cal, bad).http.status, 403) << bad;
    EXPECT_NE(last.body.find("<d:valid-sync-token/>"), std::string::npos) << last.body;
  }
  server.sql(
      "update collection_state set epoch = epoch + 1 where collection_id in (select id from collections "
      "where "
      "owner_id = " +
      std::to_string(alice.id.value) + ")");
  EXPECT_EQ(sync(cal, token).http.status, 403) << "restored from a backup";
}

TEST_F(GroupwareSync, DepthSaysNothing) {
  const std::string body = "<d:sync-token/><d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop>";
  const auto first = report(cal, "d:sync-collection", body, {{"Depth", "0"}});
  for (const std::string depth : {"1", "infinity"})
    EXPECT_EQ(report(cal, "d:sync-collection", body, {{"Depth", depth}}).http.body, first.http.body);
  EXPECT_EQ(report(cal, "d:sync-collection", body).http.body, first.http.body);
  EXPECT_EQ(report(cal, "d:sync-collection", "<d:sync-level>1</d:sync-level><d:prop/>").http.status, 400);
  EXPECT_EQ(
      report(cal, "d:sync-collection", "<d:sync-token/><d:sync-level>2</d:sync-level><d:prop/>").http.status,
      400);
}

TEST_F(GroupwareSync, DataCanBeAskedFor) {
  const auto answer =
      report(cal, "d:sync-collection",
             "<d:sync-token/><d:sync-level>1</d:sync-level><d:prop><d:getetag/><C:calendar-data/>"
             "</d:prop>",
             {{"Depth", "1"}});
  EXPECT_NE(answer.at(cal + "a.ics").text(caldav("calendar-data")).find("UID:a"), std::string::npos);
}

TEST_F(GroupwareSync, MultigetAnswersEachHrefOnce) {
  const std::string others = "/dav/calendars/" + bob.name + "/personal/x.ics";
  const auto answer =
      report(cal, "C:calendar-multiget",
             "<d:prop><d:getetag/><C:calendar-data/></d:prop><d:href>" + cal + "b.ics</d:href><d:href>" +
                 cal + "a.ics</d:href><d:href>" + cal + "nope.ics</d:href><d:href>" + others +
                 "</d:href><d:href>" + cal + "a.ics</d:href><d:href>" + cal + "</d:href>");
  EXPECT_EQ(answer.hrefs(),
            (std::vector<std::string>{cal + "b.ics", cal + "a.ics", cal + "nope.ics", others, cal}));
  EXPECT_NE(answer.at(cal + "a.ics").text(caldav("calendar-data")).find("UID:a\n"), std::string::npos)
      << "parsers read one line end";
  EXPECT_EQ(answer.at(cal + "nope.ics").status, 404);
  EXPECT_EQ(answer.at(others).status, 404);
  EXPECT_TRUE(report(cal, "C:calendar-multiget", "<d:prop/>").responses.empty());
}

TEST_F(GroupwareSync, ReportsThatAreNotOffered) {
  EXPECT_EQ(send("REPORT", cal, {}, "<x/>"), 403);
  EXPECT_EQ(condition(), "d:supported-report");
  EXPECT_EQ(send("REPORT", cal, {}, "<A:addressbook-multiget" + std::string(kSpaces) + "/>"), 403);
  EXPECT_EQ(send("REPORT", cal), 400);
  EXPECT_EQ(send("REPORT", cal, {}, "<d:sync"), 400);
}

}  // namespace
}  // namespace welkin::tests
