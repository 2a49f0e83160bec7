#include "rest/api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct Marks : Api {
  std::string folder = make_folder(root_id, server.fresh("marked"));
  std::string file = put(folder, "a.txt", "12345")["id"];

  std::vector<std::string> listed(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& item : json_of(api.get(path))) names.push_back(item["item_name"]);
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_F(Marks, FavoritesComeAndGo) {
  auto answer = api.send("POST", "/api/favorites/file/" + file);
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_TRUE(json_of(answer).contains("message"));
  EXPECT_EQ(api.send("POST", "/api/favorites/file/" + file).status, 201) << "once more is no fault";
  const auto list = json_of(api.get("/api/favorites"));
  ASSERT_EQ(list.size(), 1u);
  const auto& item = list[0];
  EXPECT_EQ(item["item_id"], file);
  EXPECT_EQ(item["item_type"], "file");
  EXPECT_EQ(item["item_name"], "a.txt");
  EXPECT_EQ(item["item_size"], 5);
  EXPECT_EQ(item["item_mime_type"], "text/plain");
  EXPECT_EQ(item["parent_id"], folder);
  EXPECT_EQ(item["size_formatted"], "5 Bytes");
  EXPECT_EQ(item["category"], "Text");
  EXPECT_EQ(item["created_at"].get<std::string>().back(), 'Z');
  EXPECT_TRUE(json_of(api.get("/api/files/" + file + "?metadata=true"))["is_favorite"].get<bool>());
  answer = api.send("DELETE", "/api/favorites/file/" + file);
  EXPECT_EQ(answer.status, 200) << answer.body;
  expect_error(api.send("DELETE", "/api/favorites/file/" + file), 404, "not_found");
  EXPECT_EQ(json_of(api.get("/api/favorites")), json::array());
}

TEST_F(Marks, RefuseWhatIsNoItem) {
  expect_error(api.send("POST", "/api/favorites/picture/" + file), 400, "bad_item_type");
  expect_error(api.send("POST", "/api/favorites/file/nonsense"), 400, "bad_id");
  expect_error(api.send("POST", "/api/favorites/folder/" + file), 404, "not_found", "a file is no folder");
  expect_error(api.send("POST", "/api/recent/picture/" + file), 400, "bad_item_type");
  expect_error(api.send("POST", "/api/recent/folder/" + file), 404, "not_found");
  expect_error(api.json("POST", "/api/favorites/batch", R"({"items":[]})"), 400, "bad_items");
  expect_error(api.json("POST", "/api/favorites/batch", R"({"items":"all"})"), 400, "bad_items");
  expect_error(api.json("POST", "/api/favorites/batch", R"({"items":[{"item_id":"x"}]})"), 422,
               "missing_field");
  expect_error(api.get("/api/favorites/resources?order_by=accessed_at"), 400, "bad_query");
  expect_error(api.get("/api/recent/resources?reverse=perhaps"), 400, "bad_query");
  expect_error(api.get("/api/favorites/resources?resource_types=link"), 400, "bad_query");
}

TEST_F(Marks, ABatchIsSetWholeOrNotAtAll) {
  const auto entry = [](const std::string& type, const std::string& id) {
    return json{{"item_type", type}, {"item_id", id}};
  };
  api.send("POST", "/api/favorites/file/" + file);
  const auto answer = api.json("POST", "/api/favorites/batch",
                               json{{"items", {entry("folder", folder), entry("file", file)}}}.dump());
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_of(answer)["stats"], (json{{"requested", 2}, {"inserted", 1}, {"already_existed", 1}}));
  EXPECT_EQ(json_of(answer)["favorites"].size(), 2u);
  EXPECT_EQ(json_of(answer)["favorites"][0]["item_name"].get<std::string>().substr(0, 6), "marked");
  auto other = server.as(server.user(server.fresh("bob")));
  expect_error(other.json("POST", "/api/favorites/batch", json{{"items", {entry("file", file)}}}.dump()), 404,
               "not_found");
}

TEST_F(Marks, ResourcesGoPageByPage) {
  for (int i = 0; i < 5; ++i) {
    const std::string id =
        put(folder, "f" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'x'))["id"];
    ASSERT_EQ(api.send("POST", "/api/favorites/file/" + id).status, 201);
  }
  api.send("POST", "/api/favorites/folder/" + folder);
  Names seen;
  std::string cursor;
  do {
    const auto page = json_of(api.get("/api/favorites/resources?limit=2&order_by=name&cursor=" + cursor));
    for (const auto& item : page["items"]) {
      seen.push_back(item["resource"]["name"]);
      EXPECT_TRUE(item["resource"]["is_favorite"].get<bool>());
      EXPECT_TRUE(item.contains("favorited_at"));
      EXPECT_EQ(item["resource_type"], item["resource"].contains("mime_type") ? "file" : "folder");
    }
    cursor = page.value("next_cursor", "");
  } while (!cursor.empty() && seen.size() < 20);
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(Names(seen.begin() + 1, seen.end()), (Names{"f0", "f1", "f2", "f3", "f4"}));
  const auto by_size =
      json_of(api.get("/api/favorites/resources?order_by=size&reverse=1&resource_types=file&limit=1"));
  EXPECT_EQ(by_size["items"][0]["resource"]["name"], "f4");
  const auto answer = api.get("/api/favorites/resources");
  const HeaderList known{{"If-None-Match", answer.header("etag")}};
  EXPECT_EQ(api.get("/api/favorites/resources", known).status, 304);
  api.send("DELETE", "/api/favorites/folder/" + folder);
  EXPECT_EQ(api.get("/api/favorites/resources", known).status, 200);
}

TEST_F(Marks, AFavoriteBreaksTheTagOfItsFoldersListing) {
  for (const std::string& path :
       {"/api/folders/" + folder + "/resources", "/api/folders/" + folder + "/listing"}) {
    const HeaderList known{{"If-None-Match", api.get(path).header("etag")}};
    EXPECT_EQ(api.get(path, known).status, 304);
    api.send("POST", "/api/favorites/file/" + file);
    const auto answer = api.get(path, known);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_NE(answer.body.find("\"is_favorite\":true"), std::string::npos);
    api.send("DELETE", "/api/favorites/file/" + file);
    EXPECT_EQ(api.get(path, known).status, 304) << path;
  }
}

TEST_F(Marks, AnOverwriteTellsThatTheFileIsAFavorite) {
  api.send("POST", "/api/favorites/file/" + file);
  EXPECT_TRUE(put(folder, "a.txt", "again")["is_favorite"].get<bool>());
  EXPECT_FALSE(put(folder, "new.txt", "new")["is_favorite"].get<bool>());
}

TEST_F(Marks, RecentIsWhatWasOpened) {
  const std::string second = put(folder, "b.txt", "b")["id"];
  EXPECT_EQ(api.send("POST", "/api/recent/file/" + file).status, 200);
  EXPECT_EQ(api.send("POST", "/api/recent/file/" + second).status, 200);
  EXPECT_EQ(api.get("/api/files/" + file).status, 200);  // a download alone is not told
  EXPECT_EQ(listed("/api/recent"), (Names{"b.txt", "a.txt"}));
  api.send("POST", "/api/recent/file/" + file);
  EXPECT_EQ(listed("/api/recent"), (Names{"a.txt", "b.txt"}));
  EXPECT_EQ(listed("/api/recent?limit=1"), Names{"a.txt"});
  EXPECT_EQ(json_of(api.get("/api/recent/resources?limit=1"))["items"][0]["resource"]["id"], file);
  EXPECT_TRUE(json_of(api.get("/api/recent"))[0].contains("accessed_at"));
  EXPECT_EQ(api.send("DELETE", "/api/recent/file/" + second).status, 200);
  expect_error(api.send("DELETE", "/api/recent/file/" + second), 404, "not_found");
  EXPECT_EQ(api.send("DELETE", "/api/recent/clear").status, 200);
  EXPECT_EQ(json_of(api.get("/api/recent")), json::array());
}

}  // namespace
}  // namespace welkin::tests
