#include <set>

#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

struct GroupwareRights : Groupware {
  void SetUp() override { put(cal + "a.ics", event("a", "DTSTART:20260105T100000Z / SUMMARY:secret")); }
  std::string bob_home = "/dav/calendars/" + bob.name + "/";

  int as_bob(const std::string& method, const std::string& path, HeaderList headers = {},
             const std::string& body = "") {
    const auto status = send(bobs, method, path, std::move(headers), body);
    EXPECT_EQ(last.body.find("secret"), std::string::npos);
    return status;
  }
};

TEST_F(GroupwareRights, NobodySeesWhatIsSomebodyElses) {
  for (const auto& path :
       {home, cal, cal + "a.ics", book, books, "/dav/principals/users/" + alice.name + "/"}) {
    for (const std::string method : {"GET", "PROPFIND", "PROPPATCH", "DELETE", "COPY", "MOVE"}) {
      const auto status = as_bob(method, path, {{"Destination", bob_home + "personal/x.ics"}, {"Depth", "0"}},
                                 method == "PROPPATCH" ? "<d:propertyupdate xmlns:d=\"DAV:\"/>" : "");
      EXPECT_EQ(status, 404) << method << ' ' << path;
    }
  }
  const std::string query =
      "<d:sync-collection xmlns:d=\"DAV:\"><d:sync-token/><d:sync-level>1</d:sync-level>"
      "<d:prop><d:getetag/></d:prop></d:sync-collection>";
  EXPECT_EQ(as_bob("REPORT", cal, {}, query), 404);
  const HeaderList type{{"Content-Type", "text/calendar"}};
  EXPECT_EQ(as_bob("PUT", cal + "a.ics", type, event("a")), 409);
  EXPECT_EQ(as_bob("PUT", cal + "b.ics", type, event("b")), 409)
      << "what is there and what is not answer alike";
  EXPECT_EQ(as_bob("MKCALENDAR", home + "new/"), 403);
  EXPECT_EQ(as_bob("MKCALENDAR", cal), 403);
  EXPECT_EQ(get(cal + "a.ics"), event("a", "DTSTART:20260105T100000Z / SUMMARY:secret"));
  // Into what is somebody else's, too.
  ASSERT_EQ(as_bob("PUT", bob_home + "personal/b.ics", type, event("b")), 201);
  EXPECT_EQ(as_bob("MOVE", bob_home + "personal/b.ics", {{"Destination", cal + "b.ics"}}), 409);
  EXPECT_EQ(dav.get(cal + "b.ics").status, 404);
}

TEST_F(GroupwareRights, WhoReadsMaySetHisOwnColourAndNothingElse) {
  const auto shared = share(cal, 1);
  const auto listed =
      dav_answer(bobs.send("PROPFIND", bob_home, {{"Depth", "1"}},
                           "<d:propfind" + std::string(kSpaces) +
                               "><d:prop><d:resourcetype/><d:owner/><d:current-user-privilege-set/>"
                               "<d:displayname/></d:prop></d:propfind>"));
  const auto& seen = listed.at(shared);
  EXPECT_NE(seen.properties.at("resourcetype").element.child("http://calendarserver.org/ns/", "shared"),
            nullptr);
  EXPECT_EQ(seen.properties.at("owner").element.children.at(0).text,
            "/dav/principals/users/" + alice.name + "/");
  std::set<std::string> privileges;
  for (const auto& p : seen.properties.at("current-user-privilege-set").element.children)
    privileges.insert(p.children.at(0).name);
  EXPECT_TRUE(privileges.contains("write-properties"));
  EXPECT_TRUE(privileges.contains("read-free-busy"));
  for (const char* no : {"write", "write-content", "bind", "unbind", "all"})
    EXPECT_FALSE(privileges.contains(no)) << no;

  EXPECT_EQ(bobs.get(shared + "a.ics").status, 200);
  const HeaderList type{{"Content-Type", "text/calendar"}};
  const auto expect_refused = [&](int status, const std::string& privilege, const std::string& resource) {
    EXPECT_EQ(status, 403);
    EXPECT_EQ(condition(), "d:need-privileges") << last.body;
    EXPECT_NE(last.body.find("<d:privilege><" + privilege + "/></d:privilege>"), std::string::npos)
        << last.body;
    EXPECT_NE(last.body.find("<d:href>" + resource + "</d:href>"), std::string::npos) << last.body;
  };
  expect_refused(as_bob("PUT", shared + "new.ics", type, event("n")), "d:bind", shared);
  expect_refused(as_bob("PUT", shared + "a.ics", type, event("a")), "d:write-content", shared);
  expect_refused(as_bob("DELETE", shared + "a.ics"), "d:unbind", shared);
  expect_refused(as_bob("MOVE", shared + "a.ics", {{"Destination", bob_home + "personal/a.ics"}}), "d:unbind",
                 shared);
  EXPECT_EQ(as_bob("COPY", shared + "a.ics", {{"Destination", bob_home + "personal/a.ics"}}), 201);

  set(cal, "<IC:calendar-color>#AAAAAA</IC:calendar-color>");
  const auto token = text(cal, "d:sync-token", "sync-token");
  const auto painted = proppatch(bobs, shared,
                                 "<d:set><d:prop><IC:calendar-color>#BBBBBB</IC:calendar-color>"
                                 "</d:prop></d:set>");
  EXPECT_EQ(painted.responses.at(0).status_of(apple("calendar-color")), 200);
  EXPECT_EQ(text(cal, "IC:calendar-color", apple("calendar-color")), "#AAAAAA");
  EXPECT_EQ(text(cal, "d:sync-token", "sync-token"), token) << "nobody has to look again for it";
  const auto his = dav_answer(bobs.send(
      "PROPFIND", shared, {{"Depth", "0"}},
      "<d:propfind" + std::string(kSpaces) + "><d:prop><IC:calendar-color/></d:prop></d:propfind>"));
  EXPECT_EQ(his.responses.at(0).text(apple("calendar-color")), "#BBBBBB");
  EXPECT_EQ(as_bob("DELETE", shared), 204) << "he leaves";
  EXPECT_EQ(dav.get(cal + "a.ics").status, 200);
  EXPECT_EQ(as_bob("GET", shared + "a.ics"), 404);
}

TEST_F(GroupwareRights, WhoWritesDoesSoUnderHisOwnAddress) {
  const auto shared = share(cal, 2);
  const auto token = text(cal, "d:sync-token", "sync-token");
  EXPECT_EQ(as_bob("PUT", shared + "b.ics", {{"Content-Type", "text/calendar"}}, event("b")), 201);
  EXPECT_EQ(sync(cal, token).at(cal + "b.ics").status_of("getetag"), 200);
  EXPECT_EQ(as_bob("PUT", shared + "c.ics", {{"Content-Type", "text/calendar"}}, event("b")), 403);
  EXPECT_NE(last.body.find("<d:href>" + shared + "b.ics</d:href>"), std::string::npos) << last.body;
  EXPECT_EQ(as_bob("DELETE", shared + "a.ics"), 204);
  EXPECT_EQ(dav.get(cal + "a.ics").status, 404);
}

TEST_F(GroupwareRights, APasswordThatReadsChangesNothing) {
  people::NewAppPassword wanted;
  wanted.label = "reader";
  wanted.protocol_mask = protocols::kCaldav;
  wanted.read_only = true;
  ApiClient reader(
      server.port(),
      basic(alice.name, run(server.people->create_app_password(alice.caller, wanted, {})).second));
  EXPECT_EQ(reader.get(cal + "a.ics").status, 200);
  for (const std::string method : {"PUT", "DELETE", "PROPPATCH"})
    EXPECT_EQ(
        send(reader, method, cal + "a.ics", {{"Content-Type", "text/calendar"}},
             method == "PROPPATCH" ? "<d:propertyupdate xmlns:d=\"DAV:\"><d:set><d:prop><x/></d:prop></d:set>"
                                     "</d:propertyupdate>"
                                   : event("a")),
        403)
        << method;
  EXPECT_EQ(send(reader, "DELETE", cal), 403);
  EXPECT_EQ(send(reader, "MKCALENDAR", home + "new/"), 403);
  EXPECT_EQ(get(cal + "a.ics"), event("a", "DTSTART:20260105T100000Z / SUMMARY:secret"));
}

}  // namespace
}  // namespace welkin::tests
