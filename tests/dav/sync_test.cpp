#include <set>

#include "dav/dav_client.hpp"

namespace welkin::tests {
namespace {

using Strings = std::vector<std::string>;

struct DavSync : DavTest {
  static constexpr const char* kFolder = "/webdav/area/";

  static std::string body(const std::string& token, const std::string& level = "1",
                          const std::string& more = "") {
    return "<d:sync-collection xmlns:d='DAV:'><d:sync-token>" + token + "</d:sync-token><d:sync-level>" +
           level + "</d:sync-level>" + more +
           "<d:prop><d:getetag/><d:resourcetype/></d:prop></d:sync-collection>";
  }
  static std::string limit(int n) {
    return "<d:limit><d:nresults>" + std::to_string(n) + "</d:nresults></d:limit>";
  }
  DavAnswer report(const std::string& body, HeaderList headers = {}, const std::string& path = kFolder) {
    return dav_answer(dav.send("REPORT", path, std::move(headers), body));
  }
};

TEST_F(DavSync, ListsAllWithoutAToken) {
  server.file(alice, area, "a", "x");
  server.file(alice, server.folder(alice, area, "sub"), "deep", "x");
  const auto one = report(body(""));
  ASSERT_EQ(one.http.status, 207) << one.http.body;
  EXPECT_EQ(one.hrefs(), (Strings{"/webdav/area/a", "/webdav/area/sub/"})) << "not the folder itself";
  EXPECT_EQ(one.at("/webdav/area/a").text("getetag"), dav.get("/webdav/area/a").header("etag"));
  EXPECT_FALSE(one.sync_token.empty());
  EXPECT_EQ(report(body("", "infinite")).responses.size(), 3u);
  EXPECT_TRUE(one.http.body.ends_with("</d:sync-token></d:multistatus>")) << "the token comes last";
  EXPECT_EQ(propfind(kFolder, "0", prop("<d:sync-token/>")).responses.at(0).text("sync-token"),
            one.sync_token);
}

TEST_F(DavSync, TellsExactlyWhatHasChanged) {
  server.file(alice, area, "kept", "x");
  server.file(alice, area, "changed", "x");
  const auto gone = server.file(alice, area, "gone", "x");
  const auto moved = server.file(alice, area, "old name", "x");
  const auto first = report(body(""));
  EXPECT_EQ(first.responses.size(), 4u);
  const auto nothing = report(body(first.sync_token));
  EXPECT_TRUE(nothing.responses.empty());
  EXPECT_EQ(nothing.sync_token, first.sync_token);

  server.file(alice, area, "new", "x");
  run(server.files->trash(alice.caller, gone));
  files::Files::Move to;
  to.name = "new name";
  run(server.files->move(alice.caller, moved, to));
  const auto next = report(body(first.sync_token));
  const auto hrefs = next.hrefs();
  EXPECT_EQ(std::set<std::string>(hrefs.begin(), hrefs.end()),
            (std::set<std::string>{"/webdav/area/new", "/webdav/area/gone", "/webdav/area/old%20name",
                                   "/webdav/area/new%20name"}));
  EXPECT_EQ(next.at("/webdav/area/gone").status, 404);
  EXPECT_EQ(next.at("/webdav/area/old%20name").status, 404);
  EXPECT_EQ(next.at("/webdav/area/new%20name").text("getetag"),
            dav.get("/webdav/area/new%20name").header("etag"));
  EXPECT_TRUE(report(body(next.sync_token)).responses.empty());
}

TEST_F(DavSync, RefusesTokensThatAreNone) {
  const auto other = report(body(""), {}, "/webdav/").sync_token;
  for (const std::string& token :
       {std::string("x"), std::string("urn:welkin:sync:"), std::string("urn:welkin:sync:zz"),
        std::string("urn:welkin:sync:1-2-3-4"), std::string("http://example.com/ns/sync/1"), other,
        report(body("")).sync_token + "/!!"}) {
    const auto answer = report(body(token));
    EXPECT_EQ(answer.http.status, 403) << token << answer.http.body;
    EXPECT_NE(answer.http.body.find("<d:valid-sync-token/>"), std::string::npos) << answer.http.body;
  }
}

// A cut answer says so and goes on where it ended, until everything was told once.
TEST_F(DavSync, GoesOnAfterALimit) {
  for (const char* name : {"a", "b", "c"}) server.file(alice, area, name, "x");
  for (const bool from_nothing : {true, false}) {
    std::string token;
    if (!from_nothing) {
      token = report(body("")).sync_token;
      for (const char* name : {"d", "e", "f"}) server.file(alice, area, name, "x");
    }
    Strings seen;
    for (int turn = 0; turn < 10; ++turn) {
      const auto answer = report(body(token, "1", limit(1)));
      ASSERT_EQ(answer.http.status, 207) << answer.http.body;
      bool more = false;
      for (const auto& r : answer.responses) {
        if (r.href == kFolder) {
          EXPECT_EQ(r.status, 507);
          more = true;
        } else {
          seen.push_back(r.href);
        }
      }
      EXPECT_NE(answer.sync_token, token);
      token = answer.sync_token;
      if (!more) break;
    }
    const Strings wanted = from_nothing ? Strings{"/webdav/area/a", "/webdav/area/b", "/webdav/area/c"}
                                        : Strings{"/webdav/area/d", "/webdav/area/e", "/webdav/area/f"};
    EXPECT_EQ(seen, wanted);
    EXPECT_TRUE(report(body(token)).responses.empty());
  }
}

TEST_F(DavSync, RefusesWhatItIsNot) {
  const auto token = report(body("")).sync_token;
  expect_dav_error(report(body(token), {{"Depth", "1"}}).http, 400, "bad_depth");
  EXPECT_EQ(report(body(token), {{"Depth", "0"}}).http.status, 207);
  EXPECT_EQ(report(body(token, "2")).http.status, 400);
  EXPECT_EQ(report(body(token, "1", limit(0))).http.status, 400);
  EXPECT_EQ(report("<d:sync-collection xmlns:d='DAV:'/>").http.status, 400);
  EXPECT_EQ(report("").http.status, 400);
  expect_dav_error(report("<d:expand-property xmlns:d='DAV:'/>").http, 403, "<d:supported-report");
  server.file(alice, area, "file", "x");
  expect_dav_error(report(body(""), {}, "/webdav/area/file").http, 403, "<d:supported-report");
  EXPECT_EQ(report(body(""), {}, "/webdav/missing").http.status, 404);
}

TEST_F(DavSync, SpeaksOfTreesWhenAskedTo) {
  const auto sub = server.folder(alice, area, "s b");
  const auto first = report(body("", "infinite"));
  server.file(alice, sub, "d p", "x");
  EXPECT_EQ(report(body(first.sync_token, "infinite")).hrefs(), Strings{"/webdav/area/s%20b/d%20p"});
  EXPECT_TRUE(report(body(first.sync_token, "1")).find("/webdav/area/s%20b/d%20p") == nullptr);
}

// A write can demand that nothing has changed in a folder since.
TEST_F(DavSync, TokensCountInTheIfHeader) {
  const auto token = report(body("")).sync_token;
  const HeaderList unchanged = {{"If", "</webdav/area/> (<" + token + ">)"}};
  EXPECT_EQ(dav.send("PUT", "/webdav/area/x", unchanged, "1").status, 201);
  EXPECT_EQ(dav.send("PUT", "/webdav/area/x", unchanged, "2").status, 412);
  EXPECT_EQ(dav.send("PUT", "/webdav/area/x", {{"If", "</webdav/area/> (Not <" + token + ">)"}}, "3").status,
            204);
  EXPECT_EQ(dav.get("/webdav/area/x").body, "3");
}

// What lies in a mount changes without this folder's knowing, so it must be asked about by itself.
TEST_F(DavSync, LeavesMountsToThemselves) {
  const auto bob = server.user(server.fresh("bob"));
  const auto shared = server.folder(bob, server.home(bob), "shared");
  server.file(bob, shared, "inside", "x");
  server.file(alice, area, "own", "x");
  const auto node = std::to_string(shared.value), user = std::to_string(alice.id.value);
  server.sql("insert into grants (node_id, user_id, rights) values (" + node + ", " + user + ", 1);" +
             "update nodes set flags = flags | 1 where id = " + node + ";" +
             "insert into mounts (user_id, parent_id, target_id, name) values (" + user + ", " +
             std::to_string(area.value) + ", " + node + ", 'mount')");
  const auto deep = report(body("", "infinite"));
  EXPECT_EQ(deep.hrefs(), (Strings{"/webdav/area/mount/", "/webdav/area/own"}));
  EXPECT_EQ(deep.at("/webdav/area/mount/").status, 403);
  EXPECT_NE(deep.http.body.find("<d:sync-traversal-supported/>"), std::string::npos);
  EXPECT_EQ(report(body("")).at("/webdav/area/mount/").status, 0);
  EXPECT_EQ(report(body(""), {}, "/webdav/area/mount").hrefs(), Strings{"/webdav/area/mount/inside"});
}

}  // namespace
}  // namespace welkin::tests
