// Trash, versions and batches over the socket.
#include <set>

#include "rest/api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct TreeRoutes : Api {
  json batch(const std::string& route, const json& body, int status) {
    const auto answer = api.json("POST", "/api/batch/" + route, body.dump());
    EXPECT_EQ(answer.status, status) << route << answer.body;
    return json_of(answer);
  }
  json trash() { return json_of(api.get("/api/trash")); }
};

TEST_F(TreeRoutes, TheTrashListsRestoresAndPurges) {
  const auto folder = make_folder(root_id, "Docs");
  const std::string file = put(folder, "a.pdf", "12345", {{"Content-Type", "application/pdf"}})["id"];
  EXPECT_EQ(api.send("DELETE", "/api/files/" + file).status, 204);
  const auto items = trash();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0]["id"], file);
  EXPECT_EQ(items[0]["original_id"], file);
  EXPECT_EQ(items[0]["item_type"], "file");
  EXPECT_EQ(items[0]["name"], "a.pdf");
  EXPECT_EQ(items[0]["original_path"], "/Docs/a.pdf");
  EXPECT_EQ(items[0]["days_until_deletion"], 30);
  EXPECT_EQ(items[0]["category"], "PDF");
  EXPECT_EQ(items[0]["icon_class"], "fas fa-file-pdf");
  EXPECT_TRUE(items[0]["trashed_at"].is_string());

  put(folder, "a.pdf", "another");
  const auto restored = api.send("POST", "/api/trash/" + file + "/restore");
  EXPECT_EQ(restored.status, 200) << restored.body;
  EXPECT_EQ(json_of(restored)["success"], true);
  EXPECT_EQ(json_of(restored)["path"], "/Docs/a (2).pdf");
  expect_error(api.send("POST", "/api/trash/" + file + "/restore"), 404, "not_found");
  expect_error(api.send("POST", "/api/trash/nonsense/restore"), 400, "bad_id");

  EXPECT_EQ(api.send("DELETE", "/api/trash/folders/" + folder).status, 200);
  ASSERT_EQ(trash().size(), 1u);
  EXPECT_EQ(trash()[0]["item_type"], "folder");
  EXPECT_EQ(api.send("DELETE", "/api/trash/" + folder).status, 200);
  EXPECT_TRUE(trash().empty());
  expect_error(api.send("DELETE", "/api/trash/" + folder), 404, "not_found");
}

TEST_F(TreeRoutes, TheTrashComesInPagesAndIsEmptied) {
  for (int i = 0; i < 5; ++i)
    api.send("DELETE", "/api/files/" + put(root_id, "f" + std::to_string(i), "1")["id"].get<std::string>());
  std::vector<std::string> seen;
  std::string cursor;
  do {
    const auto page =
        json_of(api.get("/api/trash/resources?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor)));
    for (const auto& item : page["items"]) {
      EXPECT_EQ(item["resource_type"], "file");
      EXPECT_TRUE(item.contains("trashed_at"));
      seen.push_back(item["resource"]["name"]);
    }
    cursor = page.value("next_cursor", "");
  } while (!cursor.empty());
  EXPECT_EQ(seen, (std::vector<std::string>{"f4", "f3", "f2", "f1", "f0"}));
  expect_error(api.get("/api/trash/resources?limit=x"), 400, "bad_query");
  const auto emptied = api.send("DELETE", "/api/trash/empty");
  EXPECT_EQ(emptied.status, 200);
  EXPECT_EQ(json_of(emptied)["items"], 5);
  EXPECT_TRUE(trash().empty());
}

TEST_F(TreeRoutes, PermanentLeavesNothingInTheTrash) {
  const std::string file = put(root_id, "f", "1")["id"];
  const auto folder = make_folder(root_id, "d");
  expect_error(api.send("DELETE", "/api/files/" + file + "?permanent=perhaps"), 400, "bad_query");
  EXPECT_EQ(api.send("DELETE", "/api/files/" + file + "?permanent=true").status, 204);
  EXPECT_EQ(api.send("DELETE", "/api/folders/" + folder + "?permanent=true").status, 204);
  EXPECT_TRUE(trash().empty());
  EXPECT_TRUE(names_in(root_id).empty());
}

TEST_F(TreeRoutes, VersionsAreListedReadLabelledRestoredAndDeleted) {
  put(root_id, "f.txt", "first", {{"Content-Type", "text/plain"}});
  put(root_id, "f.txt", "second");
  const auto present = put(root_id, "f.txt", "third");
  const auto base = "/api/files/" + present["id"].get<std::string>() + "/versions";
  const auto all = json_of(api.get(base))["items"];
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["size"], 6);
  EXPECT_EQ(all[0]["label"], nullptr);
  EXPECT_EQ(all[0]["created_by"], present["created_by"]);
  const auto page = json_of(api.get(base + "?limit=1"));
  EXPECT_EQ(json_of(api.get(base + "?limit=1&cursor=" + page["next_cursor"].get<std::string>()))["items"][0],
            all[1]);

  const auto one = base + "/" + all[1]["id"].get<std::string>();
  EXPECT_EQ(json_of(api.get(one)), all[1]);
  const auto body = api.get(one + "/content");
  EXPECT_EQ(body.status, 200);
  EXPECT_EQ(body.body, "first");
  EXPECT_EQ(api.get(one + "/content", {{"If-None-Match", body.header("etag")}}).status, 304);
  const auto range = api.get(one + "/content", {{"Range", "bytes=1-2"}});
  EXPECT_EQ(range.status, 206);
  EXPECT_EQ(range.body, "ir");

  EXPECT_EQ(json_of(api.json("PUT", one, R"({"label":" first draft "})"))["label"], "first draft");
  expect_error(api.json("PUT", one, "{}"), 422, "missing_field");
  expect_error(api.json("PUT", one, json{{"label", std::string(300, 'x')}}.dump()), 400, "bad_label");
  EXPECT_EQ(json_of(api.json("PUT", one, R"({"label":null})"))["label"], nullptr);

  expect_error(api.send("POST", one + "/restore", {{"If-Match", "\"0\""}}), 412, "precondition_failed");
  const auto restored = api.send("POST", one + "/restore");
  EXPECT_EQ(restored.status, 200) << restored.body;
  EXPECT_NE(json_of(restored)["etag"], present["etag"]);
  EXPECT_EQ(api.get("/api/files/" + present["id"].get<std::string>()).body, "first");
  EXPECT_EQ(json_of(api.get(base))["items"].size(), 2u);
  EXPECT_EQ(api.send("DELETE", base + "/" + all[0]["id"].get<std::string>()).status, 204);
  EXPECT_EQ(json_of(api.get(base))["items"].size(), 1u);
  expect_error(api.get(base + "/" + present["id"].get<std::string>()), 404, "not_found");
  expect_error(api.get(base + "/x"), 400, "bad_id");
  expect_error(api.get(base + "?limit=x"), 400, "bad_query");
}

TEST_F(TreeRoutes, ABatchSaysOfEachItemHowItWent) {
  const auto from = make_folder(root_id, "from"), to = make_folder(root_id, "to");
  const std::string a = put(from, "a", "1")["id"], b = put(from, "b", "2")["id"];
  put(to, "b", "taken");
  const auto mixed = batch("files/move", {{"file_ids", {a, b, from, "x"}}, {"target_folder_id", to}}, 206);
  ASSERT_EQ(mixed["successful"].size(), 1u);
  EXPECT_EQ(mixed["successful"][0]["id"], a);
  EXPECT_EQ(mixed["successful"][0]["path"], "/to/a");
  ASSERT_EQ(mixed["failed"].size(), 3u);
  std::set<std::string> slugs;
  for (const auto& f : mixed["failed"]) slugs.insert(f["slug"]);
  EXPECT_EQ(slugs, (std::set<std::string>{"bad_id", "exists", "not_found"}));
  EXPECT_EQ(mixed["stats"]["total"], 4);
  EXPECT_EQ(mixed["stats"]["successful"], 1);
  EXPECT_EQ(mixed["stats"]["failed"], 3);
  batch("files/move", {{"file_ids", {b}}, {"target_folder_id", to}}, 400);
  batch("files/copy", {{"file_ids", {b}}, {"target_folder_id", to}, {"on_conflict", "rename"}}, 200);
  EXPECT_EQ(names_in(to), (std::vector<std::string>{"a", "b", "b (2)"}));
}

TEST_F(TreeRoutes, BatchesOfFoldersAndOfBoth) {
  const auto made = batch(
      "folders/create",
      {{"folders", {{{"name", "x"}, {"parent_id", root_id}}, {{"name", "y"}}, {{"name", "a/b"}}}}}, 206);
  ASSERT_EQ(made["successful"].size(), 2u);
  EXPECT_EQ(made["failed"][0]["id"], "a/b:");
  EXPECT_EQ(made["failed"][0]["slug"], "bad_name");
  const std::string x = made["successful"][0]["id"], y = made["successful"][1]["id"];
  batch("folders/create", {{"folders", {{{"name", "z"}}}}}, 201);
  const std::string file = put(x, "f", "1")["id"];
  const auto copied = batch("folders/copy", {{"folder_ids", {x}}, {"target_folder_id", y}}, 200);
  EXPECT_EQ(copied["successful"][0]["folders_copied"], 1);
  EXPECT_EQ(copied["successful"][0]["files_copied"], 1);
  EXPECT_EQ(names_in(y), std::vector<std::string>{"x"});

  put(x, "keep", "1");
  const auto all = batch("trash", {{"all_in", x}, {"file_ids", {file}}}, 200);
  EXPECT_EQ(all["successful"].size(), 1u);
  EXPECT_EQ(names_in(x), std::vector<std::string>{"f"});
  batch("restore", {{"file_ids", all["successful"]}}, 200);
  batch("move",
        {{"file_ids", {file}}, {"folder_ids", {x}}, {"target_folder_id", y}, {"on_conflict", "replace"}},
        200);
  EXPECT_EQ(names_in(y), (std::vector<std::string>{"x", "f"}));
  batch("files/delete", {{"file_ids", {file}}, {"permanent", true}}, 200);
  batch("files/get", {{"file_ids", {file}}}, 400);
  batch("folders/get", {{"folder_ids", {x}}}, 200);
  // What is to stay must be known.
  expect_error(api.json("POST", "/api/batch/trash", json{{"all_in", x}, {"file_ids", {"x"}}}.dump()), 400,
               "bad_id");
  EXPECT_EQ(names_in(x).size(), 1u);
}

TEST_F(TreeRoutes, BatchesRefuseWhatMakesNoSense) {
  const auto refused = [&](const char* route, const json& body, int status, const char* slug) {
    expect_error(api.json("POST", std::string("/api/batch/") + route, body.dump()), status, slug,
                 route + body.dump());
  };
  refused("files/move", {{"file_ids", json::array()}}, 400, "no_items");
  refused("trash", json::object(), 400, "no_items");
  refused("files/get", {{"file_ids", std::vector<std::string>(1001, "x")}}, 400, "too_many_items");
  refused("files/copy", {{"file_ids", {"x"}}, {"on_conflict", "hope"}}, 422, "bad_field");
  refused("files/copy", {{"file_ids", {"x"}}, {"owner", "me"}}, 422, "unknown_field");
  refused("folders/create", {{"folders", "x"}}, 422, "bad_field");
  refused("move", {{"all_in", server.folder_id(NodeId{2'000'000'000})}}, 404, "not_found");
}

TEST_F(TreeRoutes, WhoMadeAFileStaysWhoWroteItChanges) {
  const auto bob = server.user(server.fresh("bob"));
  const auto folder = make_folder(root_id, "shared");
  const auto made = put(folder, "f", "1");
  server.sql("insert into grants (node_id, user_id, rights) select id, " + std::to_string(bob.id.value) +
             ", 31 from nodes where name = 'shared' and creator_id = " + std::to_string(alice.id.value) +
             "; update nodes set flags = flags | 1 where name = 'shared'");
  auto other = server.as(bob);
  const auto written =
      json_of(other.send("PUT", "/api/files/" + made["id"].get<std::string>() + "/content", {}, "2"));
  EXPECT_EQ(written["created_by"], made["created_by"]);
  EXPECT_NE(written["updated_by"], made["updated_by"]);
  const auto seen = json_of(api.get("/api/files/" + made["id"].get<std::string>() + "?metadata=true"));
  EXPECT_EQ(seen["created_by"], made["created_by"]);
  EXPECT_EQ(seen["updated_by"], written["updated_by"]);
}

}  // namespace
}  // namespace welkin::tests
