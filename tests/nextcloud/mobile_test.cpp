// What the apps on phones do beside syncing.
#include "nextcloud/nextcloud_fixture.hpp"
#include "welkin/files/locks.hpp"

namespace welkin::tests {
namespace {

const std::string kOc = "{http://owncloud.org/ns}", kNc = "{http://nextcloud.org/ns}";

struct MobileTest : NextcloudTest {
  const std::string trash = dav + "/trashbin/" + alice.name + "/trash";

  DavAnswer favorites(const std::string& rules = "<oc:favorite>1</oc:favorite>") {
    return dav_answer(client.send("REPORT", files + "/", {},
                                  "<oc:filter-files " + std::string(kSpaces) +
                                      "><d:prop><d:getetag/><oc:favorite/></d:prop>" + "<oc:filter-rules>" +
                                      rules + "</oc:filter-rules></oc:filter-files>"));
  }
  int mark(const std::string& target, const std::string& instruction) {
    return client
        .send("PROPPATCH", target, {},
              "<d:propertyupdate " + std::string(kSpaces) + ">" + instruction + "</d:propertyupdate>")
        .status;
  }
  DavAnswer search(const std::string& where, const std::string& more = "") {
    return dav_answer(client.send("SEARCH", dav + "/", {{"Content-Type", "text/xml"}},
                                  "<d:searchrequest " + std::string(kSpaces) +
                                      "><d:basicsearch><d:select><d:prop><oc:fileid/></d:prop></d:select>" +
                                      "<d:from><d:scope><d:href>/files/" + alice.name +
                                      "</d:href><d:depth>infinity</d:depth></d:scope></d:from><d:where>" +
                                      where + "</d:where>" + more + "</d:basicsearch></d:searchrequest>"));
  }
};

TEST_F(MobileTest, N52_Favourites) {
  ASSERT_EQ(status("MKCOL", files + "/f"), 201);
  ASSERT_EQ(put(files + "/f/a%20b", "x"), 201);
  const auto before = etag_of(files + "/");
  ASSERT_EQ(mark(files + "/f/a%20b", "<d:set><d:prop><oc:favorite>1</oc:favorite></d:prop></d:set>"), 207);
  EXPECT_EQ(etag_of(files + "/"), before) << "nobody has to list anew for that";
  EXPECT_EQ(one(files + "/f/a%20b", "oc:favorite", kOc + "favorite"), "1");
  const auto hits = favorites();
  ASSERT_EQ(hits.responses.size(), 1u);
  EXPECT_EQ(hits.responses[0].href, files + "/f/a%20b");
  EXPECT_EQ(hits.responses[0].text(kOc + "favorite"), "1");
  ASSERT_EQ(mark(files + "/f/a%20b", "<d:remove><d:prop><oc:favorite/></d:prop></d:remove>"), 207);
  EXPECT_TRUE(favorites().responses.empty());
  EXPECT_EQ(favorites("").http.status, 400);
  EXPECT_EQ(favorites("<oc:systemtag>7</oc:systemtag>").http.status, 412);
}

TEST_F(MobileTest, N53_Searches) {
  ASSERT_EQ(status("MKCOL", files + "/s"), 201);
  ASSERT_EQ(put(files + "/s/holiday%20one.jpg", "x", {{"X-OC-Mtime", "1700000001"}}), 201);
  ASSERT_EQ(put(files + "/s/holiday%20two.jpg", "x", {{"X-OC-Mtime", "1700000002"}}), 201);
  ASSERT_EQ(put(files + "/s/notes.txt", "x", {{"X-OC-Mtime", "1700000003"}}), 201);
  const std::string like =
      "<d:like><d:prop><d:displayname/></d:prop><d:literal>%holiday%</d:literal></d:like>";
  const auto by_name = search(like);
  ASSERT_EQ(by_name.responses.size(), 2u) << by_name.http.body;
  EXPECT_EQ(by_name.responses[0].href, files + "/s/holiday%20one.jpg");
  const auto newest =
      search("<d:like><d:prop><d:getcontenttype/></d:prop><d:literal>image/%</d:literal></d:like>",
             "<d:orderby><d:order><d:prop><d:getlastmodified/></d:prop><d:descending/></d:order></d:orderby>"
             "<d:limit><d:nresults>1</d:nresults></d:limit>");
  ASSERT_EQ(newest.responses.size(), 1u) << newest.http.body;
  EXPECT_EQ(newest.responses[0].href, files + "/s/holiday%20two.jpg");
}

TEST_F(MobileTest, N54_Trash) {
  ASSERT_EQ(status("MKCOL", files + "/t"), 201);
  ASSERT_EQ(put(files + "/t/a", "1"), 201);
  const auto id = last.header("oc-fileid");
  ASSERT_EQ(status("DELETE", files + "/t/a"), 204);
  auto list =
      propfind(trash, "1",
               "<nc:trashbin-filename/><nc:trashbin-original-location/><nc:trashbin-deletion-time/><oc:id/>");
  ASSERT_EQ(list.responses.size(), 2u);
  EXPECT_EQ(list.responses[0].href, trash + "/");
  EXPECT_EQ(list.responses[1].text(kNc + "trashbin-filename"), "a");
  EXPECT_EQ(list.responses[1].text(kNc + "trashbin-original-location"), "t/a");
  EXPECT_EQ(list.responses[1].text(kOc + "id"), id);
  const auto back = dav + "/trashbin/" + alice.name + "/restore/a";
  EXPECT_EQ(status("MOVE", list.responses[1].href, {{"Destination", files + "/a"}}), 403);
  EXPECT_EQ(status("MOVE", list.responses[1].href, {{"Destination", back}}), 201);
  EXPECT_EQ(get(files + "/t/a"), "1");
  EXPECT_EQ(status("MOVE", list.responses[1].href, {{"Destination", back}}), 404);
  ASSERT_EQ(status("DELETE", files + "/t/a"), 204);
  list = propfind(trash, "1", "<oc:id/>");
  EXPECT_EQ(status("DELETE", list.responses.at(1).href), 204);
  ASSERT_EQ(status("DELETE", files + "/t"), 204);
  EXPECT_EQ(propfind(trash, "1", "<oc:id/>").responses.size(), 2u);
  EXPECT_EQ(status("DELETE", trash), 204);
  EXPECT_EQ(propfind(trash, "1", "<oc:id/>").responses.size(), 1u);
  EXPECT_EQ(status("PROPFIND", dav + "/trashbin/" + bob.name + "/trash", {{"Depth", "1"}}), 404);
}

TEST_F(MobileTest, N54_Versions) {
  ASSERT_EQ(put(files + "/v", "one", {{"X-OC-Mtime", "1700000001"}}), 201);
  const auto id = last.header("oc-fileid");
  ASSERT_EQ(put(files + "/v", "two", {{"X-OC-Mtime", "1700000002"}}), 204);
  const auto number = std::to_string(std::stoll(id.substr(0, 8)));
  const auto at = dav + "/versions/" + alice.name + "/versions/" + number;
  const auto list = propfind(at, "1", "<d:getcontentlength/><nc:version-label/>");
  ASSERT_EQ(list.responses.size(), 2u);
  EXPECT_EQ(list.responses[1].href, at + "/1700000001");
  EXPECT_EQ(get(at + "/1700000001"), "one");
  EXPECT_EQ(client
                .send("PROPPATCH", at + "/1700000001", {},
                      "<d:propertyupdate " + std::string(kSpaces) +
                          "><d:set><d:prop><nc:version-label>first</nc:version-label></d:prop></d:set></"
                          "d:propertyupdate>")
                .status,
            207);
  const auto before = etag_of(files + "/");
  EXPECT_EQ(
      status("MOVE", at + "/1700000001", {{"Destination", dav + "/versions/" + alice.name + "/restore/x"}}),
      201);
  EXPECT_EQ(get(files + "/v"), "one");
  EXPECT_EQ(id_of(files + "/v"), id);
  EXPECT_NE(etag_of(files + "/"), before);
  ApiClient stranger{server.port(), basic(bob.name, bob.password)};
  EXPECT_EQ(stranger.send("PROPFIND", dav + "/versions/" + bob.name + "/versions/" + number, {{"Depth", "1"}})
                .status,
            404);
}

TEST_F(MobileTest, N24_N33_LocksByHand) {
  ASSERT_EQ(put(files + "/l", "1"), 201);
  const auto before = etag_of(files + "/");
  ASSERT_EQ(status("LOCK", files + "/l", {{"X-User-Lock", "1"}}), 200);
  EXPECT_TRUE(says("<nc:lock>1</nc:lock>")) << last.body;
  EXPECT_TRUE(says("<nc:lock-owner>" + alice.name + "</nc:lock-owner>"));
  EXPECT_TRUE(says("<nc:lock-owner-type>0</nc:lock-owner-type>"));
  EXPECT_TRUE(says("<d:getetag>"));
  const auto locked = etag_of(files + "/");
  EXPECT_NE(locked, before);
  EXPECT_EQ(put(files + "/l", "2"), 204) << "it keeps others out, not oneself";
  server.sql("insert into grants (node_id, user_id, rights) select id, " + std::to_string(bob.id.value) +
             ", 31 from nodes where name = 'l' and drive_id = (select id from drives where owner_id = " +
             std::to_string(alice.id.value) +
             "); update nodes set flags = flags | 1 where name = 'l' and drive_id = "
             "(select id from drives where owner_id = " +
             std::to_string(alice.id.value) + ")");
  server.sql("insert into mounts (user_id, parent_id, target_id, name) select " +
             std::to_string(bob.id.value) +
             ", (select root_id from drives where owner_id = " + std::to_string(bob.id.value) +
             "), id, 'l' from nodes"
             " where name = 'l' and drive_id = (select id from drives where owner_id = " +
             std::to_string(alice.id.value) + ")");
  ApiClient other{server.port(), basic(bob.name, bob.password)};
  const auto theirs = dav + "/files/" + bob.name + "/l";
  EXPECT_EQ(other.send("PUT", theirs, {}, "3").status, 423);
  EXPECT_EQ(other.send("LOCK", theirs, {{"X-User-Lock", "1"}}).status, 423);
  EXPECT_EQ(other.send("UNLOCK", theirs, {{"X-User-Lock", "1"}}).status, 423);
  ASSERT_EQ(status("UNLOCK", files + "/l", {{"X-User-Lock", "1"}}), 200);
  EXPECT_TRUE(says("<nc:lock>0</nc:lock>")) << last.body;
  EXPECT_NE(etag_of(files + "/"), locked);
  EXPECT_EQ(status("UNLOCK", files + "/l", {{"X-User-Lock", "1"}}), 412);
  EXPECT_EQ(other.send("PUT", theirs, {}, "3").status, 204);
  ASSERT_EQ(status("LOCK", files + "/l", {{"X-User-Lock", "1"}}), 200);
  const auto again = etag_of(files + "/");
  server.sql("update locks set expires_at = now() - interval '1 second' where owner_id = " +
             std::to_string(alice.id.value));
  server.files->locks().expire();
  EXPECT_NE(etag_of(files + "/"), again) << "its end is told, too";
}

TEST_F(MobileTest, N68_N69_CalendarsAndContacts) {
  const auto root = propfind(dav, "0", "<d:current-user-principal/>");
  ASSERT_EQ(root.http.status, 207);
  EXPECT_EQ(root.responses.at(0).href, dav + "/");
  EXPECT_NE(root.http.body.find("<d:href>" + dav + "/principals/users/" + alice.name + "/</d:href>"),
            std::string::npos)
      << root.http.body;
  const auto principal = dav + "/principals/users/" + alice.name + "/";
  const auto homes =
      client.send("PROPFIND", principal, {{"Depth", "0"}},
                  "<d:propfind xmlns:d='DAV:' xmlns:c='urn:ietf:params:xml:ns:caldav' "
                  "xmlns:a='urn:ietf:params:xml:ns:carddav'>"
                  "<d:prop><c:calendar-home-set/><a:addressbook-home-set/></d:prop></d:propfind>");
  ASSERT_EQ(homes.status, 207);
  EXPECT_NE(homes.body.find(dav + "/calendars/" + alice.name + "/"), std::string::npos) << homes.body;
  EXPECT_NE(homes.body.find(dav + "/addressbooks/users/" + alice.name + "/"), std::string::npos);
  for (const auto& home :
       {dav + "/calendars/" + alice.name + "/", dav + "/addressbooks/users/" + alice.name + "/"})
    EXPECT_GE(propfind(home, "1", "<d:resourcetype/>").responses.size(), 2u) << home;
}

}  // namespace
}  // namespace welkin::tests
