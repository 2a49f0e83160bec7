#include "dav/dav_client.hpp"

namespace welkin::tests {
namespace {

struct DavMkcol : DavTest {
  HttpResponse mkcol(const std::string& path, const std::string& props,
                     const std::string& type = "application/xml") {
    return dav.send("MKCOL", path, {{"Content-Type", type}},
                    "<D:mkcol xmlns:D='DAV:'><D:set><D:prop>" + props + "</D:prop></D:set></D:mkcol>");
  }
  static constexpr const char* kType = "<D:resourcetype><D:collection/></D:resourcetype>";
};

TEST_F(DavMkcol, MakesAFolderWithItsProperties) {
  const auto made = mkcol("/webdav/area/new/", std::string(kType) +
                                                   "<D:displayname>Shown</D:displayname>"
                                                   "<x xmlns='urn:x'>1</x>");
  EXPECT_EQ(made.status, 201) << made.body;
  const auto folder =
      propfind("/webdav/area/new", "0", prop("<D:displayname/><x xmlns='urn:x'/><D:resourcetype/>"));
  EXPECT_EQ(folder.responses.at(0).text("displayname"), "Shown");
  EXPECT_EQ(folder.responses.at(0).text("{urn:x}x"), "1");
  EXPECT_EQ(mkcol("/webdav/area/plain", kType, "text/xml; charset=utf-8").status, 201);
}

TEST_F(DavMkcol, MakesNothingWhenAPropertyIsRefused) {
  const auto refused = mkcol("/webdav/area/new", "<x xmlns='urn:x'/><D:getetag>x</D:getetag>");
  EXPECT_EQ(refused.status, 403);
  const auto root = wire::parse_xml(refused.body);
  EXPECT_TRUE(root.is("DAV:", "mkcol-response")) << refused.body;
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(status_in(root.children[0]), 403);
  EXPECT_EQ(status_in(root.children[1]), 424);
  const auto type =
      mkcol("/webdav/area/new", "<D:resourcetype><D:collection/><c xmlns='urn:x'/></D:resourcetype>");
  EXPECT_EQ(type.status, 403);
  EXPECT_NE(type.body.find("<D:valid-resourcetype/>"), std::string::npos) << type.body;
  EXPECT_EQ(mkcol("/webdav/area/new", "<big xmlns='urn:x'>" + std::string(70'000, 'x') + "</big>").status,
            507);
  EXPECT_EQ(propfind("/webdav/area/new", "0").http.status, 404);
}

TEST_F(DavMkcol, RefusesOtherBodies) {
  EXPECT_EQ(mkcol("/webdav/area/new", kType, "text/plain").status, 415);
  EXPECT_EQ(dav.send("MKCOL", "/webdav/area/new", {}, "x").status, 415);
  EXPECT_EQ(dav.send("MKCOL", "/webdav/area/new", {{"Content-Type", "text/xml"}}, "<other/>").status, 400);
  EXPECT_EQ(dav.send("MKCOL", "/webdav/area/new", {{"Content-Type", "text/xml"}}, "<D:mkcol").status, 400);
  EXPECT_EQ(propfind("/webdav/area/new", "0").http.status, 404);
}

}  // namespace
}  // namespace welkin::tests
