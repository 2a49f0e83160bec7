#include "dav/dav_fixture.hpp"

namespace welkin::tests {
namespace {

struct DavTransfer : DavFixture {
  NodeId x = server.folder(alice, t, "x"), y = server.folder(alice, x, "y");
  NodeId m = server.file(alice, y, "m", "mmm"), n = server.file(alice, x, "n", "nnn");

  int copy(const std::string& from, const std::string& to, HeaderList more = {}) {
    more.emplace_back("Destination", to);
    return status("COPY", from, std::move(more));
  }
  int move(const std::string& from, const std::string& to, HeaderList more = {}) {
    more.emplace_back("Destination", to);
    return status("MOVE", from, std::move(more));
  }
  std::int64_t id(const std::string& name, NodeId parent) {
    return server.number("select coalesce(max(id), 0) from nodes where name = '" + name +
                         "' and parent_id = " + std::to_string(parent.value));
  }
};

TEST_F(DavTransfer, CopiesFiles) {
  EXPECT_EQ(copy(b + "/a", b + "/new%20b"), 201);
  EXPECT_EQ(last.header("location"), "/webdav/t/new%20b");
  EXPECT_EQ(get(b + "/new%20b"), "hello");
  EXPECT_EQ(copy(b + "/x/n", b + "/new%20b"), 204) << "without Overwrite";
  EXPECT_FALSE(last.has("location"));
  EXPECT_EQ(get(b + "/new%20b"), "nnn");
  EXPECT_EQ(get(b + "/a"), "hello");
  EXPECT_EQ(copy(b + "/a", b + "/new%20b", {{"Overwrite", "F"}}), 412);
  EXPECT_EQ(copy(b + "/a", b + "/new%20b", {{"Overwrite", "X"}}), 400);
  EXPECT_EQ(get(b + "/new%20b"), "nnn");
  EXPECT_EQ(copy(b + "/a", b + "/new%20b", {{"Overwrite", "t"}}), 204);
  EXPECT_EQ(copy(b + "/none", b + "/z"), 404);
  EXPECT_EQ(copy(b + "/a/", b + "/z"), 404);
  EXPECT_EQ(server.number("select count(*) from trash where deleted_by = " + std::to_string(alice.id.value)),
            2)
      << "what was replaced can be had back";
}

TEST_F(DavTransfer, ReadsDestinations) {
  const std::string port = std::to_string(server.port());
  int made = 0;
  for (const std::string& to :
       {"http://127.0.0.1:" + port + "/webdav/t/%", std::string("/webdav/t/%"),
        "https://127.0.0.1:" + port + "/webdav/t/%", std::string("http://127.0.0.1:1/webdav/t/%"),
        std::string("HTTP://LOCALHOST//webdav/t//%"), std::string("http://u:p@127.0.0.1/webdav/t/%"),
        std::string("http://[::1]:99/webdav/t/%")}) {
    const auto name = "d" + std::to_string(++made);
    auto target = to;
    target.replace(target.find('%'), 1, name);
    EXPECT_EQ(copy(b + "/a", target), 201) << target;
    EXPECT_EQ(get(b + '/' + name), "hello") << target;
  }
  EXPECT_EQ(dav.send("COPY", b + "/a",
                     {{"Host", "cloud.example:8443"}, {"Destination", "https://CLOUD.example/webdav/t/h"}})
                .status,
            201);
  EXPECT_EQ(dav.send("COPY", b + "/a", {{"Destination", "/webdav/t/raw \xC3\xA9"}}).status, 201);
  EXPECT_EQ(get(b + "/raw%20%C3%A9"), "hello");
  for (const char* other : {"http://elsewhere.example/webdav/t/q", "https://127.0.0.2/webdav/t/q"})
    EXPECT_EQ(copy(b + "/a", other), 502) << other;
  for (const char* bad :
       {"", "webdav/t/q", "q", "ftp://127.0.0.1/webdav/t/q", "http:///webdav/t/q", "/webdav/t/q?x=1",
        "/webdav/t/q#x", "/webdav/t/%zz", "/webdav/t/%00", "/webdav/t/a%2Fb", "/webdav/t/a%5Cb",
        "/webdav/t/../../q", "/webdav/%2e%2e/q", "/webdav/t/%ff", "/webdav/t/%0a",
        "http://127.0.0.1:port/webdav/t/q", "http://[::1/webdav/t/q"})
    EXPECT_EQ(copy(b + "/a", bad), 400) << bad;
  EXPECT_EQ(status("COPY", b + "/a"), 400) << "no Destination";
  for (const char* outside : {"/else/x", "/webdavx/t/q", "/", "http://127.0.0.1"})
    EXPECT_EQ(copy(b + "/a", outside), 403) << outside;
  EXPECT_EQ(copy(b + "/a", "/webdav/" + std::string(256, 'x')), 414);
  EXPECT_EQ(get(b + "/q"), "status 404");
}

TEST_F(DavTransfer, IntoItselfOntoItselfAndOverItself) {
  const auto before = nodes();
  for (const char* same : {"/webdav/t/a", "/webdav/t/%61", "/webdav//t/a"}) {
    EXPECT_EQ(copy(b + "/a", same), 403) << same;
    EXPECT_EQ(move(b + "/a", same), 403) << same;
  }
  EXPECT_EQ(copy(b + "/x/", b + "/x/y/z"), 403);
  EXPECT_EQ(move(b + "/x/", b + "/x/y/z"), 403);
  EXPECT_EQ(move(b + "/x", b + "/x/z/"), 403);
  EXPECT_EQ(copy(b, b + "/x/z"), 403);
  EXPECT_EQ(move(b + "/x/y/", b + "/x/"), 403) << "would replace what holds it";
  EXPECT_EQ(copy(b + "/x/y/", b + "/x/"), 403);
  EXPECT_EQ(copy(b + "/x/n", b + "/x"), 403);
  for (const char* root : {"/webdav", "/webdav/", "http://127.0.0.1/webdav"}) {
    EXPECT_EQ(copy(b + "/a", root), 403) << root;
    EXPECT_EQ(move(b + "/a", root), 403) << root;
  }
  EXPECT_EQ(move("/webdav/", b + "/z"), 403);
  EXPECT_EQ(nodes(), before);
  EXPECT_EQ(get(b + "/x/y/m"), "mmm");
  for (const char* lost : {"/no/x", "/a/x", "/no/no/x"}) {
    EXPECT_EQ(copy(b + "/a", b + lost), 409) << lost;
    EXPECT_EQ(move(b + "/a", b + lost), 409) << lost;
  }
  EXPECT_EQ(get(b + "/a"), "hello");
}

TEST_F(DavTransfer, DepthDecidesHowMuch) {
  EXPECT_EQ(copy(b + "/x", b + "/shallow", {{"Depth", "0"}}), 201);
  EXPECT_EQ(last.header("location"), "/webdav/t/shallow/");
  EXPECT_EQ(get(b + "/shallow/"), "");
  EXPECT_EQ(copy(b + "/x", b + "/deep", {{"Depth", "infinity"}}), 201);
  EXPECT_EQ(get(b + "/deep/y/m"), "mmm");
  EXPECT_EQ(copy(b + "/x", b + "/absent"), 201);
  EXPECT_EQ(get(b + "/absent/y/m"), "mmm");
  EXPECT_EQ(copy(b + "/x", b + "/q", {{"Depth", "1"}}), 400);
  EXPECT_EQ(copy(b + "/x", b + "/q", {{"Depth", "2"}}), 400);
  EXPECT_EQ(move(b + "/x", b + "/q", {{"Depth", "0"}}), 400);
  EXPECT_EQ(move(b + "/x", b + "/q", {{"Depth", "1"}}), 400);
  EXPECT_EQ(move(b + "/a", b + "/q", {{"Depth", "0"}}), 201) << "of a file any Depth is fine";
  EXPECT_EQ(copy(b + "/x", b + "/x/inside", {{"Depth", "0"}}), 201) << "alone it holds nothing of itself";
  EXPECT_EQ(get(b + "/x/inside/"), "");
}

TEST_F(DavTransfer, ReplacesAsAWhole) {
  server.file(alice, server.folder(alice, t, "old"), "gone", "x");
  EXPECT_EQ(copy(b + "/x", b + "/old"), 204);
  EXPECT_EQ(get(b + "/old/"), "n\ny/\n") << "members are not mixed";
  EXPECT_EQ(copy(b + "/a", b + "/old"), 204) << "a file over a folder";
  EXPECT_EQ(get(b + "/old"), "hello");
  EXPECT_EQ(move(b + "/x", b + "/old"), 204) << "a folder over a file";
  EXPECT_EQ(get(b + "/old/y/m"), "mmm");
  EXPECT_EQ(get(b + "/x/n"), "status 404");
}

TEST_F(DavTransfer, MovesKeepWhatAFileIs) {
  EXPECT_EQ(put(b + "/dated", "x", {{"X-OC-Mtime", "1500000000"}}), 201);
  const auto etag = last.header("etag");
  const auto before = id("dated", t);
  const auto folder =
      server.number("select etag_seq from folders where node_id = " + std::to_string(y.value));
  server.sql("update nodes set created_at = 1 where id = " +
             std::to_string(before));  // no program's way to save
  EXPECT_EQ(move(b + "/dated", b + "/x/y/m"), 204);
  EXPECT_EQ(id("m", y), before);
  const auto got = dav.get(b + "/x/y/m");
  EXPECT_EQ(got.header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(got.body, "x");
  EXPECT_NE(server.number("select etag_seq from folders where node_id = " + std::to_string(y.value)), folder);
  EXPECT_EQ(move(b + "/a", b + "/A"), 201) << "another case, another name";
  EXPECT_EQ(get(b + "/A"), "hello");
  EXPECT_EQ(get(b + "/a"), "status 404");
  EXPECT_EQ(put(b + "/caf%C3%A9", "x"), 201);
  EXPECT_EQ(move(b + "/caf%C3%A9", b + "/cafe%CC%81"), 201) << "another form, the same name";
  EXPECT_EQ(copy(b + "/caf%C3%A9", b + "/cafe%CC%81"), 403);
  EXPECT_EQ(get(b + "/cafe%CC%81"), "x");
}

TEST_F(DavTransfer, CarriesPropertiesAndTakesTimes) {
  const auto patch = [&](const std::string& path, const std::string& set) {
    last = dav.send("PROPPATCH", path, {},
                    "<propertyupdate xmlns='DAV:'><set><prop>" + set + "</prop></set></propertyupdate>");
    return last.status;
  };
  const auto value = [&](const std::string& path) {
    return dav
        .send("PROPFIND", path, {{"Depth", "0"}},
              "<propfind xmlns='DAV:'><prop><c xmlns='urn:c'/></prop></propfind>")
        .body;
  };
  EXPECT_EQ(patch(b + "/x", "<c xmlns='urn:c'>blue</c>"), 207);
  EXPECT_EQ(patch(b + "/x/n", "<c xmlns='urn:c'>red</c>"), 207);
  EXPECT_EQ(copy(b + "/x", b + "/shallow", {{"Depth", "0"}}), 201);
  EXPECT_EQ(copy(b + "/x", b + "/deep"), 201);
  EXPECT_EQ(move(b + "/x", b + "/moved"), 201);
  for (const char* folder : {"/shallow", "/deep", "/moved"})
    EXPECT_NE(value(b + folder).find("blue"), std::string::npos) << folder;
  for (const char* file : {"/deep/n", "/moved/n"})
    EXPECT_NE(value(b + file).find("red"), std::string::npos) << file;
  EXPECT_EQ(copy(b + "/a", b + "/dated", {{"X-OC-Mtime", "1500000000"}}), 201);
  EXPECT_EQ(last.header("x-oc-mtime"), "accepted");
  EXPECT_EQ(dav.get(b + "/dated").header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(copy(b + "/a", b + "/q", {{"X-OC-Mtime", "soon"}}), 400);
  EXPECT_EQ(get(b + "/q"), "status 404");
}

TEST_F(DavTransfer, ObeysLocks) {
  const auto token = lock(b + "/a");
  EXPECT_EQ(copy(b + "/a", b + "/copy"), 201) << "reading is free";
  EXPECT_EQ(put(b + "/copy", "x"), 204) << "and the copy is not locked";
  EXPECT_EQ(move(b + "/a", b + "/q"), 423);
  EXPECT_EQ(copy(b + "/x/n", b + "/a"), 423);
  EXPECT_TRUE(says("<d:lock-token-submitted><d:href>/webdav/t/a</d:href>")) << last.body;
  EXPECT_EQ(move(b + "/x/n", b + "/a"), 423);
  EXPECT_EQ(copy(b + "/x/n", b + "/a", if_("</webdav/t/a> (" + token + ")")), 204);
  EXPECT_EQ(put(b + "/a", "x"), 423) << "the lock stays on the name";
  EXPECT_EQ(move(b + "/a", b + "/q", if_('(' + token + ')')), 201);
  EXPECT_EQ(put(b + "/q", "x"), 204) << "locks do not travel";
  EXPECT_EQ(put(b + "/a", "x"), 201) << "and stay on nothing";
  const auto folder = lock(b + "/x", {{"Depth", "0"}});
  EXPECT_EQ(move(b + "/a", b + "/x/new"), 423);
  EXPECT_TRUE(says("<d:href>/webdav/t/x/</d:href>")) << last.body;
  EXPECT_EQ(copy(b + "/a", b + "/x/new"), 423);
  EXPECT_EQ(move(b + "/x/n", b + "/n"), 423);
  EXPECT_EQ(move(b + "/a", b + "/x/new", if_("</webdav/t/x/> (" + folder + ")")), 201);
}

TEST_F(DavTransfer, ObeysConditions) {
  server.sql("update nodes set created_at = 1 where id = " + std::to_string(a.value));
  const auto etag = dav.get(b + "/a").header("etag");
  const auto target = dav.get(b + "/x/n").header("etag");
  EXPECT_EQ(move(b + "/a", b + "/q", {{"If-Match", "\"x\""}}), 412);
  EXPECT_EQ(copy(b + "/a", b + "/q", {{"If-Match", "\"x\""}}), 412);
  EXPECT_EQ(copy(b + "/a", b + "/q", {{"If-None-Match", "JoplinIgnore-3"}}), 201);
  EXPECT_EQ(move(b + "/a", b + "/x/n", if_("</webdav/t/x/n> ([\"wrong\"])")), 412);
  EXPECT_EQ(move(b + "/a", b + "/x/n", if_("</webdav/t/x/n> ([" + target + "]) ")), 204);
  EXPECT_EQ(get(b + "/x/n"), "hello");
  EXPECT_EQ(move(b + "/x/n", b + "/a b", {{"If", "<http://127.0.0.1/webdav/t/x/n> ([" + etag + "])"}}), 201);
}

TEST_F(DavTransfer, NeedsTheRightAtBothEnds) {
  people::NewAppPassword wanted;
  wanted.label = "test";
  wanted.protocol_mask = protocols::kWebdav;
  wanted.read_only = true;
  ApiClient reader(
      server.port(),
      basic(alice.name, run(server.people->create_app_password(alice.caller, wanted, {})).second));
  EXPECT_EQ(reader.send("COPY", b + "/a", {{"Destination", b + "/q"}}).status, 403);
  EXPECT_EQ(reader.send("MOVE", b + "/a", {{"Destination", b + "/q"}}).status, 403);
  EXPECT_EQ(get(b + "/q"), "status 404");
}

TEST(DavDestinations, BehindAProxy) {
  TestServer server([](Config& config) {
    config.base_url = "https://cloud.example/drive";
    config.allowed_hosts = {"backend.internal"};
    config.trusted_proxies = {"127.0.0.1"};
  });
  const auto alice = server.user("alice");
  auto dav = server.as(alice);
  server.file(alice, server.home(alice), "a", "hello");
  const auto copy = [&](const std::string& to, const std::string& host, HeaderList more = {}) {
    more.emplace_back("Host", host);
    more.emplace_back("Destination", to);
    return dav.send("COPY", "/drive/webdav/a", std::move(more));
  };
  const auto made = copy("https://cloud.example/drive/webdav/b", "backend.internal:8086");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("location"), "/drive/webdav/b");
  EXPECT_EQ(copy("http://cloud.example:80/drive/webdav/c", "cloud.example").status, 201);
  EXPECT_EQ(copy("/drive/webdav/d", "cloud.example").status, 201);
  EXPECT_EQ(copy("https://files.example/drive/webdav/e", "backend.internal",
                 {{"X-Forwarded-Host", "files.example"}})
                .status,
            201);
  EXPECT_EQ(copy("https://files.example/drive/webdav/f", "backend.internal",
                 {{"Forwarded", "for=10.0.0.1;host=\"files.example:443\";proto=https"}})
                .status,
            201);
  EXPECT_EQ(copy("https://files.example/drive/webdav/g", "backend.internal").status, 502);
  EXPECT_EQ(copy("/webdav/g", "cloud.example").status, 403) << "not below the base path";
  EXPECT_EQ(dav.get("/drive/webdav/g", {{"Host", "cloud.example"}}).status, 404);
  EXPECT_EQ(dav.send("PUT", "/drive/webdav/a",
                     {{"Host", "cloud.example"},
                      {"If", "<https://cloud.example/drive/webdav/b> (Not <DAV:no-lock>)"}},
                     "x")
                .status,
            204);
}

TEST(DavDestinations, BelieveNoForwardedHostOfStrangers) {
  TestServer server;
  const auto alice = server.user("alice");
  server.file(alice, server.home(alice), "a", "hello");
  EXPECT_EQ(server.as(alice)
                .send("COPY", "/webdav/a",
                      {{"Destination", "http://evil.example/webdav/b"}, {"X-Forwarded-Host", "evil.example"}})
                .status,
            502);
}

}  // namespace
}  // namespace welkin::tests
