#include <atomic>
#include <thread>

#include "dav/dav_fixture.hpp"

namespace welkin::tests {
namespace {

struct DavLock : DavFixture {
  /// The text between the first `<d:name>` and its end.
  std::string element(const std::string& name) const {
    const auto start = last.body.find("<d:" + name + ">");
    if (start == std::string::npos) return "none";
    const auto from = start + name.size() + 4;
    return last.body.substr(from, last.body.find("</d:" + name + ">", from) - from);
  }
  int unlock(const std::string& target, const std::string& token) {
    return status("UNLOCK", target, {{"Lock-Token", token}});
  }
  static std::string bare(const std::string& token) { return token.substr(1, token.size() - 2); }
};

TEST_F(DavLock, SaysWhatWasGranted) {
  EXPECT_EQ(status("LOCK", b + "/a", {{"Timeout", "Second-100"}, {"Depth", "0"}}, kLockInfo), 200);
  const auto token = last.header("lock-token");
  EXPECT_TRUE(token.starts_with("<opaquelocktoken:")) << token;
  EXPECT_EQ(last.header("content-type"), "application/xml; charset=utf-8");
  EXPECT_EQ(element("locktoken"), "<d:href>" + bare(token) + "</d:href>");
  EXPECT_EQ(element("lockroot"), "<d:href>/webdav/t/a</d:href>");
  EXPECT_EQ(element("timeout"), "Second-100");
  EXPECT_EQ(element("owner"), "me");
  EXPECT_EQ(element("depth"), "0");
  EXPECT_TRUE(says("<d:lockscope><d:exclusive/></d:lockscope>"));
  EXPECT_TRUE(says("<d:locktype><d:write/></d:locktype>"));
  EXPECT_EQ(unlock(b + "/a", token), 204);
  const std::pair<const char*, const char*> kTimeouts[] = {
      {"Infinite", "Second-3600"},           {"Second-5", "Second-60"},
      {"Second-4294967295", "Second-3600"},  {"Extend, Second-90", "Second-90"},
      {"Second-x", "Second-3600"},           {"", "Second-3600"},
      {"Second-99999999999", "Second-3600"}, {"Infinite, Second-90", "Second-3600"}};
  for (const auto& [asked, granted] : kTimeouts) {
    const auto one = lock(b + "/a", {{"Timeout", asked}});
    EXPECT_EQ(element("timeout"), granted) << asked;
    EXPECT_EQ(element("depth"), "infinity") << "without a Depth";
    EXPECT_EQ(unlock(b + "/a", one), 204);
  }
}

TEST_F(DavLock, GivesTheOwnerBack) {
  const std::string owner = "A &amp; B <x:link xmlns:x=\"urn:x\" a=\"1\">&lt;é</x:link> tail";
  const std::string info =
      "<lockinfo xmlns=\"DAV:\"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>" +
      owner + "</owner></lockinfo>";
  lock(b + "/a", {}, info.c_str());
  const auto text = element("owner");
  EXPECT_TRUE(text.starts_with("A &amp; B <")) << text;
  EXPECT_TRUE(text.ends_with("> tail")) << text;
  EXPECT_NE(text.find("urn:x"), std::string::npos);
  EXPECT_NE(text.find("&lt;é"), std::string::npos);
}

TEST_F(DavLock, RefusesBadBodies) {
  const auto with = [&](const std::string& inside) {
    return status("LOCK", b + "/a", {}, "<lockinfo xmlns=\"DAV:\">" + inside + "</lockinfo>");
  };
  const std::string scope = "<lockscope><exclusive/></lockscope>", type = "<locktype><write/></locktype>";
  EXPECT_EQ(with(scope), 400);
  EXPECT_EQ(with(type), 400);
  EXPECT_EQ(with("<lockscope/>" + type), 400);
  EXPECT_EQ(with("<lockscope><exclusive/><shared/></lockscope>" + type), 400);
  EXPECT_EQ(with(scope + "<locktype><read/></locktype>"), 422);
  EXPECT_EQ(with(scope + type + "<owner>" + std::string(9000, 'x') + "</owner>"), 413);
  EXPECT_EQ(status("LOCK", b + "/a", {}, "<propfind xmlns=\"DAV:\"/>"), 400);
  EXPECT_EQ(status("LOCK", b + "/a", {}, "<lockinfo"), 400);
  EXPECT_EQ(status("LOCK", b + "/a", {}, "<!DOCTYPE x [<!ENTITY e \"x\">]><lockinfo xmlns=\"DAV:\"/>"), 403);
  EXPECT_TRUE(says("<d:no-external-entities/>")) << last.body;
  EXPECT_EQ(status("LOCK", b + "/a", {{"Depth", "1"}}, kLockInfo), 400);
  EXPECT_EQ(status("LOCK", b + "/a", {{"Depth", "2"}}, kLockInfo), 400);
  EXPECT_EQ(put(b + "/a", "x"), 204) << "nothing was locked";
}

TEST_F(DavLock, OnAFreeNameMakesAnEmptyFile) {
  const auto token = lock(b + "/new");
  EXPECT_EQ(last.status, 201);
  EXPECT_EQ(element("lockroot"), "<d:href>/webdav/t/new</d:href>");
  EXPECT_EQ(get(b + "/new"), "");
  EXPECT_EQ(put(b + "/new", "x", {{"If", '(' + token + ')'}, {"If-None-Match", "*"}}), 412);
  EXPECT_EQ(put(b + "/new", "x"), 423);
  EXPECT_EQ(put(b + "/new", "x", if_('(' + token + ')')), 204);
  EXPECT_EQ(status("LOCK", b + "/no/x", {}, kLockInfo), 409);
  EXPECT_EQ(status("LOCK", b + "/a/x", {}, kLockInfo), 409);
  EXPECT_EQ(status("LOCK", b + "/slash/", {}, kLockInfo), 409);
  EXPECT_EQ(status("LOCK", b + "/a/", {}, kLockInfo), 404);
  EXPECT_EQ(status("LOCK", b + "/a", {{"If-None-Match", "*"}}, kLockInfo), 412);
  EXPECT_EQ(status("LOCK", b + "/other", {{"If-None-Match", "*"}}, kLockInfo), 201);
  EXPECT_EQ(status("LOCK", b + "/third", {{"If-Match", "*"}}, kLockInfo), 412);
  EXPECT_EQ(get(b + "/third"), "status 404");
}

TEST_F(DavLock, SharedAndExclusive) {
  const auto first = lock(b + "/a", {}, kSharedInfo), second = lock(b + "/a", {}, kSharedInfo);
  EXPECT_NE(first, second);
  EXPECT_EQ(element("locktoken"), "<d:href>" + bare(second) + "</d:href>") << "the new one stands first";
  EXPECT_EQ(status("LOCK", b + "/a", {}, kLockInfo), 423);
  EXPECT_TRUE(says("<d:no-conflicting-lock><d:href>/webdav/t/a</d:href>")) << last.body;
  EXPECT_EQ(put(b + "/a", "x"), 423);
  EXPECT_EQ(put(b + "/a", "x", if_('(' + first + ')')), 204);
}

TEST_F(DavLock, BindsEverybodyWithoutTheToken) {
  server.file(alice, t, "other", "o");
  server.folder(alice, t, "f");
  const auto token = lock(b + "/a");
  const auto refused = [&](int status) {
    EXPECT_EQ(status, 423);
    EXPECT_TRUE(says("<d:lock-token-submitted><d:href>/webdav/t/a</d:href></d:lock-token-submitted>"))
        << last.body;
  };
  refused(put(b + "/a", "x"));
  refused(status("DELETE", b + "/a"));
  refused(status("DELETE", b));
  refused(status("LOCK", b + "/a", {}, ""));
  EXPECT_EQ(get(b + "/a"), "hello");
  EXPECT_EQ(status("HEAD", b + "/a"), 200);
  EXPECT_EQ(status("DELETE", b + "/a", if_('(' + token + ')')), 204);
  EXPECT_EQ(put(b + "/a", "x"), 201) << "the lock went with the file";
}

TEST_F(DavLock, UnderstandsIf) {
  server.file(alice, t, "other", "o");
  const auto token = lock(b + "/a");
  const std::string port = std::to_string(server.port());
  const auto with = [&](const std::string& value) { return put(b + "/a", "x", if_(value)); };
  const std::string own = '(' + token + ')';
  EXPECT_EQ(with(own), 204);
  EXPECT_EQ(with("<http://127.0.0.1:" + port + "/webdav/t/a> " + own), 204);
  EXPECT_EQ(with("</webdav/t/a> " + own), 204);
  EXPECT_EQ(with("</webdav/t/%61> " + own), 204);
  EXPECT_EQ(with("<https://127.0.0.1/webdav//t/a> " + own), 204) << "scheme and port do not matter";
  EXPECT_EQ(with("</webdav/t/other> " + own), 412);
  EXPECT_EQ(with("<http://elsewhere.example/webdav/t/a> " + own), 412);
  EXPECT_EQ(with("</webdav/t/missing> (Not <DAV:no-lock>) </webdav/t/a> " + own), 204);
  EXPECT_EQ(with("([\"no\"]) " + own), 204);
  EXPECT_EQ(with("(Not <DAV:no-lock>)"), 423) << "true, but nothing is submitted";
  EXPECT_EQ(with("(<DAV:no-lock>)"), 412);
  EXPECT_EQ(with('(' + token + "[\"wrong\"])"), 412);
  EXPECT_EQ(with("(<" + bare(token) + "x>) (Not <DAV:no-lock>)"), 423);
  EXPECT_EQ(with("(not " + token + ") (<DAV:no-lock>)"), 412);
  EXPECT_EQ(with("(not " + token + ") (Not <DAV:no-lock>)"), 204) << "mentioned is submitted";
  const auto etag = dav.get(b + "/a").header("etag");
  EXPECT_EQ(with('(' + token + " [" + etag + "])"), 204);
  EXPECT_EQ(with('(' + token + " [" + etag + "])"), 412) << "that was the content before";
  EXPECT_EQ(last.header("etag"), dav.get(b + "/a").header("etag")) << "a failed condition tells the state";
  EXPECT_EQ(with('(' + token + " [W/" + last.header("etag") + "])"), 412);
  for (const char* bad : {"garbage", "(<x>", "()", "(<urn:x>) </webdav/t/a> (<urn:x>)", ""})
    EXPECT_EQ(with(bad), 400) << bad;
  EXPECT_EQ(put(b + "/a", "x", {{"If", own}, {"If", own}}), 400) << "twice";
  EXPECT_EQ(put(b + "/a", "x", {{"Lock-Token", token}}), 204) << "some clients send only this";
  EXPECT_EQ(put(b + "/a", "x", {{"Lock-Token", "<DAV:x>"}}), 423);
  EXPECT_EQ(status("GET", b + "/a", if_("(<DAV:no-lock>)")), 412);
  EXPECT_EQ(status("GET", b + "/a", if_(own)), 200);
}

TEST_F(DavLock, OfAnotherUserIsOfNoUse) {
  const auto bob = server.user(server.fresh("bob"));
  server.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(t.value) + ", " +
             std::to_string(bob.id.value) + ", " + std::to_string(rights::kEditor) +
             "); update nodes set flags = flags | 1 where id = " + std::to_string(t.value) +
             "; insert into mounts (user_id, parent_id, target_id, name) values (" +
             std::to_string(bob.id.value) + ", " + std::to_string(server.home(bob).value) + ", " +
             std::to_string(t.value) + ", 'shared')");
  auto his = server.as(bob);
  const auto token = lock(b + "/a");
  const auto answer = his.send("PUT", "/webdav/shared/a", if_('(' + token + ')'), "x");
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(his.send("PUT", "/webdav/shared/a", {}, "x").status, 423);
  EXPECT_EQ(his.send("UNLOCK", "/webdav/shared/a", {{"Lock-Token", token}}).status, 403);
  const auto seen = his.send("LOCK", "/webdav/shared/a", {}, kLockInfo);
  EXPECT_EQ(seen.status, 423);
  EXPECT_NE(seen.body.find("<d:href>/webdav/shared/a</d:href>"), std::string::npos) << seen.body;
  EXPECT_EQ(seen.body.find(bare(token)), std::string::npos);
  EXPECT_EQ(get(b + "/a"), "hello");
  EXPECT_EQ(his.send("DELETE", "/webdav/shared").status, 403) << "the share is not his to delete";
}

TEST_F(DavLock, IsRefreshed) {
  server.folder(alice, t, "f");
  const auto token = lock(b + "/f", {{"Timeout", "Second-100"}});
  EXPECT_EQ(status("LOCK", b + "/f", {{"If", '(' + token + ')'}, {"Timeout", "Second-500"}}), 200);
  EXPECT_FALSE(last.has("lock-token"));
  EXPECT_EQ(element("timeout"), "Second-500");
  EXPECT_EQ(element("locktoken"), "<d:href>" + bare(token) + "</d:href>");
  EXPECT_EQ(put(b + "/f/m", "x", if_("</webdav/t/f> (" + token + ")")), 201);
  EXPECT_EQ(status("LOCK", b + "/f/m", {{"If", '(' + token + ')'}, {"Content-Type", "text/xml"}}), 200);
  EXPECT_EQ(element("timeout"), "Second-500") << "the old length again";
  EXPECT_EQ(element("lockroot"), "<d:href>/webdav/t/f/</d:href>");
  EXPECT_EQ(status("LOCK", b + "/f"), 423);
  EXPECT_EQ(status("LOCK", b + "/a"), 400) << "not locked at all";
  EXPECT_EQ(status("LOCK", b + "/f", if_("(<opaquelocktoken:00000000-0000-4000-8000-000000000000>)")), 412);
  EXPECT_EQ(status("LOCK", b + "/a", if_('(' + token + ')')), 412) << "it does not cover that";
  EXPECT_EQ(status("LOCK", b + "/none", if_('(' + token + ')')), 404);
}

TEST_F(DavLock, IsEnded) {
  server.folder(alice, t, "f");
  server.file(alice, home, "elsewhere", "x");
  const auto token = lock(b + "/a");
  EXPECT_EQ(status("UNLOCK", b + "/a"), 400);
  EXPECT_EQ(unlock(b + "/a", ""), 400);
  EXPECT_EQ(unlock(b + "/a", "<opaquelocktoken:foobar>"), 409);
  EXPECT_TRUE(says("<d:lock-token-matches-request-uri/>")) << last.body;
  EXPECT_EQ(unlock("/webdav/elsewhere", token), 409);
  EXPECT_EQ(unlock(b + "/none", token), 404);
  EXPECT_EQ(unlock(b + "/a", bare(token)), 204) << "without brackets, as one client sends it";
  EXPECT_EQ(unlock(b + "/a", token), 409);
  const auto folder = lock(b + "/f", {{"Depth", "infinity"}});
  EXPECT_EQ(put(b + "/f/m", "x", if_("</webdav/t/f> (" + folder + ")")), 201);
  EXPECT_EQ(unlock(b + "/f/m", folder), 204) << "through anything it covers";
  EXPECT_EQ(put(b + "/f/m", "x"), 204);
}

TEST_F(DavLock, OfAFolderWithAllBelow) {
  const auto folder = server.folder(alice, t, "f");
  server.file(alice, folder, "m", "x");
  const auto token = lock(b + "/f", {{"Depth", "infinity"}});
  EXPECT_EQ(put(b + "/f/new", "x"), 423);
  EXPECT_TRUE(says("<d:href>/webdav/t/f/</d:href>")) << last.body;
  EXPECT_EQ(put(b + "/f/new", "x", if_("<" + b + "/f/> (" + token + ")")), 201);
  EXPECT_EQ(put(b + "/f/newer", "x", if_('(' + token + ')')), 201) << "it would be covered";
  EXPECT_EQ(status("MKCOL", b + "/f/g"), 423);
  EXPECT_EQ(status("MKCOL", b + "/f/g", if_("<" + b + "/f> (" + token + ")")), 201);
  EXPECT_EQ(put(b + "/f/m", "x"), 423);
  EXPECT_EQ(put(b + "/f/m", "x", if_('(' + token + ')')), 204);
  EXPECT_EQ(status("LOCK", b + "/f/m", {}, kSharedInfo), 423);
  EXPECT_TRUE(says("<d:no-conflicting-lock><d:href>/webdav/t/f/</d:href>")) << last.body;
  last = dav.send("LOCK", b, {{"Depth", "infinity"}}, kLockInfo);
  EXPECT_EQ(last.status, 207);
  EXPECT_TRUE(says("<d:href>/webdav/t/f/</d:href><d:status>HTTP/1.1 423 Locked</d:status>")) << last.body;
  EXPECT_TRUE(says("<d:href>/webdav/t/</d:href><d:status>HTTP/1.1 424 Failed Dependency</d:status>"))
      << last.body;
  EXPECT_FALSE(last.has("lock-token"));
  EXPECT_EQ(put(b + "/free", "x"), 201) << "and nothing was locked";
}

TEST_F(DavLock, OfAFolderAlone) {
  const auto folder = server.folder(alice, t, "f");
  server.file(alice, folder, "m", "x");
  const auto token = lock(b + "/f", {{"Depth", "0"}});
  EXPECT_EQ(put(b + "/f/new", "x"), 423);
  EXPECT_EQ(put(b + "/f/m", "x"), 204);
  EXPECT_EQ(status("DELETE", b + "/f/m"), 423);
  EXPECT_TRUE(says("<d:href>/webdav/t/f/</d:href>")) << last.body;
  EXPECT_EQ(status("DELETE", b + "/f/m", if_("<" + b + "/f/> (" + token + ")")), 204);
}

TEST_F(DavLock, EndsByItself) {
  lock(b + "/a");
  server.sql("update locks set expires_at = now() - interval '1 second' where node_id = " +
             std::to_string(a.value));
  EXPECT_EQ(put(b + "/a", "x"), 204);
  EXPECT_EQ(status("LOCK", b + "/a"), 400) << "nothing to refresh";
}

TEST_F(DavLock, OfManyAtOnceOneIsGranted) {
  std::atomic<int> granted = 0, refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        auto client = server.as(alice);
        // Half of them on a name that is free.
        const auto got = client.send("LOCK", b + (i % 2 == 0 ? "/a" : "/fresh"), {}, kLockInfo).status;
        if (got == 200 || got == 201) ++granted;
        if (got == 423) ++refused;
      });
    }
  }
  EXPECT_EQ(granted, 2);
  EXPECT_EQ(refused, 6);
}

TEST_F(DavLock, IsForWritersOnly) {
  people::NewAppPassword wanted;
  wanted.label = "test";
  wanted.protocol_mask = protocols::kWebdav;
  wanted.read_only = true;
  ApiClient reader(
      server.port(),
      basic(alice.name, run(server.people->create_app_password(alice.caller, wanted, {})).second));
  EXPECT_EQ(reader.send("LOCK", b + "/a", {}, kLockInfo).status, 403);
  EXPECT_EQ(reader.send("LOCK", b + "/n", {}, kLockInfo).status, 403);
  const auto refused = reader.send("PUT", b + "/a", {}, "x");
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(refused.body.find("<d:need-privileges/>"), std::string::npos) << refused.body;
}

}  // namespace
}  // namespace welkin::tests
