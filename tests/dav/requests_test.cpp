// What HTTP and WebDAV say of every request: methods, credentials, validators, ranges, and what is refused
// before a route is found.
#include <dirent.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "dav/dav_fixture.hpp"

namespace welkin::tests {
namespace {

struct DavRequests : DavFixture {
  static std::size_t open_descriptors() {
    std::size_t count = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
  }
  HttpResponse raw(const std::string& line, const std::string& fields = "") {
    HttpClient client(server.port());
    client.connect();
    client.send(line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + alice.token + "\r\n" +
                fields + "\r\n");
    return client.read_response();
  }
};

constexpr const char* kMethods[] = {"GET",   "HEAD", "PUT",    "PATCH",    "DELETE",
                                    "MKCOL", "COPY", "MOVE",   "PROPFIND", "PROPPATCH",
                                    "LOCK",  "POST", "UNLOCK", "REPORT",   "SEARCH"};

TEST_F(DavRequests, MethodsThatAreNotServed) {
  for (const char* method : {"TRACE", "POST", "ACL", "MKCALENDAR"}) {
    EXPECT_EQ(status(method, b + "/a"), 405) << method;
    EXPECT_NE(last.header("allow").find("PROPFIND"), std::string::npos) << method;
    EXPECT_EQ(last.body.find(alice.token), std::string::npos) << "a TRACE would give it back";
  }
  for (const char* method : {"FOO", "propfind", "get"}) EXPECT_EQ(status(method, b + "/a"), 501) << method;
}

TEST_F(DavRequests, NobodyIsServedUnknown) {
  for (const char* authorization : {"", "Bearer ", "Basic "}) {
    ApiClient stranger(server.port(), authorization);
    for (const char* method : kMethods) {
      const auto answer = stranger.send(method, b + "/a");
      EXPECT_EQ(answer.status, 401) << method << '|' << authorization;
      EXPECT_EQ(answer.header("www-authenticate"), "Basic realm=\"Welkin\", charset=\"UTF-8\"");
      EXPECT_TRUE(answer.has("date"));
    }
  }
  const auto preflight = server.nobody().send(
      "OPTIONS", b + "/a",
      {{"Origin", "https://app.example"}, {"Access-Control-Request-Method", "PROPFIND"}});
  EXPECT_EQ(preflight.status, 200) << "browsers ask without credentials";
  EXPECT_EQ(get(b + "/a"), "hello");
}

// What no route can answer is still told in the form of the address, and with a date.
TEST_F(DavRequests, AreRefusedInTheFormOfDav) {
  const std::string long_target = b + '/' + std::string(20'000, 'x');
  for (const auto& [target, wanted] : {std::pair<std::string, int>{b + "/%zz", 400},
                                       {b + "/%00", 400},
                                       {b + "/..", 400},
                                       {b + "/a%2fb", 400},
                                       {b + "/a?%zz", 400},
                                       {b + "/frag/#ment", 400},
                                       {"//webdav/%ff", 400},
                                       {long_target, 414}}) {
    for (const char* method : {"PROPFIND", "DELETE", "GET"}) {
      const auto answer = raw(std::string(method) + ' ' + target);
      EXPECT_EQ(answer.status, wanted) << method << ' ' << target.substr(0, 40);
      EXPECT_EQ(answer.header("content-type"), "application/xml; charset=utf-8") << target.substr(0, 40);
      EXPECT_NE(answer.body.find("<s:message>"), std::string::npos) << answer.body;
      EXPECT_TRUE(answer.has("date"));
    }
  }
  const auto head = raw("GET " + b + "/a", "Broken field\r\n");
  EXPECT_EQ(head.status, 400);
  EXPECT_EQ(head.header("content-type"), "application/xml; charset=utf-8");
  for (const char* root : {"/dav", "/caldav", "/carddav"})
    EXPECT_EQ(raw("GET " + std::string(root) + "/%zz").header("content-type"),
              "application/xml; charset=utf-8")
        << root;
  EXPECT_EQ(raw("GET /api/%zz").header("content-type"), "application/json") << "elsewhere as there";
  EXPECT_EQ(raw("GET /webdavx/%zz").header("content-type"), "application/json");
  EXPECT_EQ(get(b + "/a"), "hello");
}

TEST_F(DavRequests, ValidatorsAreComparedOnGetAndHead) {
  const auto got = dav.get(b + "/a");
  const auto etag = got.header("etag"), modified = got.header("last-modified");
  const auto head = dav.send("HEAD", b + "/a");
  EXPECT_EQ(head.body, "");
  for (const char* field : {"etag", "last-modified", "content-length", "content-type", "accept-ranges"})
    EXPECT_EQ(head.header(field), got.header(field)) << field;
  for (const HeaderList& same :
       {HeaderList{{"If-None-Match", etag}}, HeaderList{{"If-None-Match", "W/" + etag}},
        HeaderList{{"If-None-Match", "\"x\", " + etag}}, HeaderList{{"If-None-Match", "*"}},
        HeaderList{{"If-Modified-Since", modified}}}) {
    const auto answer = dav.get(b + "/a", same);
    EXPECT_EQ(answer.status, 304) << same[0].second;
    EXPECT_EQ(answer.header("etag"), etag);
    EXPECT_EQ(answer.body, "");
  }
  EXPECT_EQ(dav.get(b + "/a",
                    {{"If-None-Match", "\"other\""}, {"If-Modified-Since", "Fri, 14 Jul 2017 02:40:00 GMT"}})
                .status,
            200);
  EXPECT_EQ(dav.get(b + "/a", {{"If-None-Match", "\"other\""}, {"If-Modified-Since", modified}}).status, 200)
      << "the date does not count beside a tag";
  EXPECT_EQ(status("GET", b + "/a", {{"If-Match", "\"x\""}}), 412);
  EXPECT_EQ(status("MOVE", b + "/a", {{"If-None-Match", "JoplinIgnore-7"}, {"Destination", b + "/c"}}), 201);
}

struct RangeCase {
  const char* asked;
  int status;
  const char* content_range;
  const char* body;
};
constexpr RangeCase kRanges[] = {
    {"bytes=0-4", 206, "bytes 0-4/12", "hello"},
    {"bytes=-3", 206, "bytes 9-11/12", "ld2"},
    {"bytes=5-", 206, "bytes 5-11/12", " world2"},
    {"bytes=0-999", 206, "bytes 0-11/12", "hello world2"},
    {"bytes=-999", 206, "bytes 0-11/12", "hello world2"},
    {"bytes=100-", 416, "bytes */12", nullptr},
    {"bytes=-0", 416, "bytes */12", nullptr},
    {"bytes=5-2", 200, "", "hello world2"},
    {"bytes=abc", 200, "", "hello world2"},
    {"items=0-1", 200, "", "hello world2"},
    {"bytes=", 200, "", "hello world2"},
    {"bytes=0-0,0-0,0-0", 206, "bytes 0-0/12", "h"},
};

TEST_F(DavRequests, RangesAreServed) {
  EXPECT_EQ(put(b + "/r", "hello world2"), 201);
  for (const auto& one : kRanges) {
    const auto got = dav.get(b + "/r", {{"Range", one.asked}});
    EXPECT_EQ(got.status, one.status) << one.asked;
    EXPECT_EQ(got.header("content-range"), one.content_range) << one.asked;
    if (one.body != nullptr) EXPECT_EQ(got.body, one.body) << one.asked;
  }
  const auto parts = dav.get(b + "/r", {{"Range", "bytes=0-1,100-,8-9"}});
  EXPECT_EQ(parts.status, 206);
  EXPECT_TRUE(parts.header("content-type").starts_with("multipart/byteranges; boundary="))
      << parts.header("content-type");
  EXPECT_EQ(parts.header("content-length"), std::to_string(parts.body.size()));
  EXPECT_NE(parts.body.find("Content-Range: bytes 0-1/12\r\n\r\nhe\r\n"), std::string::npos) << parts.body;
  EXPECT_NE(parts.body.find("Content-Range: bytes 8-9/12\r\n\r\nrl\r\n"), std::string::npos) << parts.body;
  std::string many = "bytes=0-0";
  for (int i = 1; i < 300; ++i) many += ",0-0";
  EXPECT_EQ(dav.get(b + "/r", {{"Range", many}}).status, 200) << "too many to look at";
  const auto whole = dav.get(b + "/r");
  for (const auto* field : {"etag", "last-modified"}) {
    const auto got = dav.get(b + "/r", {{"Range", "bytes=0-0"}, {"If-Range", whole.header(field)}});
    EXPECT_EQ(got.status, 206) << field;
    EXPECT_EQ(got.header("etag"), whole.header("etag"));
  }
  EXPECT_EQ(dav.get(b + "/r", {{"Range", "bytes=0-0"}, {"If-Range", "\"other\""}}).status, 200);
  EXPECT_EQ(dav.send("HEAD", b + "/r", {{"Range", "bytes=0-0"}}).status, 200);
  EXPECT_EQ(put(b + "/none", ""), 201);
  EXPECT_EQ(dav.get(b + "/none", {{"Range", "bytes=0-0"}}).status, 200);
}

// Of a file of 6 GiB that is one chunk again and again; and whoever leaves in the middle leaves nothing open.
TEST_F(DavRequests, RangesAcrossFourGibibytes) {
  constexpr std::uint64_t kSize = std::uint64_t{6} << 30;
  ASSERT_EQ(put(b + "/huge", std::string(1 << 20, 'x') + std::string(1 << 20, 'y')), 201);
  const auto content = std::to_string(server.number(
      "select content_id from nodes where name = 'huge' and parent_id = " + std::to_string(t.value)));
  const auto chunk = std::to_string(
      server.number("select chunk_id from content_chunks where content_id = " + content + " and off = 0"));
  const auto size = server.number("select size from chunks where id = " + chunk);
  const auto count = (kSize + static_cast<std::uint64_t>(size) - 1) / static_cast<std::uint64_t>(size);
  const auto total = static_cast<std::int64_t>(count) * size;
  server.sql("delete from content_chunks where content_id = " + content +
             "; insert into content_chunks (content_id, off, chunk_id) select " + content + ", i * " +
             std::to_string(size) + "::bigint, " + chunk + " from generate_series(0, " +
             std::to_string(count - 1) + ") i; update contents set sha256 = null, size = " +
             std::to_string(total) + ", n_chunks = " + std::to_string(count) + " where id = " + content +
             "; update nodes set size = " + std::to_string(total) + " where content_id = " + content);
  const auto from = std::to_string((std::uint64_t{4} << 30) - 3),
             to = std::to_string((std::uint64_t{4} << 30) + 2);
  const auto got = dav.get(b + "/huge", {{"Range", "bytes=" + from + '-' + to}});
  EXPECT_EQ(got.status, 206) << got.body;
  EXPECT_EQ(got.header("content-range"), "bytes " + from + '-' + to + '/' + std::to_string(total));
  EXPECT_EQ(got.body.size(), 6u);
  EXPECT_EQ(
      dav.get(b + "/huge", {{"Range", "bytes=-1"}}).header("content-range"),
      "bytes " + std::to_string(total - 1) + '-' + std::to_string(total - 1) + '/' + std::to_string(total));

  const auto leave = [&] {
    HttpClient leaving(server.port());
    leaving.connect();
    leaving.send("GET " + b + "/huge HTTP/1.1\r\nHost: x\r\nRange: bytes=1000-\r\nAuthorization: " +
                 dav.authorization() + "\r\n\r\n");
    leaving.read_some(64);
    leaving.close();
  };
  leave();
  get(b + "/a");
  const auto before = open_descriptors();
  for (int i = 0; i < 200; ++i) leave();
  std::size_t after = 0;
  // The server learns of it when it writes; all of them have to be gone in the end.
  for (int i = 0; i < 200; ++i) {
    get(b + "/a");
    after = open_descriptors();
    if (after <= before + 2) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LE(after, before + 2);
}

TEST_F(DavRequests, ManyLockAndUnlockAtOnce) {
  constexpr int kThreads = 20, kEach = 15;
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        auto client = server.as(alice);
        const auto name = b + "/own" + std::to_string(i);
        client.send("PUT", name, {}, "x");
        for (int n = 0; n < kEach; ++n) {
          const auto taken = client.send("LOCK", name, {{"Depth", "0"}}, kLockInfo);
          const auto ended = client.send("UNLOCK", name, {{"Lock-Token", taken.header("lock-token")}});
          if (taken.status == 200 && ended.status == 204) ++good;
        }
      });
    }
  }
  EXPECT_EQ(good, kThreads * kEach);
  EXPECT_EQ(server.number("select count(*) from locks where owner_id = " + std::to_string(alice.id.value)),
            0);
}

// A copy of a tree is rows: no byte is written again.
TEST_F(DavRequests, ACopyOfATreeWritesNoBytes) {
  ASSERT_EQ(put(b + "/big", std::string(1 << 20, 'x') + std::string(100, 'y')), 201);
  server.sql(
      "insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, "
      "kind, name)"
      " select n.parent_id, n.content_id, n.size, 1, 1, 1, n.drive_id, n.drive_id, 1, 'n' || i"
      " from nodes n, generate_series(1, 2000) i where n.name = 'big' and n.parent_id = " +
      std::to_string(t.value));
  const auto files = server.stored_files();
  const auto bodies =
      server.number("select (select count(*) from inline_bodies) + (select count(*) from chunks)");
  EXPECT_EQ(status("COPY", b, {{"Destination", "/webdav/copied"}}), 201) << last.body;
  EXPECT_EQ(server.stored_files(), files);
  EXPECT_EQ(server.number("select (select count(*) from inline_bodies) + (select count(*) from chunks)"),
            bodies);
  EXPECT_EQ(get("/webdav/copied/n2000").size(), (1u << 20) + 100);
  EXPECT_EQ(
      server.number(
          "select count(*) from nodes where parent_id = (select id from nodes where name = 'copied' and "
          "parent_id = " +
          std::to_string(home.value) + ')'),
      2002);
}

// A failure in the middle of a copy leaves nothing of it.
TEST_F(DavRequests, ACopyThatFailsLeavesNothing) {
  const auto poor = server.user(server.fresh("poor"), false, 1000);
  auto client = server.as(poor);
  const auto folder = server.folder(poor, server.home(poor), "f");
  for (const char* name : {"1", "2", "3"}) server.file(poor, folder, name, std::string(200, 'x'));
  const auto answer = client.send("COPY", "/webdav/f", {{"Destination", "/webdav/g"}});
  EXPECT_EQ(answer.status, 507);
  EXPECT_NE(answer.body.find("<d:quota-not-exceeded/>"), std::string::npos) << answer.body;
  EXPECT_EQ(client.get("/webdav/g").status, 404);
  EXPECT_EQ(server.number("select used_bytes from drives where owner_id = " + std::to_string(poor.id.value)),
            600);
}

TEST_F(DavRequests, AMemberThatIsReplacedShowsOnItsFolder) {
  const auto f = server.folder(alice, t, "f");
  server.file(alice, f, "m", "old");
  server.sql("update folders set changed_at = 1500000000000000 where node_id = " + std::to_string(f.value));
  const auto etag = server.number("select etag_seq from folders where node_id = " + std::to_string(f.value));
  EXPECT_EQ(status("MOVE", b + "/a", {{"Destination", b + "/f/m"}}), 204);
  EXPECT_NE(server.number("select etag_seq from folders where node_id = " + std::to_string(f.value)), etag);
  EXPECT_GT(server.number("select changed_at from folders where node_id = " + std::to_string(f.value)),
            1500000000000000);
}

// 10,000 resources in one header, and as many words where a few are meant, are refused by their number.
TEST_F(DavRequests, TenThousandResourcesAreRefused) {
  std::string header, search;
  for (int i = 0; i < 10'000; ++i) {
    if (i < 200) header += "</webdav/t/a> (<urn:x>) ";
    search += "<d:scope><d:href>/webdav/t/" + std::to_string(i) + "</d:href><d:depth>0</d:depth></d:scope>";
  }
  EXPECT_EQ(status("PUT", b + "/a", {{"If", header}}, "x"), 400);
  const auto found =
      status("SEARCH", b, {},
             "<d:searchrequest xmlns:d='DAV:'><d:basicsearch><d:select><d:allprop/></d:select><d:from>" +
                 search + "</d:from></d:basicsearch></d:searchrequest>");
  EXPECT_EQ(found, 400) << last.body;
  std::string hrefs;
  for (int i = 0; i < 10'000; ++i) hrefs += "<d:href>/webdav/t/" + std::to_string(i) + "</d:href>";
  const auto report = status("REPORT", b, {}, "<d:multiget xmlns:d='DAV:'>" + hrefs + "</d:multiget>");
  EXPECT_TRUE(report == 400 || report == 403) << report << last.body;
  EXPECT_EQ(get(b + "/a"), "hello");
}

// The same bombs on every method that reads XML: refused by what they are, and nothing is expanded or opened.
TEST_F(DavRequests, XmlBombsAreRefusedEverywhere) {
  std::string laughs = "<!DOCTYPE x [<!ENTITY a \"ha\">";
  for (char c = 'b'; c < 'k'; ++c) {
    laughs += std::string("<!ENTITY ") + c + " \"";
    for (int i = 0; i < 10; ++i) laughs += std::string("&") + static_cast<char>(c - 1) + ';';
    laughs += "\">";
  }
  laughs += "]><x>&j;</x>";
  std::string nested = "<d:propfind xmlns:d='DAV:'>";
  for (int i = 0; i < 5000; ++i) nested += "<d:a>";
  std::string attributes = "<d:propfind xmlns:d='DAV:' ";
  for (int i = 0; i < 100; ++i) attributes += 'a' + std::to_string(i) + "='' ";
  attributes += "/>";
  const std::pair<std::string, int> kBombs[] = {
      {laughs, 403},
      {"<!DOCTYPE x SYSTEM 'http://127.0.0.1:1/x.dtd'><x/>", 403},
      {"<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><x>&e;</x>", 403},
      {"<!DOCTYPE x [<!ENTITY % e SYSTEM 'file:///etc/passwd'>%e;]><x/>", 403},
      {nested, 400},
      {attributes, 400},
      {"<a xmlns:b=''/>", 400},
      {"<a>\xff\xfe</a>", 400},
      {"<a>&#0;</a>", 400},
      {std::string(2 << 20, ' '), 413},
  };
  for (const char* method : {"PROPFIND", "PROPPATCH", "REPORT", "SEARCH", "LOCK", "MKCOL"}) {
    const std::string target = std::string_view(method) == "MKCOL" ? b + "/new" : b;
    for (const auto& [bomb, wanted] : kBombs) {
      HeaderList headers{{"Content-Type", "application/xml"}};
      const auto answer = dav.send(method, target, headers, bomb);
      EXPECT_EQ(answer.status, wanted) << method << ' ' << bomb.substr(0, 60) << answer.body.substr(0, 200);
      EXPECT_EQ(answer.body.find("root:"), std::string::npos);
      EXPECT_EQ(answer.body.find("hahaha"), std::string::npos);
    }
  }
  EXPECT_EQ(get(b + "/new"), "status 404");
  EXPECT_EQ(status("PROPFIND", b, {{"Depth", "0"}}), 207) << "and goes on";
}

TEST_F(DavRequests, CharacterSetsThatAreNotServedAreRefused) {
  const auto ask = [&](const std::string& type, const std::string& body) {
    return dav.send("PROPFIND", b, {{"Depth", "0"}, {"Content-Type", type}}, body).status;
  };
  EXPECT_EQ(ask("application/xml; charset=utf-7", "<propfind xmlns='DAV:'><allprop/></propfind>"), 400);
  EXPECT_EQ(ask("application/xml",
                "<?xml version='1.0' encoding='ebcdic'?><propfind xmlns='DAV:'><allprop/></propfind>"),
            400);
  std::string wide("\xff\xfe", 2);
  for (const char c : std::string("<propfind xmlns='DAV:'><allprop/></propfind>")) (wide += c) += '\0';
  EXPECT_EQ(ask("application/xml", wide), 207) << "UTF-16 says so by its mark";
}

}  // namespace
}  // namespace welkin::tests
