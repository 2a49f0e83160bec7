#include "dav/dav_fixture.hpp"

namespace welkin::tests {
namespace {

using DavNames = DavFixture;

TEST_F(DavNames, ComeBackAsTheyWereGiven) {
  const std::string long_name = std::string(253, 'n') + "\xC3\xA9";
  for (const std::string& name : {std::string("a b"),
                                  std::string("a&b"),
                                  std::string("a%b"),
                                  std::string("a#b"),
                                  std::string("a?b"),
                                  std::string("[x]"),
                                  std::string("a+b"),
                                  std::string("\xC3\xA9"),
                                  std::string("\xE6\x97\xA5\xE6\x9C\xAC"),
                                  std::string("\xF0\x9F\x98\x80"),
                                  std::string("CON"),
                                  std::string("a:b"),
                                  std::string("x."),
                                  std::string("x "),
                                  std::string(" x"),
                                  std::string("<script>"),
                                  std::string("..."),
                                  std::string(".DAV"),
                                  std::string("100%"),
                                  std::string("%41"),
                                  std::string("'\""),
                                  std::string("~$a.docx"),
                                  std::string("\xE2\x80\xAE"
                                              "txt"),
                                  long_name}) {
    const auto url = b + '/' + text::percent_encode(name);
    EXPECT_EQ(put(url, name), 201) << name;
    EXPECT_EQ(get(url), name);
    EXPECT_NE(dav.get(b + '/').body.find(name + '\n'), std::string::npos) << name;
  }
  EXPECT_EQ(get(b + "/%2541"), "%41") << "decoded once";
  EXPECT_EQ(get(b + "/a+b"), "a+b");
}

// Where Windows has to be able to open everything, what it could not open is not made. What is there stays.
TEST(DavWindowsNames, AreKeptFreeOfWhatWindowsCannotOpen) {
  TestServer server([](Config& config) { config.windows_names = true; });
  const auto alice = server.user("alice");
  auto dav = server.as(alice);
  const auto home = server.home(alice);
  server.file(alice, home, "plain", "x");
  server.file(alice, home, "old", "x");
  server.sql("update nodes set name = 'o:ld' where name = 'old'");
  for (const std::string name :
       {"CON", "con.txt", "LPT9.tar.gz", "a:b", "x.", "x ", " x", "a<b", "a?", "a*", "a|b", "a\"b"}) {
    const auto url = "/webdav/" + text::percent_encode(name);
    EXPECT_EQ(dav.send("PUT", url, {}, "x").status, 400) << name;
    EXPECT_EQ(dav.send("MKCOL", url).status, 400) << name;
    EXPECT_EQ(dav.send("LOCK", url, {}, DavFixture::kLockInfo).status, 400) << name;
    EXPECT_EQ(dav.send("COPY", "/webdav/plain", {{"Destination", url}}).status, 400) << name;
    EXPECT_EQ(dav.send("MOVE", "/webdav/plain", {{"Destination", url}}).status, 400) << name;
    EXPECT_EQ(dav.get(url).status, 404) << name;
  }
  for (const std::string name : {"CONSOLE", "com0", "COM10", "x.y", ".x", "a b", "nul-", "\xC3\xA9"})
    EXPECT_EQ(dav.send("PUT", "/webdav/" + text::percent_encode(name), {}, "x").status, 201) << name;
  EXPECT_EQ(dav.get("/webdav/o%3Ald").body, "x");
  EXPECT_EQ(dav.send("PUT", "/webdav/o%3Ald", {}, "y").status, 204);
  EXPECT_EQ(dav.send("MOVE", "/webdav/o%3Ald", {{"Destination", "/webdav/new"}}).status, 201);
}

TEST_F(DavNames, AreOneInBothForms) {
  EXPECT_EQ(put(b + "/caf%C3%A9", "1"), 201);
  EXPECT_EQ(get(b + "/cafe%CC%81"), "1");
  EXPECT_EQ(put(b + "/cafe%CC%81", "2"), 204);
  EXPECT_EQ(get(b + "/caf%C3%A9"), "2");
  EXPECT_EQ(server.number("select count(*) from nodes where parent_id = " + std::to_string(t.value)), 2);
  EXPECT_EQ(put(b + "/CAF%C3%89", "3"), 201) << "case tells apart";
}

TEST_F(DavNames, TricksAreRefusedEverywhere) {
  const auto before = nodes();
  for (const char* bad :
       {"..", "%2e%2e", ".%2E", "..%2f", "x%2fy", "%5c", "%00", "%01", "%0a", "%7f", "%ff", "%c0%ae",
        "%ed%a0%80", "%zz", "%4", "%c2%80", "%ef%bf%be", "%f0%9f%bf%bf", "%ef%b7%90"}) {
    const std::string url = b + '/' + bad;
    for (const char* method : {"PUT", "GET", "MKCOL", "DELETE", "LOCK"}) {
      const auto got = dav.send(method, url, {}, std::string_view(method) == "PUT" ? "x" : "");
      EXPECT_EQ(got.status, 400) << method << ' ' << url;
    }
  }
  EXPECT_EQ(nodes(), before);
  EXPECT_EQ(get("/webdav//t/a"), "hello");
  EXPECT_EQ(get("//webdav/t//a"), "hello");
  EXPECT_EQ(get(b + "/a"), "hello");
}

TEST_F(DavNames, AreBounded) {
  EXPECT_EQ(put(b + '/' + std::string(255, 'x'), "x"), 201);
  EXPECT_EQ(put(b + '/' + std::string(256, 'x'), "x"), 414);
  EXPECT_EQ(status("MKCOL", b + '/' + std::string(256, 'x')), 414);
  std::string deep = "/webdav";
  for (int i = 0; i < 129; ++i) deep += "/d";
  EXPECT_EQ(put(deep, "x"), 414);
  std::string wide = "/webdav";
  for (int i = 0; i < 20; ++i) wide += '/' + std::string(250, 'x');
  EXPECT_EQ(put(wide, "x"), 414);
  const auto huge = dav.send("PUT", b + '/' + std::string(20'000, 'x'), {}, "x").status;
  EXPECT_TRUE(huge == 414 || huge == 431) << huge;
  for (const char* field : {"Overwrite", "Depth", "Timeout", "If", "Destination"}) {
    auto client = server.as(alice);
    const auto got = client.send("DELETE", b + "/a", {{field, std::string(1 << 20, 'x')}}).status;
    EXPECT_TRUE(got == 431 || got == 400 || got == 0) << field << got;
  }
  EXPECT_EQ(get(b + "/a"), "hello");
}

TEST_F(DavNames, OfFoldersAreMadeAndDeleted) {
  EXPECT_EQ(status("MKCOL", b + "/f"), 201);
  EXPECT_EQ(status("MKCOL", b + "/g/"), 201);
  EXPECT_EQ(status("MKCOL", b + "/f"), 405);
  EXPECT_TRUE(says("<d:resource-must-be-null/>")) << last.body;
  EXPECT_NE(last.header("allow").find("PROPFIND"), std::string::npos);
  EXPECT_EQ(status("MKCOL", b + "/a"), 405);
  EXPECT_NE(last.header("allow").find("PUT"), std::string::npos);
  EXPECT_EQ(status("MKCOL", "/webdav/"), 405);
  EXPECT_EQ(status("MKCOL", b + "/no/f"), 409);
  EXPECT_EQ(status("MKCOL", b + "/a/f"), 409);
  EXPECT_EQ(status("MKCOL", b + "/h", {{"Content-Type", "text/plain"}}, "body"), 415);
  EXPECT_EQ(get(b + "/h"), "status 404");

  EXPECT_EQ(status("DELETE", b + "/f", {{"Depth", "0"}}), 400);
  EXPECT_EQ(status("DELETE", b + "/f", {{"Depth", "infinity"}}), 204);
  EXPECT_EQ(status("DELETE", b + "/g/"), 204);
  EXPECT_EQ(status("DELETE", b + "/a", {{"If-Match", "\"x\""}}), 412);
  EXPECT_EQ(status("DELETE", b + "/a/"), 404);
  EXPECT_EQ(status("DELETE", b + "/none"), 404);
  EXPECT_EQ(status("DELETE", b + "/none", {{"If-Match", "\"x\""}}), 404);
  EXPECT_EQ(status("DELETE", "/webdav"), 403);
  EXPECT_EQ(dav.send("DELETE", b + "/#a").status, 400);
  EXPECT_EQ(get(b + "/a"), "hello");
  EXPECT_EQ(status("DELETE", b + "/a", {{"Depth", "0"}}), 204) << "of a file any Depth is fine";
  EXPECT_EQ(server.number("select count(*) from trash where deleted_by = " + std::to_string(alice.id.value)),
            3);
}

TEST_F(DavNames, AMemberWithALockKeepsItsFolder) {
  const auto f = server.folder(alice, t, "f");
  server.file(alice, f, "m", "x");
  server.file(alice, f, "n", "x");
  lock(b + "/f/m");
  EXPECT_EQ(status("DELETE", b + "/f"), 423);
  EXPECT_TRUE(says("<d:href>/webdav/t/f/m</d:href>")) << last.body;
  EXPECT_EQ(get(b + "/f/m"), "x");
  EXPECT_EQ(get(b + "/f/n"), "x");
}

}  // namespace
}  // namespace welkin::tests
