#include <gtest/gtest.h>

#include "support/run.hpp"
#include "support/test_server.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::tests {
namespace {

struct DavGet : ::testing::Test {
  TestServer& server = shared_server();
  TestUser alice = server.user(server.fresh("alice"));
  ApiClient dav = server.as(alice);
  NodeId home = server.home(alice), docs = server.folder(alice, home, "Docs & more");

  void expect_dav_error(const HttpResponse& answer, int status, const std::string& slug) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(answer.header("content-type"), "application/xml; charset=utf-8");
    EXPECT_NE(answer.body.find("<d:error xmlns:d=\"DAV:\""), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find(slug + "/>"), std::string::npos) << answer.body;
  }
  std::string app_password(std::int32_t protocols, bool read_only = false, NodeId folder = {}) {
    people::NewAppPassword wanted;
    wanted.label = "test";
    wanted.protocol_mask = protocols;
    wanted.read_only = read_only;
    wanted.folder = folder;
    return run(server.people->create_app_password(alice.caller, wanted, {})).second;
  }
  int status_with(const std::string& authorization, const std::string& path = "/webdav/") {
    return ApiClient(server.port(), authorization).get(path).status;
  }
};

TEST_F(DavGet, GivesFilesByTheirPath) {
  server.file(alice, docs, "r\xC3\xA9sum\xC3\xA9 1.txt", "hello");
  for (const std::string path : {"/webdav/Docs%20&%20more/r%C3%A9sum%C3%A9%201.txt",
                                 "/webdav//Docs%20%26%20more//r%c3%a9sum%c3%a9%201.txt",
                                 "/webdav/Docs%20&%20more/re%CC%81sume%CC%81%201.txt"}) {
    const auto got = dav.get(path);
    EXPECT_EQ(got.status, 200) << path << got.body;
    EXPECT_EQ(got.body, "hello");
    EXPECT_EQ(got.header("etag").front(), '"');
    EXPECT_EQ(got.header("accept-ranges"), "bytes");
    EXPECT_NE(got.header("content-security-policy").find("sandbox"), std::string::npos);
    EXPECT_EQ(got.header("x-content-type-options"), "nosniff");
  }
  const std::string path = "/webdav/Docs%20&%20more/r%C3%A9sum%C3%A9%201.txt";
  const auto part = dav.get(path, {{"Range", "bytes=1-2"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "el");
  EXPECT_EQ(dav.get(path, {{"If-None-Match", part.header("etag")}}).status, 304);
  const auto head = dav.send("HEAD", path);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "5");
  EXPECT_EQ(head.body, "");
  expect_dav_error(dav.get(path + "/"), 404, "not_found");
  expect_dav_error(dav.get("/webdav/Docs"), 404, "not_found");
  expect_dav_error(dav.get("/webdav/docs%20&%20more"), 404, "not_found");
  expect_dav_error(dav.get(path + "/below"), 404, "not_found");
}

TEST_F(DavGet, RefusesPathTricks) {
  server.file(alice, home, "a", "x");
  for (const char* path :
       {"/webdav/..", "/webdav/%2e%2e/api", "/webdav/a%2Fb", "/webdav/%00", "/webdav/a%0d%0ab", "/webdav/%ff",
        "/webdav/%zz", "/webdav/a%5Cb", "/webdav/%7f"}) {
    EXPECT_EQ(dav.get(path).status, 400) << path;
  }
}

TEST_F(DavGet, ShowsFolders) {
  server.folder(alice, docs, "<b>&\"quoted\"");
  server.file(alice, docs, "<script>alert(1).txt", "x");
  server.file(alice, docs, "100% #1?.txt", "x");
  const auto page = dav.get("/webdav/Docs%20&%20more", {{"Accept", "text/html,*/*"}});
  ASSERT_EQ(page.status, 200);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  const auto policy = page.header("content-security-policy");
  EXPECT_NE(policy.find("sandbox"), std::string::npos);
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(policy.find("script"), std::string::npos);
  EXPECT_EQ(page.body.find("<script"), std::string::npos);
  EXPECT_EQ(page.body.find("<b>"), std::string::npos);
  EXPECT_NE(page.body.find("/webdav/Docs%20&amp;%20more/100%25%20%231%3F.txt\""), std::string::npos)
      << page.body;
  EXPECT_NE(page.body.find("href=\"/webdav/\""), std::string::npos) << "the way up";
  // Every link leads somewhere.
  std::size_t links = 0;
  for (auto at = page.body.find("href=\""); at != std::string::npos; at = page.body.find("href=\"", at + 1)) {
    const auto start = at + 6;
    const auto href = page.body.substr(start, page.body.find('"', start) - start);
    EXPECT_EQ(dav.get(wire::parse_xml("<a>" + href + "</a>").text).status, 200) << href;
    ++links;
  }
  EXPECT_EQ(links, 4u);
  const auto plain = dav.get("/webdav/Docs%20&%20more/");
  EXPECT_EQ(plain.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(plain.body, "100% #1?.txt\n<b>&\"quoted\"/\n<script>alert(1).txt\n");
  EXPECT_EQ(dav.send("HEAD", "/webdav/").body, "");
}

TEST_F(DavGet, KnowsWhoAsks) {
  EXPECT_EQ(status_with("Bearer " + alice.token), 200);
  EXPECT_EQ(status_with("bearer " + alice.token), 200);
  EXPECT_EQ(status_with(basic(alice.name, alice.password)), 200) << "account passwords count by default";
  EXPECT_EQ(status_with(basic(alice.name, app_password(protocols::kAll))), 200);
  EXPECT_EQ(status_with(basic(alice.name, app_password(protocols::kWebdav))), 200);
  EXPECT_EQ(status_with(basic(alice.name, app_password(protocols::kAll & ~protocols::kWebdav))), 401);
  const auto bob = server.user(server.fresh("bob"));
  EXPECT_EQ(status_with(basic(bob.name, app_password(protocols::kAll))), 401) << "another user's";
  for (const std::string& bad :
       {std::string(), std::string("Bearer"), std::string("Bearer "), std::string("Bearer x"),
        std::string("Basic"), std::string("Basic !!!"), std::string("Basic YQ=="),
        std::string("Digest username=\"a\""), std::string("Negotiate abc"), basic(alice.name, "wrong"),
        basic("nobody-" + alice.name, alice.password), basic("", ""), basic(alice.name, ""),
        basic("\xff", "x"), basic(std::string("a\0b", 3), "x"), "Basic " + alice.token}) {
    const auto answer = ApiClient(server.port(), bad).get("/webdav/");
    EXPECT_EQ(answer.status, 401) << bad;
    EXPECT_EQ(answer.header("www-authenticate"), "Basic realm=\"Welkin\", charset=\"UTF-8\"");
    EXPECT_NE(answer.body.find("credentials/>"), std::string::npos) << answer.body;
  }
}

TEST_F(DavGet, CookiesDoNotCount) {
  for (const char* name : {"welkin_access", "__Secure-welkin_access", "welkin_csrf"}) {
    const auto answer = server.nobody().get("/webdav/", {{"Cookie", std::string(name) + "=" + alice.token}});
    EXPECT_EQ(answer.status, 401) << name;
  }
}

TEST_F(DavGet, AppPasswordsKeepToTheirFolder) {
  server.file(alice, docs, "inside.txt", "in");
  server.file(alice, home, "outside.txt", "out");
  ApiClient limited(server.port(), basic(alice.name, app_password(protocols::kWebdav, true, docs)));
  EXPECT_EQ(limited.get("/webdav/").body, "inside.txt\n");
  EXPECT_EQ(limited.get("/webdav/inside.txt").body, "in");
  EXPECT_EQ(limited.get("/webdav/outside.txt").status, 404);
  EXPECT_EQ(limited.get("/webdav/Docs%20&%20more/inside.txt").status, 404);
}

TEST_F(DavGet, AccountPasswordsCanBeTurnedOff) {
  TestServer strict([](Config& config) { config.dav_account_passwords = false; });
  const auto user = strict.user("alice");
  EXPECT_EQ(ApiClient(strict.port(), basic("alice", user.password)).get("/webdav/").status, 401);
  EXPECT_EQ(strict.as(user).get("/webdav/").status, 200);
}

TEST_F(DavGet, GuessingIsLockedOut) {
  TestServer guarded([](Config& config) { config.lockout_failures = 3; });
  const auto user = guarded.user("alice");
  int refused = 0;
  HttpResponse last;
  for (int i = 0; i < 6; ++i) {
    last = ApiClient(guarded.port(), basic("alice", "guess " + std::to_string(i))).get("/webdav/");
    if (last.status == 401) ++refused;
  }
  EXPECT_LE(refused, 3);
  expect_dav_error(last, 429, "account_locked");
  EXPECT_FALSE(last.header("retry-after").empty());
  EXPECT_EQ(ApiClient(guarded.port(), basic("alice", user.password)).get("/webdav/").status, 429)
      << "the right one too";
  EXPECT_EQ(guarded.as(user).get("/webdav/").status, 200) << "a session is not guessing";
}

TEST_F(DavGet, OtherMethodsAreNotThere) {
  server.file(alice, home, "a.txt", "x");
  for (const char* method : {"POST", "ACL", "MKCALENDAR", "BIND"}) {
    for (const char* path : {"/webdav", "/webdav/a.txt", "/webdav/missing"}) {
      const auto answer = dav.send(method, path);
      expect_dav_error(answer, 405, "method_not_allowed");
      EXPECT_NE(answer.header("allow").find("GET"), std::string::npos) << method << path;
      EXPECT_EQ(server.nobody().send(method, path).status, 401) << method;
    }
  }
  EXPECT_EQ(dav.send("FROBNICATE", "/webdav").status, 501);
  EXPECT_EQ(dav.get("/webdav/a.txt").body, "x");
}

TEST_F(DavGet, OptionsIsForEverybody) {
  for (const char* path : {"/webdav", "/webdav/", "/webdav/a/b/c", "/"}) {
    const auto answer = server.nobody().send("OPTIONS", path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.header("content-length"), "0");
    EXPECT_NE(answer.header("allow").find("PROPFIND"), std::string::npos) << path;
    EXPECT_TRUE(answer.header("dav").starts_with("1, 2, 3")) << path;
    EXPECT_EQ(answer.header("ms-author-via"), "DAV");
    EXPECT_EQ(answer.header("dasl"), "<DAV:basicsearch>");
  }
  EXPECT_EQ(dav.send("OPTIONS", "/webdav").status, 200);
  EXPECT_EQ(ApiClient(server.port(), basic(alice.name, "wrong")).send("OPTIONS", "/webdav").status, 401);
}

// Who is known is told what he may send to that very address.
TEST_F(DavGet, OptionsTellsTheMethodsOfAnAddress) {
  server.file(alice, home, "a.txt", "x");
  const auto allow = [&](const std::string& path) { return dav.send("OPTIONS", path).header("allow"); };
  EXPECT_EQ(allow("/webdav/missing"), "OPTIONS, PUT, MKCOL, LOCK");
  EXPECT_EQ(allow("/webdav/Docs%20&%20more").find("PUT"), std::string::npos);
  EXPECT_NE(allow("/webdav/Docs%20&%20more").find("GET"), std::string::npos);
  EXPECT_NE(allow("/webdav/a.txt").find("PUT"), std::string::npos);
  EXPECT_NE(allow("/webdav/a.txt").find("LOCK"), std::string::npos);
}

// Some clients look at every parent of the address they were given.
TEST_F(DavGet, TheTopIsAFolderWithTheMountInIt) {
  const auto top = dav.send("PROPFIND", "/", {{"Depth", "1"}});
  EXPECT_EQ(top.status, 207) << top.body;
  EXPECT_NE(top.body.find("<d:href>/</d:href>"), std::string::npos);
  EXPECT_NE(top.body.find("<d:href>/webdav/</d:href>"), std::string::npos);
  EXPECT_EQ(dav.send("PROPFIND", "/", {{"Depth", "0"}}).body.find("<d:href>/webdav/"), std::string::npos);
  EXPECT_EQ(server.nobody().send("PROPFIND", "/").status, 401);
}

TEST_F(DavGet, TellsTheDigestWhenItIsWanted) {
  server.file(alice, home, "a.txt", "hello");
  const std::string hello = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:";
  EXPECT_EQ(dav.get("/webdav/a.txt", {{"Want-Repr-Digest", "sha-512=3, sha-256=10"}}).header("repr-digest"),
            hello);
  const auto part = dav.get("/webdav/a.txt", {{"Want-Repr-Digest", "sha-256=1"}, {"Range", "bytes=0-1"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.header("repr-digest"), hello) << "of the whole file";
  for (const std::string other : {"", "sha-256=0", "md5=1"}) {
    EXPECT_FALSE(dav.get("/webdav/a.txt", {{"Want-Repr-Digest", other}}).has("repr-digest")) << other;
  }
}

}  // namespace
}  // namespace welkin::tests
