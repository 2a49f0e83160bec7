#include <set>

#include "rest/api.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct FileRoutes : Api {
  std::string stored(const std::string& name, const std::string& body, HeaderList headers = {}) {
    return put(root_id, name, body, std::move(headers))["id"];
  }
};

TEST_F(FileRoutes, HaveEveryFieldOfTheContract) {
  const auto folder = make_folder(root_id, "Docs");
  const auto file = put(folder, "report.pdf", std::string(1536, 'p'), {{"Content-Type", "application/pdf"}});
  const std::set<std::string> wanted = {
      "id",        "name",           "path",         "size",        "mime_type",
      "folder_id", "created_at",     "modified_at",  "icon_class",  "icon_special_class",
      "category",  "size_formatted", "owner_id",     "created_by",  "updated_by",
      "drive_id",  "etag",           "content_hash", "is_favorite", "is_shared"};
  std::set<std::string> got;
  for (const auto& [key, _] : file.items()) got.insert(key);
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(file["name"], "report.pdf");
  EXPECT_EQ(file["path"], "/Docs/report.pdf");
  EXPECT_EQ(file["size"], 1536);
  EXPECT_EQ(file["size_formatted"], "1.5 KB");
  EXPECT_EQ(file["mime_type"], "application/pdf");
  EXPECT_EQ(file["folder_id"], folder);
  EXPECT_EQ(file["icon_class"], "fas fa-file-pdf");
  EXPECT_EQ(file["category"], "PDF");
  const auto digest = crypto::sha256(std::string(1536, 'p'));
  EXPECT_EQ(file["content_hash"], text::hex(std::as_bytes(std::span(digest))));
  for (const char* query : {"?metadata=true", "?metadata=1"}) {
    const auto answer = api.get("/api/files/" + file["id"].get<std::string>() + query);
    EXPECT_EQ(json_of(answer), file);
    EXPECT_EQ(answer.header("etag"), '"' + file["etag"].get<std::string>() + '"');
  }
}

TEST_F(FileRoutes, GiveTheBytesBack) {
  for (const std::size_t size : {0u, 1u, 65'536u, 65'537u, 1u << 20, 3u << 20}) {
    std::string body(size, '\0');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>((i * 2'654'435'761u) >> 13);
    const auto id = stored("f" + std::to_string(size), body);
    const auto got = api.get("/api/files/" + id);
    EXPECT_EQ(got.status, 200);
    EXPECT_TRUE(got.body == body) << size;
    EXPECT_EQ(got.header("content-length"), std::to_string(size));
    EXPECT_EQ(got.header("accept-ranges"), "bytes");
    const auto head = api.send("HEAD", "/api/files/" + id);
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body, "");
    for (const char* name :
         {"content-length", "etag", "last-modified", "content-type", "content-disposition"}) {
      EXPECT_EQ(head.header(name), got.header(name)) << name;
    }
  }
}

TEST_F(FileRoutes, GiveRanges) {
  for (const std::size_t size : {1000u, 3u << 20}) {
    std::string body;
    while (body.size() < size) body += std::to_string(body.size()) + ' ';
    body.resize(size);
    const auto id = stored("r" + std::to_string(size), body);
    const std::string url = "/api/files/" + id;
    const auto etag = api.send("HEAD", url).header("etag");
    const auto modified = api.send("HEAD", url).header("last-modified");
    const std::string end = std::to_string(size - 1), total = std::to_string(size);
    const struct {
      std::string range;
      std::size_t from, length;
    } good[] = {{"bytes=0-0", 0, 1},
                {"bytes=10-19", 10, 10},
                {"bytes=" + end + "-", size - 1, 1},
                {"bytes=-5", size - 5, 5},
                {"bytes=500-99999999999", 500, size - 500},
                {"bytes=-99999999999", 0, size}};
    for (const auto& r : good) {
      const auto part = api.get(url, {{"Range", r.range}});
      EXPECT_EQ(part.status, 206) << r.range;
      EXPECT_TRUE(part.body == body.substr(r.from, r.length)) << r.range;
      EXPECT_EQ(part.header("content-range"), "bytes " + std::to_string(r.from) + "-" +
                                                  std::to_string(r.from + r.length - 1) + "/" + total);
      EXPECT_EQ(part.header("etag"), etag);
    }
    for (const std::string& range : {"bytes=" + total + "-", std::string("bytes=-0")}) {
      const auto none = api.get(url, {{"Range", range}});
      EXPECT_EQ(none.status, 416) << range;
      EXPECT_EQ(none.header("content-range"), "bytes */" + total);
      EXPECT_EQ(api.get(url, {{"Range", range}, {"If-None-Match", etag}}).status, 304)
          << "conditions come first";
    }
    for (const char* range : {"bytes=5-2", "lines=1-2", "bytes=", "bytes=a-b"}) {
      const auto all = api.get(url, {{"Range", range}});
      EXPECT_EQ(all.status, 200) << range;
      EXPECT_TRUE(all.body == body) << range;
    }
    const auto many = api.get(url, {{"Range", "bytes=0-1,100-104," + end + "-"}});
    EXPECT_EQ(many.status, 206);
    EXPECT_NE(many.header("content-type").find("multipart/byteranges"), std::string::npos);
    EXPECT_NE(many.body.find(body.substr(100, 5)), std::string::npos);
    EXPECT_EQ(api.get(url, {{"Range", "bytes=0-4"}, {"If-Range", etag}}).status, 206);
    EXPECT_EQ(api.get(url, {{"Range", "bytes=0-4"}, {"If-Range", modified}}).status, 206);
    EXPECT_EQ(api.get(url, {{"Range", "bytes=0-4"}, {"If-Range", "\"other\""}}).body, body);
    EXPECT_EQ(api.send("HEAD", url, {{"Range", "bytes=0-4"}}).status, 200);
  }
}

TEST_F(FileRoutes, AnswerConditions) {
  const std::string url = "/api/files/" + stored("f.txt", "first");
  const auto first = api.get(url);
  const auto etag = first.header("etag");
  EXPECT_EQ(api.get(url, {{"If-None-Match", etag}}).status, 304);
  EXPECT_EQ(api.get(url, {{"If-None-Match", "W/" + etag}}).status, 304);
  EXPECT_EQ(api.get(url, {{"If-None-Match", "\"x\""}}).status, 200);
  EXPECT_EQ(api.get(url, {{"If-Modified-Since", first.header("last-modified")}}).status, 304);
  EXPECT_EQ(api.get(url, {{"If-Match", "\"x\""}}).status, 412);
  EXPECT_EQ(api.get(url, {{"If-Match", etag}}).status, 200);
  api.send("PUT", url + "/content", {}, "second");
  EXPECT_EQ(api.get(url, {{"If-None-Match", etag}}).status, 200);
  EXPECT_EQ(api.get(url).body, "second");
}

TEST_F(FileRoutes, NeverLetABrowserRunThem) {
  const struct {
    const char *name, *type;
    bool shown_inline;
  } kinds[] = {{"a.html", "text/html", false},
               {"a.xhtml", "application/xhtml+xml", false},
               {"a.svg", "image/svg+xml", false},
               {"a.xml", "application/xml", false},
               {"a.js", "text/javascript", false},
               {"a.mht", "multipart/related", false},
               {"a.swf", "application/x-shockwave-flash", false},
               {"a.bin", "application/octet-stream", false},
               {"a.png", "image/png", true},
               {"a.txt", "text/plain", true},
               {"a.mp4", "video/mp4", true}};
  for (const auto& kind : kinds) {
    const auto id = stored(kind.name, "<script>alert(1)</script>", {{"Content-Type", kind.type}});
    for (const char* query : {"", "?inline", "?inline=true"}) {
      const auto got = api.get("/api/files/" + id + query);
      SCOPED_TRACE(std::string(kind.name) + query);
      EXPECT_EQ(got.status, 200);
      EXPECT_EQ(got.header("x-content-type-options"), "nosniff");
      EXPECT_NE(got.header("content-security-policy").find("sandbox"), std::string::npos);
      EXPECT_NE(got.header("content-security-policy").find("default-src 'none'"), std::string::npos);
      const auto disposition = got.header("content-disposition");
      if (!kind.shown_inline) {
        EXPECT_EQ(disposition.substr(0, 10), "attachment") << disposition;
      }
      if (kind.shown_inline && *query != '\0') {
        EXPECT_EQ(disposition.substr(0, 6), "inline") << disposition;
      }
      EXPECT_NE(disposition.find(std::string("filename*=UTF-8''") + kind.name), std::string::npos)
          << disposition;
    }
  }
}

TEST_F(FileRoutes, KeepNamesOutOfHeaders) {
  for (const std::string name : {"a\"b.txt", "a;b.txt", "semi; filename=evil.exe", "é漢.txt", "\u202Ecod.exe",
                                 "per%0d%0acent", "'quotes'", "  spaces  "}) {
    const auto got = api.get("/api/files/" + stored(name, "x"));
    const auto disposition = got.header("content-disposition");
    EXPECT_EQ(got.all("content-disposition").size(), 1u) << name;
    for (const char c : disposition) {
      EXPECT_TRUE(c >= 0x20 && c < 0x7f) << name << ": " << disposition;
    }
    const auto at = disposition.find("filename*=UTF-8''");
    ASSERT_NE(at, std::string::npos) << disposition;
    const auto encoded = disposition.substr(at + 17);
    if (name.find("\u202E") == std::string::npos) {
      EXPECT_EQ(text::percent_decode(encoded), name) << disposition;
    }
  }
}

TEST_F(FileRoutes, AreRenamed) {
  const auto id = stored("a.txt", "x");
  stored("taken.txt", "y");
  const std::string url = "/api/files/" + id + "/rename";
  const auto renamed = api.json("PUT", url, R"({"name":"  b.txt "})");
  ASSERT_EQ(renamed.status, 200) << renamed.body;
  EXPECT_EQ(json_of(renamed)["name"], "b.txt");
  EXPECT_EQ(json_of(renamed)["path"], "/b.txt");
  expect_error(api.json("PUT", url, R"({"name":"taken.txt"})"), 409, "exists");
  for (const char* body : {"{}", R"({"name":""})", R"({"name":"   "})", R"({"name":null})"}) {
    const auto answer = api.json("PUT", url, body);
    expect_error(answer, 400, "bad_name", body);
    EXPECT_EQ(json_of(answer)["error"], "Missing or empty 'name' field");
  }
  const auto bad = api.json("PUT", url, R"({"name":"a/b"})");
  expect_error(bad, 400, "bad_name");
  EXPECT_EQ(json_of(bad)["message"].get<std::string>().substr(0, 17), "Invalid file name");
  expect_error(api.json("PUT", url, R"({"name":"x","colour":"red"})"), 422, "unknown_field");
  EXPECT_EQ(api.get("/api/files/" + id).body, "x");
}

TEST_F(FileRoutes, AreMoved) {
  const auto folder = make_folder(root_id, "d");
  const auto id = stored("a.txt", "x");
  const std::string url = "/api/files/" + id + "/move";
  const auto moved = api.json("PUT", url, json{{"folder_id", folder}}.dump());
  ASSERT_EQ(moved.status, 200) << moved.body;
  EXPECT_EQ(json_of(moved)["folder_id"], folder);
  EXPECT_EQ(json_of(moved)["path"], "/d/a.txt");
  stored("a.txt", "another");
  expect_error(api.json("PUT", url, R"({"folder_id":null})"), 409, "exists");
  expect_error(api.json("PUT", url, json{{"folder_id", server.folder_id(NodeId{1'000'000'000})}}.dump()), 404,
               "not_found");
  expect_error(api.json("PUT", url, json{{"folder_id", id}}.dump()), 404, "not_found");
  expect_error(api.json("PUT", url, "{}"), 422, "missing_field");
}

TEST_F(FileRoutes, GoToTheTrash) {
  const auto id = stored("a.txt", "x");
  const std::string url = "/api/files/" + id;
  expect_error(api.send("DELETE", url, {{"If-Match", "\"other\""}}), 412, "precondition_failed");
  EXPECT_EQ(api.send("DELETE", url).status, 204);
  expect_error(api.get(url), 404, "not_found");
  expect_error(api.get(url + "?metadata=true"), 404, "not_found");
  expect_error(api.send("DELETE", url), 404, "not_found");
  expect_error(api.json("PUT", url + "/rename", R"({"name":"b"})"), 404, "not_found");
  expect_error(api.json("PUT", url + "/move", R"({"folder_id":null})"), 404, "not_found");
  expect_error(api.send("PUT", url + "/content", {}, "y"), 404, "not_found");
  EXPECT_EQ(server.number("select count(*) from trash where from_name = 'a.txt' and deleted_by = " +
                          std::to_string(alice.id.value)),
            1);
}

TEST_F(FileRoutes, OfOthersAreNotThere) {
  const auto bob = server.user(server.fresh("bob"));
  const auto theirs = server.file_id(server.file(bob, server.home(bob), "secret.txt", "secret"));
  const auto mine = stored("mine", "x");
  const std::string url = "/api/files/" + theirs;
  expect_error(api.get(url), 404, "not_found");
  expect_error(api.get(url + "?metadata=1"), 404, "not_found");
  EXPECT_EQ(api.send("HEAD", url).status, 404);
  expect_error(api.get(url, {{"Range", "bytes=0-1"}}), 404, "not_found");
  expect_error(api.send("PUT", url + "/content", {}, "y"), 404, "not_found");
  expect_error(api.json("PUT", url + "/rename", R"({"name":"b"})"), 404, "not_found");
  expect_error(api.json("PUT", url + "/move", R"({"folder_id":null})"), 404, "not_found");
  expect_error(api.send("DELETE", url), 404, "not_found");
  expect_error(api.get("/api/files?folder_id=" + server.folder_id(server.home(bob))), 404, "not_found");
  expect_error(api.json("PUT", "/api/files/" + mine + "/move",
                        json{{"folder_id", server.folder_id(server.home(bob))}}.dump()),
               404, "not_found");
  EXPECT_EQ(server.as(bob).get(url).body, "secret");
}

}  // namespace
}  // namespace welkin::tests
