#include <atomic>
#include <set>
#include <thread>

#include "dav/dav_fixture.hpp"

namespace welkin::tests {
namespace {

struct DavPut : DavFixture {
  /// Everything the server says to raw bytes.
  HttpResponse raw(const std::string& bytes) {
    HttpClient client(server.port());
    client.connect();
    client.send(bytes);
    return client.read_response();
  }
  std::string head(const std::string& line, const std::string& fields) {
    return line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + alice.token + "\r\n" + fields +
           "\r\n";
  }
};

TEST_F(DavPut, MakesAndReplaces) {
  EXPECT_EQ(put(b + "/new", "one"), 201);
  const auto etag = last.header("etag"), modified = last.header("last-modified");
  EXPECT_EQ(etag.front(), '"');
  EXPECT_FALSE(last.has("location"));
  EXPECT_TRUE(last.has("date"));
  const auto got = dav.get(b + "/new");
  EXPECT_EQ(got.body, "one");
  EXPECT_EQ(got.header("etag"), etag);
  EXPECT_EQ(got.header("last-modified"), modified);
  std::set<std::string> seen{etag};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(put(b + "/new", "two"), 204);
    EXPECT_TRUE(seen.insert(last.header("etag")).second) << "another content, another tag";
  }
  EXPECT_EQ(get(b + "/new"), "two");
  EXPECT_EQ(put(b + "/empty", ""), 201);
  EXPECT_EQ(get(b + "/empty"), "");
}

TEST_F(DavPut, KeepsFoldersAndFilesApart) {
  for (const auto* folder : {"/webdav/t", "/webdav/t/"}) {
    EXPECT_EQ(put(folder, "x"), 405);
    EXPECT_EQ(last.header("allow").find("PUT"), std::string::npos) << last.header("allow");
    EXPECT_NE(last.header("allow").find("MOVE"), std::string::npos);
  }
  EXPECT_EQ(put("/webdav/", "x"), 403);
  EXPECT_EQ(put("/webdav", "x"), 403);
  EXPECT_EQ(put(b + "/no/x", "x"), 409);
  EXPECT_EQ(put(b + "/a/x", "x"), 409) << "below a file";
  EXPECT_EQ(put(b + "/zz/", "x"), 409);
  EXPECT_EQ(put(b + "/a/", "x"), 404) << "a file has no slash";
  EXPECT_EQ(get(b + "/a"), "hello");
}

TEST_F(DavPut, RefusesWhatIsNotTheFile) {
  EXPECT_EQ(put(b + "/a", "x", {{"Content-Range", "bytes 0-0/5"}}), 400);
  EXPECT_EQ(put(b + "/a", "x", {{"Content-Encoding", "gzip"}}), 415);
  EXPECT_EQ(put(b + "/n", "x", {{"Content-Encoding", "gzip"}}), 415);
  EXPECT_EQ(get(b + "/a"), "hello");
  EXPECT_EQ(get(b + "/n"), "status 404");
  EXPECT_EQ(put(b + "/a", "x", {{"Content-Encoding", "identity"}, {"Overwrite", "F"}, {"Translate", "f"}}),
            204);
}

TEST_F(DavPut, TakesChunks) {
  const auto chunked =
      head("PUT /webdav/t/c", "Transfer-Encoding: chunked\r\nX-Expected-Entity-Length: 7\r\n") +
      "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
  EXPECT_EQ(raw(chunked).status, 201);
  EXPECT_EQ(get(b + "/c"), "abcdefg");
  const auto nothing =
      head("PUT /webdav/t/c", "Transfer-Encoding: chunked\r\nX-Expected-Entity-Length: 5\r\n") + "0\r\n\r\n";
  EXPECT_EQ(raw(nothing).status, 400) << "announced, and nothing came";
  EXPECT_EQ(get(b + "/c"), "abcdefg");
  EXPECT_EQ(raw(head("PUT /webdav/t/c", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n").status, 204);
  EXPECT_EQ(get(b + "/c"), "");
}

TEST_F(DavPut, ATorsoIsNothing) {
  const auto before = used(), count = nodes();
  for (const auto* name : {"a", "torso"}) {
    HttpClient client(server.port());
    client.connect();
    client.send(head(std::string("PUT /webdav/t/") + name, "Content-Length: 10\r\n") + "abc");
    client.finish_sending();
    EXPECT_NE(client.read_response().status / 100, 2);
  }
  EXPECT_EQ(get(b + "/a"), "hello");
  EXPECT_EQ(get(b + "/torso"), "status 404");
  EXPECT_EQ(used(), before);
  EXPECT_EQ(nodes(), count);
  EXPECT_EQ(versions(), 0);
  EXPECT_EQ(
      raw(head("PUT /webdav/t/a", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n") + "abc").status,
      400);
}

TEST_F(DavPut, IsRefusedBeforeTheBodyIsSent) {
  const auto poor = server.user(server.fresh("poor"), false, 1000);
  const auto ask = [&](const std::string& target, const std::string& fields, const std::string& token) {
    HttpClient client(server.port());
    client.connect();
    client.send("PUT " + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
                "\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n" + fields + "\r\n");
    return client.read_response();
  };
  const auto quota = ask("/webdav/big", "", poor.token);
  EXPECT_EQ(quota.status, 507);
  EXPECT_NE(quota.body.find("<d:quota-not-exceeded/>"), std::string::npos) << quota.body;
  EXPECT_EQ(ask(b + "/no/x", "", alice.token).status, 409);
  EXPECT_EQ(ask(b, "", alice.token).status, 405);
  EXPECT_EQ(ask(b + "/a", "If-Match: \"bogus\"\r\n", alice.token).status, 412);
  EXPECT_EQ(ask(b + "/a", "If: (<DAV:no-lock>)\r\n", alice.token).status, 412);
  EXPECT_EQ(ask(b + "/new", "", alice.token).status, 100);
  lock(b + "/a");
  EXPECT_EQ(ask(b + "/a", "", alice.token).status, 423);
}

TEST_F(DavPut, ObeysPreconditions) {
  const auto etag = dav.get(b + "/a").header("etag");
  EXPECT_EQ(put(b + "/a", "x", {{"If-None-Match", "*"}}), 412);
  EXPECT_EQ(put(b + "/n", "x", {{"If-None-Match", "*"}}), 201);
  EXPECT_EQ(put(b + "/a", "x", {{"If-Match", "\"bogus\""}}), 412);
  EXPECT_EQ(put(b + "/a", "x", {{"If-Match", "W/" + etag}}), 412) << "weak tags match nothing here";
  EXPECT_EQ(put(b + "/a", "x", {{"If-Match", "unquoted"}}), 412);
  EXPECT_EQ(put(b + "/m", "x", {{"If-Match", "*"}}), 412);
  EXPECT_EQ(get(b + "/m"), "status 404");
  EXPECT_EQ(put(b + "/a", "x", {{"If-None-Match", etag}}), 412);
  EXPECT_EQ(put(b + "/a", "x", {{"If-Unmodified-Since", "Fri, 14 Jul 2017 02:40:00 GMT"}}), 412);
  EXPECT_EQ(get(b + "/a"), "hello");
  EXPECT_EQ(put(b + "/a", "y", {{"If-Unmodified-Since", "yesterday"}}), 204);
  EXPECT_EQ(put(b + "/a", "y", {{"If-Match", "\"bogus\", " + last.header("etag")}}), 204);
  EXPECT_EQ(put(b + "/a", "y", {{"If-None-Match", etag}}), 204) << "that was an older one";
  EXPECT_EQ(put(b + "/a", "y", {{"If-None-Match", "JoplinIgnore-7"}}), 204);
  EXPECT_EQ(put(b + "/j", "y", {{"If-None-Match", "JoplinIgnore-7"}}), 201);
  EXPECT_EQ(status("MKCOL", b + "/jf", {{"If-None-Match", "JoplinIgnore-7"}}), 201);
  EXPECT_EQ(status("DELETE", b + "/j", {{"If-None-Match", "JoplinIgnore-7"}}), 204);
}

TEST_F(DavPut, ChecksDigests) {
  // Of "hello".
  const HeaderList kRight[] = {
      {{"OC-Checksum", "SHA1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"}},
      {{"OC-Checksum", "MD5:5d41402abc4b2a76b9719d911017c592 ADLER32:062c0215"}},
      {{"OC-Checksum", "SHA3-256:00"}},
      {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}},
      {{"Digest", "SHA=qvTGHdzF6KLavt4PO0gs2a6pQ00=,ADLER32=062c0215"}},
      {{"Digest", "sha-256=LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="}},
      {{"Repr-Digest", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"}},
      {{"Content-Digest",
        "md5=:AAAA:, "
        "sha-512=:m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/"
        "3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw==:"}},
  };
  for (const auto& headers : kRight) EXPECT_EQ(put(b + "/a", "hello", headers), 204) << headers[0].second;
  const auto count = versions();
  for (auto headers : kRight) {
    if (headers[0].second == "SHA3-256:00") continue;
    EXPECT_EQ(put(b + "/a", "Hello", headers), 400) << headers[0].second;
    EXPECT_TRUE(says("digest_mismatch")) << last.body;
  }
  for (const char* bad : {"SHA1:zz", "SHA1:aaf4", "MD5:"})
    EXPECT_EQ(put(b + "/a", "x", {{"OC-Checksum", bad}}), 400);
  EXPECT_EQ(put(b + "/a", "x", {{"Content-MD5", "short"}}), 400);
  EXPECT_EQ(get(b + "/a"), "hello");
  EXPECT_EQ(versions(), count);
}

TEST_F(DavPut, TakesTheClientsTime) {
  EXPECT_EQ(put(b + "/m", "x", {{"X-OC-Mtime", "1500000000"}}), 201);
  EXPECT_EQ(last.header("x-oc-mtime"), "accepted");
  EXPECT_EQ(last.header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(dav.get(b + "/m").header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(put(b + "/m", "x", {{"X-OC-Mtime", "soon"}}), 400);
}

TEST_F(DavPut, EmptyLockFillIsOneVersion) {
  EXPECT_EQ(put(b + "/doc", ""), 201);
  const auto token = lock(b + "/doc");
  EXPECT_EQ(put(b + "/doc", std::string(1 << 20, 'x'), if_('(' + token + ')')), 204);
  EXPECT_EQ(status("UNLOCK", b + "/doc", {{"Lock-Token", token}}), 204);
  EXPECT_EQ(versions(), 0);
}

TEST_F(DavPut, ManyOnOneNameAllSucceed) {
  constexpr int kThreads = 8, kEach = 25;
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        auto client = server.as(alice);
        for (int n = 0; n < kEach; ++n) {
          const auto got =
              client.send("PUT", b + "/contended", {}, std::string(1000, static_cast<char>('a' + i)));
          if (got.status == 201 || got.status == 204) ++good;
        }
      });
    }
  }
  EXPECT_EQ(good, kThreads * kEach);
  const auto body = get(b + "/contended");
  EXPECT_EQ(body, std::string(1000, body[0]));
  EXPECT_EQ(versions(), kThreads * kEach - 1) << "each of them can be had back";
}

TEST_F(DavPut, PatchesARange) {
  const std::string type = "application/x-sabredav-partialupdate";
  const auto patch = [&](const std::string& range, const std::string& body, HeaderList more = {}) {
    more.emplace_back("Content-Type", type);
    if (!range.empty()) more.emplace_back("X-Update-Range", range);
    more.emplace_back("Content-Length", std::to_string(body.size()));
    return status("PATCH", b + "/a", std::move(more), body);
  };
  const auto before = dav.get(b + "/a").header("etag");
  EXPECT_EQ(patch("append", " world"), 204);
  EXPECT_NE(last.header("etag"), before);
  EXPECT_EQ(last.header("etag"), dav.get(b + "/a").header("etag"));
  EXPECT_EQ(get(b + "/a"), "hello world");
  EXPECT_EQ(patch("bytes=6-", "W"), 204);
  EXPECT_EQ(get(b + "/a"), "hello World");
  EXPECT_EQ(patch("bytes=0-4", "HELLO"), 204);
  EXPECT_EQ(patch("bytes=-2", "LD!"), 204);
  EXPECT_EQ(get(b + "/a"), "HELLO WorLD!");
  EXPECT_EQ(patch("bytes=12-", "?"), 204);
  EXPECT_EQ(get(b + "/a"), "HELLO WorLD!?");
  for (const char* bad : {"bytes=14-", "bytes=0-4", "bytes=-99", "bytes=5-3", "bytes=18446744073709551615-"})
    EXPECT_EQ(patch(bad, "xx"), 416) << bad;
  for (const char* bad : {"", "bytes", "bytes=", "bytes=-", "bytes=a-", "bytes=1-b", "lines=1-", "bytes=1"})
    EXPECT_EQ(patch(bad, "xx"), 400) << bad;
  EXPECT_EQ(patch("append", "x", {{"If-Match", "\"bogus\""}}), 412);
  EXPECT_EQ(status("PATCH", b + "/a", {{"X-Update-Range", "append"}, {"Content-Type", "text/plain"}}, "x"),
            415);
  EXPECT_EQ(status("PATCH", b + "/none", {{"X-Update-Range", "append"}, {"Content-Type", type}}, "x"), 404);
  EXPECT_EQ(status("PATCH", b, {{"X-Update-Range", "append"}, {"Content-Type", type}}, "x"), 405);
  const auto chunked =
      head("PATCH /webdav/t/a",
           "Content-Type: " + type + "\r\nX-Update-Range: append\r\nTransfer-Encoding: chunked\r\n") +
      "1\r\nx\r\n0\r\n\r\n";
  EXPECT_EQ(raw(chunked).status, 411);
  lock(b + "/a");
  EXPECT_EQ(patch("append", "x"), 423);
  EXPECT_EQ(get(b + "/a"), "HELLO WorLD!?");
}

TEST_F(DavPut, PatchesWhatIsInChunks) {
  const std::string big(3 << 20, 'x');
  EXPECT_EQ(put(b + "/big", big), 201);
  const HeaderList headers{{"Content-Type", "application/x-sabredav-partialupdate"},
                           {"X-Update-Range", "bytes=1500000-"},
                           {"Content-Length", "3"}};
  EXPECT_EQ(status("PATCH", b + "/big", headers, "abc"), 204);
  std::string expected = big;
  expected.replace(1'500'000, 3, "abc");
  EXPECT_TRUE(get(b + "/big") == expected);
}

}  // namespace
}  // namespace welkin::tests
