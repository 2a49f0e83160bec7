#include <fmt/core.h>

#include <algorithm>

#include "rest/api.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct Listing : Api {
  /// A folder with sub-folders d0.. and files f0.. of rising size, names in no order of creation.
  std::string filled(int folders, int files) {
    const auto id = make_folder(root_id, server.fresh("filled"));
    for (int i = folders; i-- > 0;) make_folder(id, "d" + std::to_string(i));
    for (int i = files; i-- > 0;)
      put(id, "f" + std::to_string(i) + ".txt", std::string(static_cast<std::size_t>(i), 'x'));
    return id;
  }
  /// Many rows at once, as SQL, in a new folder.
  std::string crowded(int folders, int files) {
    const auto id = server.folder(alice, root, server.fresh("crowd"));
    const std::string of = "from nodes p cross join generate_series(1, ";
    server.sql(
        "with content as (insert into contents (size, crc32, n_chunks) values (0, 0, 0) returning id), "
        "body as (insert into inline_bodies select id, '' from content) "
        "insert into nodes (parent_id, content_id, mtime, etag_seq, created_at, author_id, drive_id, "
        "etag_drive, kind, "
        "name) select p.id, c.id, 1, 1, 1, p.author_id, p.drive_id, p.drive_id, 1, 'file ' || i " +
        of + std::to_string(files) + ") i cross join content c where p.id = " + std::to_string(id.value) +
        ";"
        "with made as (insert into nodes (parent_id, mtime, etag_seq, created_at, author_id, drive_id, "
        "etag_drive, kind, "
        "name) select p.id, 1, 1, 1, p.author_id, p.drive_id, p.drive_id, 2, 'folder ' || i " +
        of + std::to_string(folders) + ") i where p.id = " + std::to_string(id.value) +
        " returning id) insert into folders (node_id, etag_seq, changed_at) select id, 1, 1 from made");
    return server.folder_id(id);
  }
  std::vector<std::string> names(const json& items) {
    std::vector<std::string> out;
    for (const auto& item : items)
      out.push_back(item.contains("resource") ? item["resource"]["name"] : item["name"]);
    return out;
  }
};

TEST_F(Listing, ShowsFoldersAndFiles) {
  const auto id = filled(2, 2);
  const auto answer = api.get("/api/folders/" + id + "/listing?t=123");
  const auto listing = json_of(answer);
  EXPECT_EQ(names(listing["folders"]), (std::vector<std::string>{"d0", "d1"}));
  EXPECT_EQ(names(listing["files"]), (std::vector<std::string>{"f0.txt", "f1.txt"}));
  EXPECT_EQ(names(json_of(api.get("/api/folders/" + id + "/contents"))),
            (std::vector<std::string>{"d0", "d1"}));
  EXPECT_EQ(names(json_of(api.get("/api/files?folder_id=" + id))),
            (std::vector<std::string>{"f0.txt", "f1.txt"}));
  const auto path = json_of(api.get("/api/folders/" + id))["path"].get<std::string>();
  EXPECT_EQ(listing["folders"][0]["path"], path + "/d0");
  EXPECT_EQ(listing["files"][1]["path"], path + "/f1.txt");
  EXPECT_EQ(listing["files"][1]["folder_id"], id);
  for (const auto& file : listing["files"]) {  // the row is the object that its own address gives
    EXPECT_EQ(json_of(api.get("/api/files/" + file["id"].get<std::string>() + "?metadata=true")), file);
  }
  for (const auto& folder : listing["folders"]) {
    EXPECT_EQ(json_of(api.get("/api/folders/" + folder["id"].get<std::string>())), folder);
  }
}

TEST_F(Listing, OfNothingIsEmpty) {
  const auto id = make_folder(root_id, "empty");
  EXPECT_EQ(api.get("/api/folders/" + id + "/listing").body, R"({"folders":[],"files":[]})");
  EXPECT_EQ(api.get("/api/folders/" + id + "/contents").body, "[]");
  EXPECT_EQ(api.get("/api/files?folder_id=" + id).body, "[]");
  EXPECT_EQ(api.get("/api/folders/" + id + "/resources").body, R"({"items":[]})");
}

TEST_F(Listing, OfFilesWithoutAFolderIsTheHomes) {
  put(root_id, "at home", "x");
  EXPECT_EQ(names(json_of(api.get("/api/files"))), std::vector<std::string>{"at home"});
  expect_error(api.get("/api/files?folder_id=nonsense"), 400, "bad_id");
}

TEST_F(Listing, HasATagThatEveryChangeBreaks) {
  const auto id = filled(1, 1);
  const auto sub = json_of(api.get("/api/folders/" + id + "/contents"))[0]["id"].get<std::string>();
  for (const std::string& path : {"/api/folders/" + id + "/listing", "/api/folders/" + id + "/contents",
                                  "/api/files?folder_id=" + id, "/api/folders/" + id + "/resources"}) {
    const auto first = api.get(path);
    const auto etag = first.header("etag");
    ASSERT_EQ(etag.front(), '"') << path;
    const auto unchanged = api.get(path, {{"If-None-Match", "\"x\", W/" + etag}});
    EXPECT_EQ(unchanged.status, 304) << path;
    EXPECT_EQ(unchanged.body, "");
    EXPECT_EQ(unchanged.header("etag"), etag);
    EXPECT_EQ(api.get(path, {{"If-None-Match", "*"}}).status, 304);
    EXPECT_EQ(api.get(path, {{"If-None-Match", "not quoted"}}).status, 200);
    make_folder(sub, server.fresh("below"));  // even a change deep below: a folder shows its time and tag
    const auto changed = api.get(path, {{"If-None-Match", etag}});
    EXPECT_EQ(changed.status, 200) << path;
    EXPECT_NE(changed.header("etag"), etag) << path;
    const auto renamed =
        api.json("PUT", "/api/folders/" + id + "/rename", json{{"name", server.fresh("n")}}.dump());
    ASSERT_EQ(renamed.status, 200);
    EXPECT_EQ(api.get(path, {{"If-None-Match", changed.header("etag")}}).status, 200) << "paths changed";
  }
}

TEST_F(Listing, StreamsWhatIsLong) {
  const auto id = crowded(700, 1200);
  const auto answer = api.get("/api/folders/" + id + "/listing");
  EXPECT_TRUE(answer.complete);
  EXPECT_TRUE(answer.chunked);
  const auto listing = json_of(answer);
  ASSERT_FALSE(listing.is_discarded());
  EXPECT_EQ(listing["folders"].size(), 700u);
  EXPECT_EQ(listing["files"].size(), 1200u);
  auto files = names(listing["files"]);
  EXPECT_TRUE(std::is_sorted(files.begin(), files.end()));
  EXPECT_EQ(std::unique(files.begin(), files.end()), files.end());
  EXPECT_EQ(json_of(api.get("/api/folders/" + id + "/contents")).size(), 700u);
  EXPECT_EQ(json_of(api.get("/api/files?folder_id=" + id)).size(), 1200u);
  const auto head = api.send("HEAD", "/api/folders/" + id + "/listing");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("etag"), answer.header("etag"));
  const auto short_one = crowded(500, 0);  // exactly one page of the walk
  EXPECT_EQ(json_of(api.get("/api/folders/" + short_one + "/listing"))["folders"].size(), 500u);
}

TEST_F(Listing, NumbersItsPagesForOldClients) {
  const auto id = crowded(25, 3);
  const auto url = "/api/folders/" + id + "/contents/paginated";
  const auto first = json_of(api.get(url + "?page_size=10"));
  EXPECT_EQ(first["items"].size(), 10u);
  EXPECT_EQ(first["pagination"], (json{{"page", 0},
                                       {"page_size", 10},
                                       {"total_items", 25},
                                       {"total_pages", 3},
                                       {"has_next", true},
                                       {"has_prev", false}}));
  const auto last = json_of(api.get(url + "?page=2&page_size=10"));
  EXPECT_EQ(last["items"].size(), 5u);
  EXPECT_EQ(last["pagination"]["has_next"], false);
  EXPECT_EQ(last["pagination"]["has_prev"], true);
  EXPECT_EQ(json_of(api.get(url))["pagination"]["page_size"], 100);
  EXPECT_EQ(json_of(api.get(url + "?page_size=1"))["pagination"]["page_size"], 10);
  EXPECT_EQ(json_of(api.get(url + "?page_size=100000"))["pagination"]["page_size"], 500);
  const auto beyond = json_of(api.get(url + "?page=18446744073709551615"));
  EXPECT_TRUE(beyond["items"].empty());
  EXPECT_EQ(beyond["pagination"]["has_next"], false);
  expect_error(api.get(url + "?page=-1"), 400, "bad_query");
  expect_error(api.get(url + "?page_size=ten"), 400, "bad_query");
}

TEST_F(Listing, ResourcesPageThroughEveryOrder) {
  const auto id = filled(4, 9);
  const auto url = "/api/folders/" + id + "/resources";
  for (const std::string order : {"name", "type", "modified_at", "created_at", "size"}) {
    for (const std::string reverse : {"false", "true"}) {
      for (const std::string types : {"", "file", "folder", "file,folder"}) {
        const std::string query =
            fmt::format("{}?order_by={}&reverse={}&resource_types={}", url, order, reverse, types);
        const auto whole = json_of(api.get(fmt::format("{}&limit=200", query)));
        ASSERT_TRUE(whole.contains("items")) << whole.dump();
        EXPECT_FALSE(whole.contains("next_cursor"));
        json paged = json::array();
        std::string cursor;
        int pages = 0;
        do {
          const auto page = json_of(api.get(fmt::format("{}&limit=3&cursor={}", query, cursor)));
          ASSERT_LE(page["items"].size(), 3u);
          for (const auto& item : page["items"]) paged.push_back(item);
          cursor = page.value("next_cursor", "");
        } while (!cursor.empty() && ++pages < 20);
        EXPECT_EQ(paged, whole["items"]) << query;
        const std::size_t wanted = types == "file" ? 9 : types == "folder" ? 4 : 13;
        EXPECT_EQ(paged.size(), wanted) << query;
        for (const auto& item : paged) {
          EXPECT_EQ(item["resource_type"] == "folder", item["resource"].contains("parent_id"));
        }
      }
    }
  }
  const auto by_size = names(json_of(api.get(url + "?order_by=size&resource_types=file"))["items"]);
  EXPECT_EQ(by_size.front(), "f0.txt");
  EXPECT_EQ(by_size.back(), "f8.txt");
  EXPECT_EQ(names(json_of(api.get(url))["items"]).front(), "d0") << "folders come first";
}

TEST_F(Listing, ResourcesTakeAnUnusableCursorForTheFirstPage) {
  const auto url = "/api/folders/" + filled(0, 5) + "/resources";
  const auto first = json_of(api.get(url + "?limit=2"));
  const auto cursor = first["next_cursor"].get<std::string>();
  for (const std::string& other :
       std::vector<std::string>{"nonsense", "AAAA", "", cursor + "A", cursor.substr(1)}) {
    EXPECT_EQ(json_of(api.get(fmt::format("{}?limit=2&cursor={}", url, other))), first) << other;
  }
  const auto reversed = json_of(api.get(url + "?limit=2&reverse=true"));
  EXPECT_EQ(json_of(api.get(url + "?limit=2&reverse=true&cursor=" + cursor)), reversed);
  EXPECT_NE(json_of(api.get(url + "?limit=2&cursor=" + cursor)), first);
}

TEST_F(Listing, ResourcesCheckTheirQuery) {
  const auto url = "/api/folders/" + filled(0, 3) + "/resources";
  for (const char* query : {"?order_by=colour", "?order_by=", "?reverse=perhaps", "?resource_types=link",
                            "?resource_types=file,", "?limit=many", "?limit=-1", "?limit="}) {
    expect_error(api.get(url + query), 400, "bad_query", query);
  }
  EXPECT_EQ(json_of(api.get(url + "?limit=0"))["items"].size(), 1u);
  EXPECT_EQ(json_of(api.get(url + "?limit=99999&unknown=1"))["items"].size(), 3u);
  EXPECT_EQ(api.get(url + "?reverse=1").status, 200);
}

TEST_F(Listing, IsCompressedForWhoAsks) {
  const auto id = filled(0, 30);
  const auto answer = api.get("/api/folders/" + id + "/listing", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(answer.header("content-encoding"), "gzip");
  std::string vary;
  for (const auto& value : answer.all("vary")) vary += value + ",";
  for (const char* name : {"Accept-Encoding", "Authorization", "Cookie"}) {
    EXPECT_NE(vary.find(name), std::string::npos) << vary;
  }
}

TEST_F(Listing, WorksForAFileOnlyAsNotFound) {
  const auto file = put(root_id, "f", "x")["id"].get<std::string>();
  for (const char* path : {"", "/contents", "/listing", "/resources", "/ancestors"}) {
    expect_error(api.get("/api/folders/" + file + path), 404, "not_found", path);
  }
}

}  // namespace
}  // namespace welkin::tests
