#include <fstream>
#include <map>
#include <random>
#include <set>

#include "rest/api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

/// The entries of an archive of stored files: path -> body, read from the front to the back.
std::map<std::string, std::string> unpack(const std::string& zip) {
  const auto number = [&](std::size_t at, int bytes) {
    std::size_t v = 0;
    for (int i = bytes - 1; i >= 0; --i)
      v = v << 8 | static_cast<unsigned char>(zip.at(at + static_cast<std::size_t>(i)));
    return v;
  };
  std::map<std::string, std::string> out;
  std::size_t at = 0;
  while (at + 30 < zip.size() && zip.compare(at, 4, "PK\3\4") == 0) {
    const auto size = number(at + 18, 4), name = number(at + 26, 2), extra = number(at + 28, 2);
    const auto path = zip.substr(at + 30, name);
    EXPECT_FALSE(out.contains(path)) << path;
    out[path] = zip.substr(at + 30 + name + extra, size);
    at += 30 + name + extra + size;
  }
  EXPECT_EQ(zip.substr(at, 4), "PK\1\2");
  return out;
}

std::string noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string out(bytes, '\0');
  for (auto& c : out) c = static_cast<char>(random());
  return out;
}

struct ArchiveApi : Api {
  std::string folder = make_folder(root_id, "Photos");
  std::string target() const { return "/api/folders/" + folder + "/download"; }

  /// Empty, inline, chunked; folders empty and nested.
  void fill() {
    put(folder, "empty", "");
    put(folder, "small.txt", "hello");
    put(folder, "\xf0\x9f\x8c\x8d u\xcc\x88.txt", "earth");  // NFD as it comes
    put(folder, "large.bin", noise(3 << 20, 7));
    make_folder(folder, "nothing");
    put(make_folder(make_folder(folder, "a"), "b"), "deep", std::string(70'000, 'd'));
  }
};

TEST_F(ArchiveApi, AFolderComesWholeWithItsLength) {
  fill();
  const auto answer = api.get(target());
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_TRUE(answer.complete);
  EXPECT_EQ(answer.header("content-type"), "application/zip");
  EXPECT_EQ(answer.header("content-length"), std::to_string(answer.body.size()));
  EXPECT_EQ(answer.header("content-disposition"),
            "attachment; filename=\"Photos.zip\"; filename*=UTF-8''Photos.zip");
  EXPECT_EQ(answer.header("accept-ranges"), "bytes");
  EXPECT_FALSE(answer.has("last-modified"));
  EXPECT_FALSE(answer.has("content-encoding"));
  const auto files = unpack(answer.body);
  const std::map<std::string, std::string> expected{
      {"Photos/", ""},
      {"Photos/a/", ""},
      {"Photos/a/b/", ""},
      {"Photos/a/b/deep", std::string(70'000, 'd')},
      {"Photos/empty", ""},
      {"Photos/large.bin", noise(3 << 20, 7)},
      {"Photos/nothing/", ""},
      {"Photos/small.txt", "hello"},
      {"Photos/\xf0\x9f\x8c\x8d \xc3\xbc.txt", "earth"},
  };
  EXPECT_EQ(files, expected);
  const auto head = api.send("HEAD", target());
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), answer.header("content-length"));
  EXPECT_EQ(head.header("etag"), answer.header("etag"));
}

TEST_F(ArchiveApi, TheRootHasANameOfItsOwn) {
  const auto answer = api.get("/api/folders/" + root_id + "/download");
  EXPECT_TRUE(answer.header("content-disposition")
                  .starts_with("attachment; filename=\"My Folder - " + alice.name + ".zip\";"))
      << answer.header("content-disposition");
}

TEST_F(ArchiveApi, ABrokenDownloadIsResumedToTheSameBytes) {
  fill();
  const auto whole = api.get(target());
  const auto etag = whole.header("etag");
  for (const std::size_t from : {std::size_t{1}, std::size_t{45}, std::size_t{100'000}, whole.body.size() / 2,
                                 whole.body.size() - 30, whole.body.size() - 1}) {
    const auto rest =
        api.get(target(), {{"Range", "bytes=" + std::to_string(from) + "-"}, {"If-Range", etag}});
    EXPECT_EQ(rest.status, 206);
    EXPECT_EQ(rest.header("etag"), etag);
    EXPECT_EQ(rest.body, whole.body.substr(from)) << from;
  }
  const auto two = api.get(target(), {{"Range", "bytes=0-9,1000000-1000019"}});
  EXPECT_EQ(two.status, 206);
  EXPECT_NE(two.body.find(whole.body.substr(1'000'000, 20)), std::string::npos);
  EXPECT_EQ(api.get(target(), {{"Range", "bytes=" + std::to_string(whole.body.size()) + "-"}}).status, 416);
  EXPECT_EQ(api.get(target(), {{"If-None-Match", etag}}).status, 304);
  // A date says nothing of an archive.
  const auto dated =
      api.get(target(), {{"Range", "bytes=5-"}, {"If-Range", "Sun, 06 Nov 1994 08:49:37 GMT"}});
  EXPECT_EQ(dated.status, 200);
  EXPECT_EQ(api.get(target(), {{"If-Modified-Since", "Sun, 06 Nov 2094 08:49:37 GMT"}}).status, 200);
}

TEST_F(ArchiveApi, AfterAChangeTheWholeComesAnew) {
  fill();
  const auto before = api.get(target());
  const auto version = before.header("etag").substr(1, 32);
  EXPECT_EQ(api.get(target() + "?v=" + version).status, 200);
  put(folder, "small.txt", "HELLO");
  const auto after = api.get(target(), {{"Range", "bytes=100-"}, {"If-Range", before.header("etag")}});
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(after.body.size(), before.body.size());
  EXPECT_NE(after.header("etag"), before.header("etag"));
  EXPECT_EQ(unpack(after.body).at("Photos/small.txt"), "HELLO");
  // A client that sends no If-Range, as curl does, keeps the version in the address.
  expect_error(api.get(target() + "?v=" + version, {{"Range", "bytes=100-"}}), 412, "archive_changed");
}

TEST_F(ArchiveApi, ASelectionIsFilesAndFoldersSideBySide) {
  fill();
  const auto one = put(make_folder(root_id, "one"), "same.txt", "1"),
             two = put(make_folder(root_id, "two"), "same.txt", "2");
  const std::string a = one["id"], b = two["id"];
  const auto body = json{{"file_ids", {a, b}}, {"folder_ids", {folder}}};
  const auto posted = api.json("POST", "/api/batch/download", body.dump());
  ASSERT_EQ(posted.status, 200) << posted.body;
  EXPECT_TRUE(posted.header("content-disposition").starts_with("attachment; filename=\"welkin-download-"));
  const auto files = unpack(posted.body);
  EXPECT_EQ(files.at("same.txt"), "1");
  EXPECT_EQ(files.at("same (2).txt"), "2");
  EXPECT_EQ(files.at("Photos/small.txt"), "hello");
  const auto link = "/api/batch/download?file_ids=" + a + "," + b + "&folder_ids=" + folder;
  const auto got = api.get(link);
  EXPECT_EQ(got.body, posted.body);
  const auto resumed = api.get(link, {{"Range", "bytes=77-"}, {"If-Range", got.header("etag")}});
  EXPECT_EQ(resumed.status, 206);
  EXPECT_EQ(resumed.body, got.body.substr(77));
}

TEST_F(ArchiveApi, BadSelectionsAreRefused) {
  const std::string file = put(folder, "f", "x")["id"];
  const auto post = [&](const json& body) { return api.json("POST", "/api/batch/download", body.dump()); };
  expect_error(post(json::object()), 400, "no_items");
  expect_error(post({{"file_ids", json::array()}}), 400, "no_items");
  expect_error(api.get("/api/batch/download"), 400, "no_items");
  expect_error(post({{"file_ids", {"nonsense"}}}), 400, "bad_id");
  expect_error(post({{"file_ids", 5}}), 422, "bad_field");
  expect_error(post({{"file_ids", {file}}, {"more", 1}}), 422, "unknown_field");
  expect_error(post({{"file_ids", std::vector<std::string>(1001, file)}}), 400, "batch_too_large");
  const auto missing = server.file_id(NodeId{2'000'000'000});
  expect_error(post({{"file_ids", {missing}}}), 404, "not_found");
  EXPECT_EQ(post({{"file_ids", {missing, file, folder}}, {"folder_ids", {file}}}).status, 200);  // left out
}

/// Begins a download and reads only its beginning; the rest waits, here and in the kernel.
struct Stalled {
  HttpClient http;
  std::string got;
  explicit Stalled(TestServer& server, const std::string& target, const ApiClient& as)
      : http(server.port(), [] {
          test::HttpClientOptions options;
          options.receive_buffer_bytes = 4096;
          return options;
        }()) {
    http.connect();
    http.send("GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: " +
              as.authorization() + "\r\n\r\n");
    while (got.size() < 2000) {
      const auto piece = http.read_some(2000);
      if (piece.empty()) break;
      got += piece;
    }
  }
  /// @return whether everything that was announced came
  HttpResponse finish() {
    got += http.read_until_closed();
    return test::parse_response(got);
  }
};

/// A folder whose archive is far more than what sockets hold.
std::string big_folder(ArchiveApi& t) {
  for (int i = 0; i < 6; ++i)
    t.put(t.folder, "part" + std::to_string(i), noise(4 << 20, static_cast<unsigned>(i)));
  return t.target();
}

TEST_F(ArchiveApi, AStalledReaderHoldsNoConnectionAndGetsWhatWasPlanned) {
  const auto target = big_folder(*this);
  const auto whole = api.get(target).body;
  std::vector<std::unique_ptr<Stalled>> stalled;
  for (int i = 0; i < 6; ++i)
    stalled.push_back(std::make_unique<Stalled>(server, target, api));  // the pool has 4
  for (int i = 0; i < 3; ++i) EXPECT_EQ(api.get("/api/folders/" + folder + "/listing").status, 200);
  EXPECT_EQ(
      server.number("select count(*) from pg_stat_activity where datname = current_database() and state like "
                    "'idle in transaction%'"),
      0);
  // What is deleted or overwritten now is still sent as it was.
  EXPECT_EQ(api.send("PUT", child(folder, "part5"), {}, "other").status, 200);
  EXPECT_EQ(api.send("DELETE", "/api/folders/" + folder).status, 204);
  for (auto& s : stalled) {
    const auto answer = s->finish();
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, whole);
  }
}

TEST_F(ArchiveApi, ALostRightBreaksItOff) {
  const auto target = big_folder(*this);
  const auto bob = server.user(server.fresh("bob"));
  const auto node = *server.ids.decode(IdKind::folder, folder);
  server.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(node) + ", " +
             std::to_string(bob.id.value) +
             ", 1); update nodes set flags = 1 where id = " + std::to_string(node));
  Stalled reader(server, target, server.as(bob));
  server.sql("delete from grants where node_id = " + std::to_string(node));
  const auto answer = reader.finish();
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.complete);
}

// As with a new request: the account must be good, and what the caller proved himself by.
TEST_F(ArchiveApi, ALostAccountOrCredentialBreaksItOff) {
  const auto target = big_folder(*this);
  const auto owner = std::to_string(alice.id.value);
  for (const std::string& change : {"update users set is_disabled = true where id = " + owner,
                                    "update sessions set ends_at = now() where user_id = " + owner}) {
    Stalled reader(server, target, api);
    server.sql(change);
    const auto answer = reader.finish();
    EXPECT_EQ(answer.status, 200);
    EXPECT_FALSE(answer.complete) << change;
    server.sql("update users set is_disabled = false where id = " + owner);
  }
}

TEST_F(ArchiveApi, AContentThatIsGoneBreaksItOff) {
  const auto target = big_folder(*this);
  const auto content =
      server.number("select content_id from nodes where name = 'part5' order by id desc limit 1");
  Stalled reader(server, target, api);
  server.sql(
      "begin; set constraints all deferred; update nodes set content_id = (select content_id from nodes "
      "where name = "
      "'part4' order by id desc limit 1) where content_id = " +
      std::to_string(content) + "; delete from contents where id = " + std::to_string(content) + "; commit");
  const auto answer = reader.finish();
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.complete);
}

TEST_F(ArchiveApi, ManySmallFilesAndAFullEmptyFolder) {
  for (int i = 0; i < 150; ++i)
    server.file(alice, NodeId{*server.ids.decode(IdKind::folder, folder)}, "f" + std::to_string(i),
                std::string(static_cast<std::size_t>(i) * 400, 'x'));
  const auto answer = api.get(target());
  const auto files = unpack(answer.body);
  ASSERT_EQ(files.size(), 151u);
  for (int i = 0; i < 150; ++i)
    EXPECT_EQ(files.at("Photos/f" + std::to_string(i)).size(), static_cast<std::size_t>(i) * 400);
}

}  // namespace
}  // namespace welkin::tests
