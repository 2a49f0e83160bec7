#include "dav/dav_client.hpp"

namespace welkin::tests {
namespace {

struct DavMkcol : DavTest {
  HttpResponse mkcol(const std::string& path, const std::string& props,
                     const std::string& type = "application/xml") {
    return dav.send("MKCOL", path, {{"Content-Type", type}},
                    "<d:mkcol xmlns:d='DAV:'><d:set><d:prop>" + props + "</d:prop></d:set></d:mkcol>");
  }
  static constexpr const char* kType = "<d:resourcetype><d:collection/></d:resourcetype>";
};

TEST_F(DavMkcol, MakesAFolderWithItsProperties) {
  const auto made = mkcol("/webdav/area/new/", std::string(kType) +
                                                   "<d:displayname>Shown</d:displayname>"
                                                   "<x xmlns='urn:x'>1</x>");
  EXPECT_EQ(made.status, 201) << made.body;
  const auto folder =
      propfind("/webdav/area/new", "0", prop("<d:displayname/><x xmlns='urn:x'/><d:resourcetype/>"));
  EXPECT_EQ(folder.responses.at(0).text("displayname"), "Shown");
  EXPECT_EQ(folder.responses.at(0).text("{urn:x}x"), "1");
  EXPECT_EQ(mkcol("/webdav/area/plain", kType, "text/xml; charset=utf-8").status, 201);
}

TEST_F(DavMkcol, MakesNothingWhenAPropertyIsRefused) {
  const auto refused = mkcol("/webdav/area/new", "<x xmlns='urn:x'/><d:getetag>x</d:getetag>");
  EXPECT_EQ(refused.status, 403);
  const auto root = wire::parse_xml(refused.body);
  EXPECT_TRUE(root.is("DAV:", "mkcol-response")) << refused.body;
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(status_in(root.children[0]), 403);
  EXPECT_EQ(status_in(root.children[1]), 424);
  const auto type =
      mkcol("/webdav/area/new", "<d:resourcetype><d:collection/><c xmlns='urn:x'/></d:resourcetype>");
  EXPECT_EQ(type.status, 403);
  EXPECT_NE(type.body.find("<d:valid-resourcetype/>"), std::string::npos) << type.body;
  EXPECT_EQ(mkcol("/webdav/area/new", "<big xmlns='urn:x'>" + std::string(70'000, 'x') + "</big>").status,
            507);
  EXPECT_EQ(propfind("/webdav/area/new", "0").http.status, 404);
}

TEST_F(DavMkcol, TakesTheClientsTime) {
  for (const char* path : {"/webdav/area/dated", "/webdav/area/copied"}) {
    const auto made =
        std::string_view(path).ends_with("dated")
            ? dav.send("MKCOL", path, {{"X-OC-Mtime", "1500000000"}})
            : dav.send("COPY", "/webdav/area/dated", {{"Destination", path}, {"X-OC-Mtime", "1500000000"}});
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.header("x-oc-mtime"), "accepted");
    EXPECT_EQ(propfind(path, "0").responses.at(0).text("getlastmodified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  }
  EXPECT_EQ(dav.send("MKCOL", "/webdav/area/bad", {{"X-OC-Mtime", "soon"}}).status, 400);
  EXPECT_EQ(propfind("/webdav/area/bad", "0").http.status, 404);
}

// Folder and properties are one change: what has no room leaves no folder, not even in the trash.
TEST_F(DavMkcol, IsOneChange) {
  const auto poor = server.user(server.fresh("poor"), false, 1000);
  auto client = server.as(poor);
  const auto ask = [&](std::size_t bytes) {
    return client.send("MKCOL", "/webdav/new", {{"Content-Type", "application/xml"}},
                       "<d:mkcol xmlns:d='DAV:'><d:set><d:prop><x xmlns='urn:x'>" + std::string(bytes, 'x') +
                           "</x>" + kType + "</d:prop></d:set></d:mkcol>");
  };
  const auto drive = " from drives d where owner_id = " + std::to_string(poor.id.value);
  const auto nodes = "select count(*) from nodes where drive_id = (select id" + drive + ")";
  const auto before = server.number(nodes);
  const auto refused = ask(2000);
  EXPECT_EQ(refused.status, 507) << refused.body;
  EXPECT_NE(refused.body.find("<d:quota-not-exceeded/>"), std::string::npos) << refused.body;
  EXPECT_EQ(server.number(nodes), before);
  EXPECT_EQ(server.number("select count(*) from trash where drive_id = (select id" + drive + ")"), 0);
  EXPECT_EQ(ask(100).status, 201);
  const auto dated = mkcol("/webdav/area/dated", "<d:creationdate>2017-07-14T02:40:00Z</d:creationdate>");
  EXPECT_EQ(dated.status, 201);
  EXPECT_EQ(propfind("/webdav/area/dated", "0").responses.at(0).text("creationdate"), "2017-07-14T02:40:00Z");
}

TEST_F(DavMkcol, RefusesOtherBodies) {
  EXPECT_EQ(mkcol("/webdav/area/new", kType, "text/plain").status, 415);
  EXPECT_EQ(dav.send("MKCOL", "/webdav/area/new", {}, "x").status, 415);
  EXPECT_EQ(dav.send("MKCOL", "/webdav/area/new", {{"Content-Type", "text/xml"}}, "<other/>").status, 400);
  EXPECT_EQ(dav.send("MKCOL", "/webdav/area/new", {{"Content-Type", "text/xml"}}, "<d:mkcol").status, 400);
  EXPECT_EQ(propfind("/webdav/area/new", "0").http.status, 404);
}

}  // namespace
}  // namespace welkin::tests
