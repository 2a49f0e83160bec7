#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "rest/api.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

std::string digest_field(const std::string& body) {
  const auto digest = crypto::sha256(body);
  return "sha-256=:" + text::base64(std::as_bytes(std::span(digest))) + ":";
}

struct Upload : Api {
  static std::string form_part(const std::string& disposition, const std::string& body,
                               const std::string& type = "") {
    return "--XX\r\nContent-Disposition: form-data; " + disposition + "\r\n" +
           (type.empty() ? "" : "Content-Type: " + type + "\r\n") + "\r\n" + body + "\r\n";
  }
  static std::string file_form(const std::string& folder, const std::string& name, const std::string& body,
                               const std::string& type = "") {
    return form_part("name=\"folder_id\"", folder) +
           form_part("name=\"file\"; filename=\"" + name + "\"", body, type) + "--XX--\r\n";
  }
  HttpResponse post_form(const std::string& form) {
    return api.send("POST", "/api/files/upload", {{"Content-Type", "multipart/form-data; boundary=XX"}},
                    form);
  }
  std::int64_t contents() { return server.number("select count(*) from contents"); }
};

TEST_F(Upload, TakesAForm) {
  const auto folder = make_folder(root_id, "in");
  const std::string body = std::string("two\r\nlines\0\xff", 12) + std::string(200'000, 'z');
  const auto made = post_form(file_form(folder, "photo.jpg", body, "image/jpeg"));
  ASSERT_EQ(made.status, 201) << made.body;
  const auto file = json_of(made);
  EXPECT_EQ(file["name"], "photo.jpg");
  EXPECT_EQ(file["mime_type"], "image/jpeg");
  EXPECT_EQ(file["folder_id"], folder);
  EXPECT_EQ(file["size"], body.size());
  EXPECT_NE(made.header("cache-control").find("no-"), std::string::npos);
  EXPECT_EQ(made.header("location"), "/api/files/" + file["id"].get<std::string>());
  EXPECT_TRUE(api.get("/api/files/" + file["id"].get<std::string>()).body == body);
}

TEST_F(Upload, NeverOverwritesByForm) {
  ASSERT_EQ(post_form(file_form(root_id, "a.txt", "first")).status, 201);
  const auto again = post_form(file_form(root_id, "a.txt", "second"));
  expect_error(again, 409, "exists");
  EXPECT_NE(json_of(again)["error"].get<std::string>().find("already exists"), std::string::npos);
  const auto file = json_of(api.get("/api/files"))[0];
  EXPECT_EQ(api.get("/api/files/" + file["id"].get<std::string>()).body, "first");
}

TEST_F(Upload, ReadsTheFormAsBrowsersSendIt) {
  // Without a folder it goes home; other parts do not matter; only the first file counts; directories are
  // dropped.
  const auto made =
      post_form(form_part("name=\"comment\"", "hello") +
                form_part("name=\"file\"; filename=\"C:\\\\pics\\\\a b.png\"", "\x89PNG\r\n\x1a\n") +
                form_part("name=\"file\"; filename=\"second.txt\"", "ignored") + "--XX--");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json_of(made)["name"], "a b.png");
  EXPECT_EQ(json_of(made)["folder_id"], root_id);
  EXPECT_EQ(json_of(made)["mime_type"], "image/png");
  EXPECT_EQ(names_in(root_id), std::vector<std::string>{"a b.png"});
  const auto named =
      post_form(form_part("name=file; filename=\"x\"; filename*=UTF-8''na%C3%AFve.txt", "1") + "--XX--");
  EXPECT_EQ(json_of(named)["name"], "naïve.txt");
}

TEST_F(Upload, RefusesBadFormsAndKeepsNothing) {
  const auto before = contents();
  const auto missing = server.folder_id(NodeId{1'000'000'000});
  const struct {
    const char* what;
    std::string form;
    int status;
    const char* slug;
  } cases[] = {
      {"no file", form_part("name=folder_id", root_id) + "--XX--", 400, "no_file"},
      {"empty", "", 400, "bad_multipart"},
      {"no parts", "--XX--", 400, "no_file"},
      {"no end", form_part("name=\"file\"; filename=\"a\"", "x"), 400, "bad_multipart"},
      {"cut in the file", "--XX\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nhalf", 400,
       "bad_multipart"},
      {"folder after file",
       form_part("name=file; filename=a", "x") + form_part("name=folder_id", root_id) + "--XX--", 400,
       "bad_multipart"},
      {"no name", form_part("name=file", "x") + "--XX--", 400, "bad_name"},
      {"empty name", form_part("name=file; filename=\"\"", "x") + "--XX--", 400, "bad_name"},
      {"dots", form_part("name=file; filename=\"..\"", "x") + "--XX--", 400, "bad_name"},
      {"control", form_part("name=file; filename=\"a\x01\"", "x") + "--XX--", 400, "bad_name"},
      {"long name", form_part("name=file; filename=" + std::string(256, 'n'), "x") + "--XX--", 400,
       "bad_name"},
      {"bad folder id", file_form("nonsense", "a", "x"), 400, "bad_id"},
      {"folder id too long", file_form(std::string(100, 'a'), "a", "x"), 413, "field_too_large"},
      {"missing folder", file_form(missing, "a", "x"), 404, "not_found"},
      {"transfer encoding",
       "--XX\r\nContent-Disposition: form-data; name=file; filename=a\r\n"
       "Content-Transfer-Encoding: base64\r\n\r\neA==\r\n--XX--",
       400, "bad_multipart"},
  };
  for (const auto& c : cases) expect_error(post_form(c.form), c.status, c.slug, c.what);
  expect_error(api.send("POST", "/api/files/upload", {{"Content-Type", "text/plain"}}, "x"), 415,
               "not_multipart");
  expect_error(api.send("POST", "/api/files/upload", {}, "x"), 415, "not_multipart");
  expect_error(api.send("POST", "/api/files/upload", {{"Content-Type", "multipart/form-data"}}, "x"), 400,
               "bad_multipart");
  EXPECT_TRUE(names_in(root_id).empty());
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(server.number("select used_bytes + reserved_bytes from drives where owner_id = " +
                          std::to_string(alice.id.value)),
            0);
}

TEST_F(Upload, PutsRawBodies) {
  const auto folder = make_folder(root_id, "raw");
  const auto made =
      api.send("PUT", child(folder, "ü ß.txt"), {{"Content-Type", "text/plain; charset=utf-8"}}, "one");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto file = json_of(made);
  EXPECT_EQ(file["name"], "ü ß.txt");
  EXPECT_EQ(file["mime_type"], "text/plain");
  EXPECT_EQ(made.header("etag"), '"' + file["etag"].get<std::string>() + '"');
  EXPECT_EQ(made.header("location"), "/api/files/" + file["id"].get<std::string>());
  const auto replaced = api.send("PUT", child(folder, "ü ß.txt"), {}, "two!");
  EXPECT_EQ(replaced.status, 200);
  EXPECT_FALSE(replaced.has("location"));
  EXPECT_EQ(json_of(replaced)["id"], file["id"]);
  EXPECT_NE(replaced.header("etag"), made.header("etag"));
  const auto by_id = api.send("PUT", "/api/files/" + file["id"].get<std::string>() + "/content", {}, "three");
  EXPECT_EQ(by_id.status, 200);
  EXPECT_EQ(api.get("/api/files/" + file["id"].get<std::string>()).body, "three");
  EXPECT_EQ(
      server.number(
          "select count(*) from versions v join nodes n on n.id = v.node_id where n.name = 'ü ß.txt' and "
          "n.drive_id = (select id from drives where owner_id = " +
          std::to_string(alice.id.value) + ")"),
      2);
  const auto decomposed = api.send("PUT", child(folder, "u\xCC\x88 ß.txt"), {}, "four");
  EXPECT_EQ(decomposed.status, 200) << "the same name in another form";
  make_folder(folder, "sub");
  expect_error(api.send("PUT", child(folder, "sub"), {}, "x"), 409, "is_a_folder");
}

TEST_F(Upload, TakesEmptyAndChunkedBodies) {
  EXPECT_EQ(put(root_id, "empty", "")["size"], 0);
  const std::string head = "PUT " + child(root_id, "chunked") +
                           " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + alice.token +
                           "\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
  HttpClient raw(server.port());
  const auto whole = test::parse_response(raw.raw(head + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"));
  ASSERT_EQ(whole.status, 201) << whole.body;
  EXPECT_EQ(api.get("/api/files/" + json_of(whole)["id"].get<std::string>()).body, "hello world");
}

TEST_F(Upload, KeepsNothingOfABrokenBody) {
  const auto before = contents();
  const std::string start = "PUT " + child(root_id, "broken") +
                            " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + alice.token + "\r\n";
  for (const std::string& rest : std::vector<std::string>{
           "Content-Length: 10\r\n\r\nfour", "Content-Length: 2000000\r\n\r\n" + std::string(1'500'000, 'x'),
           "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
           "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
           "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n"}) {
    HttpClient client(server.port());
    client.connect();
    client.send(start + rest);
    client.finish_sending();
    const auto answer = client.read_response();
    EXPECT_TRUE(answer.status == 400 || answer.status == 0) << answer.status << ' ' << rest.substr(0, 60);
  }
  EXPECT_TRUE(names_in(root_id).empty());
  EXPECT_EQ(contents(), before);
}

TEST_F(Upload, ChecksPreconditions) {
  const std::string name = child(root_id, "f");
  expect_error(api.send("PUT", name, {{"If-Match", "*"}}, "x"), 412, "precondition_failed");
  expect_error(api.send("PUT", name, {{"If-Match", "\"a\""}}, "x"), 412, "precondition_failed");
  const auto made = api.send("PUT", name, {{"If-None-Match", "*"}}, "1");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto etag = made.header("etag");
  const std::string by_id = "/api/files/" + json_of(made)["id"].get<std::string>() + "/content";
  for (const auto& url : {name, by_id}) {
    expect_error(api.send("PUT", url, {{"If-None-Match", "*"}}, "x"), 412, "precondition_failed");
    expect_error(api.send("PUT", url, {{"If-Match", "\"a\", \"b\""}}, "x"), 412, "precondition_failed");
    expect_error(api.send("PUT", url, {{"If-Match", "W/" + etag}}, "x"), 412, "precondition_failed");
    expect_error(api.send("PUT", url, {{"If-None-Match", etag}}, "x"), 412, "precondition_failed");
    expect_error(api.send("PUT", url, {{"If-None-Match", "W/" + etag}}, "x"), 412, "precondition_failed");
    expect_error(api.send("PUT", url, {{"If-Match", "unquoted"}}, "x"), 400, "bad_precondition");
    expect_error(api.send("PUT", url, {{"If-Match", "*"}, {"If-None-Match", "*"}}, "x"), 400,
                 "bad_precondition");
    expect_error(api.send("PUT", url, {{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}}, "x"), 412,
                 "precondition_failed");
  }
  EXPECT_EQ(api.get(by_id.substr(0, by_id.size() - 8)).body, "1");
  auto now = etag;
  for (const auto& headers :
       std::vector<HeaderList>{{{"If-Match", "*"}},
                               {{"If-Match", "\"a\", ETAG"}},
                               {{"If-None-Match", "\"a\""}},
                               {{"If-Unmodified-Since", "Fri, 31 Dec 9999 23:59:59 GMT"}},
                               {{"If-Unmodified-Since", "no date"}}}) {
    HeaderList sent = headers;
    if (const auto at = sent[0].second.find("ETAG"); at != std::string::npos)
      sent[0].second.replace(at, 4, now);
    const auto answer = api.send("PUT", by_id, sent, "2");
    EXPECT_EQ(answer.status, 200) << sent[0].second << answer.body;
    now = answer.header("etag");
  }
}

TEST_F(Upload, OneOfTwoRacersWinsAName) {
  std::atomic<int> created = 0, refused = 0;
  std::vector<std::thread> racers;
  racers.reserve(8);
  for (int i = 0; i < 8; ++i) {
    racers.emplace_back([&, i] {
      auto mine = server.as(alice);
      const auto answer =
          mine.send("PUT", child(root_id, "race"), {{"If-None-Match", "*"}}, std::to_string(i));
      if (answer.status == 201) ++created;
      if (answer.status == 412) ++refused;
    });
  }
  for (auto& racer : racers) racer.join();
  EXPECT_EQ(created, 1);
  EXPECT_EQ(refused, 7);
}

TEST_F(Upload, ChecksDeclaredDigests) {
  const std::string body(100'000, 'd');
  const auto before = contents();
  for (const char* header : {"Repr-Digest", "Content-Digest"}) {
    expect_error(api.send("PUT", child(root_id, "d"), {{header, digest_field("other")}}, body), 400,
                 "digest_mismatch");
    for (const char* bad :
         {"sha-256=", "sha-256=abc", "sha-256=:!!:", "sha-256=:YWJj:", "sha-256=\"x\"", "sha-512=:AAAA:"}) {
      expect_error(api.send("PUT", child(root_id, "d"), {{header, bad}}, body), 400, "bad_digest", bad);
    }
  }
  expect_error(api.send("PUT", child(root_id, "d"),
                        {{"Repr-Digest", digest_field("a")}, {"Content-Digest", digest_field("b")}}, body),
               400, "digest_mismatch");
  EXPECT_TRUE(names_in(root_id).empty());
  EXPECT_EQ(contents(), before);
  for (const std::string& good :
       {digest_field(body), "md5=:AAAA:, " + digest_field(body) + ";q=1", std::string("blake3=:AAAA:")}) {
    EXPECT_EQ(api.send("PUT", child(root_id, "d"), {{"Repr-Digest", good}}, body).status / 100, 2) << good;
  }
}

TEST_F(Upload, KeepsTheClientsTime) {
  const auto made = api.send("PUT", child(root_id, "t"), {{"X-OC-MTime", "1500000000"}}, "x");
  EXPECT_EQ(made.header("x-oc-mtime"), "accepted");
  EXPECT_EQ(json_of(made)["modified_at"], 1'500'000'000);
  EXPECT_EQ(made.header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(
      json_of(api.send("PUT", child(root_id, "t"), {{"X-OC-Mtime", "1500000001.25"}}, "x"))["modified_at"],
      1'500'000'001);
  for (const char* bad : {"", "yesterday", "-5", "99999999999999999999", "253402300800"}) {
    expect_error(api.send("PUT", child(root_id, "t"), {{"X-OC-MTime", bad}}, "x"), 400, "bad_mtime", bad);
  }
}

TEST_F(Upload, RefusesBodiesThatAreNotTheFile) {
  expect_error(api.send("PUT", child(root_id, "z"), {{"Content-Encoding", "gzip"}}, "x"), 415,
               "content_encoding");
  expect_error(api.send("PUT", child(root_id, "z"), {{"Content-Range", "bytes 0-0/5"}}, "x"), 400,
               "content_range");
  expect_error(
      api.send("PUT", child(root_id, "z"), {{"Content-Type", "multipart/form-data; boundary=x"}}, "x"), 415,
      "form_body");
  EXPECT_EQ(api.send("PUT", child(root_id, "z"), {{"Content-Encoding", "identity"}}, "x").status, 201);
}

TEST_F(Upload, ChoosesTheType) {
  const auto type = [&](const std::string& name, const std::string& body, const std::string& said) {
    return put(root_id, name, body,
               said.empty() ? HeaderList{} : HeaderList{{"Content-Type", said}})["mime_type"];
  };
  EXPECT_EQ(type("a", "x", "Text/Plain;charset=x"), "text/plain");
  EXPECT_EQ(type("b", "x", "video/mp4"), "video/mp4");
  EXPECT_EQ(type("c.txt", "\x89PNG\r\n\x1a\n", "application/octet-stream"), "image/png");
  EXPECT_EQ(type("d.csv", "1,2", ""), "text/csv");
  EXPECT_EQ(type("e", "?", ""), "application/octet-stream");
  EXPECT_EQ(type("f.json", "{}", "application/x-www-form-urlencoded"), "application/json")
      << "what curl says by itself";
  EXPECT_EQ(type("g", "x", "text/<script>"), "application/octet-stream");
}

TEST_F(Upload, NeverPassesTheQuota) {
  const auto poor = server.user(server.fresh("poor"), false, 100'000);
  auto theirs = server.as(poor);
  const auto home = server.folder_id(server.home(poor));
  expect_error(theirs.send("PUT", child(home, "big"), {}, std::string(100'001, 'x')), 507,
               "quota_not_exceeded");
  EXPECT_EQ(theirs.send("PUT", child(home, "fits"), {}, std::string(60'000, 'x')).status, 201);
  expect_error(theirs.send("PUT", child(home, "more"), {}, std::string(60'000, 'x')), 507,
               "quota_not_exceeded");
  const auto form = file_form(home, "form", std::string(60'000, 'x'));
  expect_error(
      theirs.send("POST", "/api/files/upload", {{"Content-Type", "multipart/form-data; boundary=XX"}}, form),
      507, "quota_not_exceeded");
  EXPECT_EQ(theirs.send("PUT", child(home, "rest"), {}, std::string(40'000, 'x')).status, 201);
  EXPECT_EQ(server.number("select used_bytes from drives where owner_id = " + std::to_string(poor.id.value)),
            100'000);
}

TEST_F(Upload, CarriesWhatOutgrowsABatchOfChunks) {
  // 70 MiB that nobody announced: more than the chunks that are made durable together, each of its own bytes.
  std::string body(70 << 20, '\0');
  std::uint64_t state = 88'172'645'463'325'252ull;
  for (std::size_t i = 0; i + 8 <= body.size(); i += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::memcpy(body.data() + i, &state, 8);
  }
  HttpClient client(server.port());
  client.connect();
  client.send("PUT " + child(root_id, "big") + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              alice.token + "\r\nTransfer-Encoding: chunked\r\nRepr-Digest: " + digest_field(body) +
              "\r\n\r\n");
  for (std::size_t at = 0; at < body.size(); at += 1 << 20) {
    ASSERT_TRUE(client.send("100000\r\n" + body.substr(at, 1 << 20) + "\r\n"));
  }
  client.send("0\r\n\r\n");
  const auto made = client.read_response();
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string url = "/api/files/" + json_of(made)["id"].get<std::string>();
  // To the end of the connection, and parsed once.
  const auto get = [&](const std::string& range) {
    return test::parse_response(HttpClient(server.port())
                                    .raw("GET " + url + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
                                         range + "Authorization: Bearer " + alice.token + "\r\n\r\n"));
  };
  EXPECT_TRUE(get("").body == body);
  const auto part = get("Range: bytes=40000000-45000000\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_TRUE(part.body == body.substr(40'000'000, 5'000'001));
  EXPECT_EQ(server.number("select count(*) from uploads where user_id = " + std::to_string(alice.id.value)),
            0);
  EXPECT_EQ(server.number("select used_bytes from drives where owner_id = " + std::to_string(alice.id.value)),
            70 << 20);
}

TEST_F(Upload, ABrokenBodyLeavesTheOldContentAndNoFiles) {
  TestServer own;
  const auto user = own.user("alice");
  const auto home = own.folder_id(own.home(user));
  const std::string old(2 << 20, 'o');
  ASSERT_EQ(own.as(user).send("PUT", child(home, "f"), {}, old).status, 201);
  const auto files = own.stored_files();
  {
    HttpClient client(own.port());
    client.connect();
    client.send("PUT " + child(home, "f") + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + user.token +
                "\r\nContent-Length: 9000000\r\n\r\n" + std::string(5 << 20, 'n'));
    client.finish_sending();
    client.read_response();
  }
  const auto listed = json_of(own.as(user).get("/api/files"));
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_TRUE(own.as(user).get("/api/files/" + listed[0]["id"].get<std::string>()).body == old);
  EXPECT_EQ(own.number("select count(*) from versions"), 0);
  for (int i = 0; i < 100 && own.stored_files() != files; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(own.stored_files(), files);
}

TEST_F(Upload, AReaderSeesOldOrNewNeverAMixture) {
  const auto made = api.send("PUT", child(root_id, "f"), {}, std::string(200'000, 'a'));
  const std::string url = "/api/files/" + json_of(made)["id"].get<std::string>();
  std::atomic<bool> stop = false;
  std::atomic<int> mixed = 0, reads = 0;
  std::vector<std::thread> readers;
  readers.reserve(2);
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&, i] {
      auto mine = server.as(alice);
      while (!stop) {
        const auto got = mine.get(url, i == 0 ? HeaderList{} : HeaderList{{"Range", "bytes=0-199999"}});
        const bool whole =
            got.body.size() == 200'000 && got.body.find_first_not_of(got.body[0]) == std::string::npos;
        if (got.status / 100 != 2 || !whole) ++mixed;
        ++reads;
      }
    });
  }
  for (char c = 'b'; c <= 'z'; ++c) {
    EXPECT_EQ(api.send("PUT", url + "/content", {}, std::string(200'000, c)).status, 200);
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(mixed, 0) << "of " << reads;
  EXPECT_GT(reads, 0);
}

// The rest of a body that comes after its session was ended is not stored.
TEST_F(Upload, WhoSignsOutInTheMiddleStoresNothing) {
  for (const std::size_t size : {1'000u, 300'000u}) {
    const auto bob = server.user(server.fresh("bob"));
    const auto home = server.home(bob);
    HttpClient http(server.port());
    http.connect();
    http.send("PUT " + child(server.folder_id(home), "f") + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              bob.token + "\r\nExpect: 100-continue\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
    ASSERT_NE(http.read_some().find(" 100 "), std::string::npos);  // it has been let in
    http.send(std::string(size / 2, 'x'));
    run(server.people->logout(bob.caller, {}));
    http.send(std::string(size - size / 2, 'x'));
    expect_error(http.read_response(), 401, "signed_out");
    EXPECT_EQ(server.number("select count(*) from nodes where parent_id = " + std::to_string(home.value)), 0);
  }
}

}  // namespace
}  // namespace welkin::tests
