#include <set>

#include "rest/api.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct Folders : Api {};

TEST_F(Folders, HomeIsTheOnlyRoot) {
  for (const char* path : {"/api/folders", "/api/folders/", "/api/folders/paginated?page=3"}) {
    const auto answer = api.get(path);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const auto roots = json_of(answer);
    ASSERT_EQ(roots.size(), 1u);
    EXPECT_EQ(roots[0]["id"], root_id);
    EXPECT_EQ(roots[0]["name"], "My Folder - " + alice.name);
    EXPECT_EQ(roots[0]["path"], "/");
    EXPECT_EQ(roots[0]["parent_id"], nullptr);
    EXPECT_EQ(roots[0]["is_root"], true);
    EXPECT_EQ(roots[0]["owner_id"], server.ids.encode(IdKind::user, alice.id.value));
  }
}

TEST_F(Folders, HaveEveryFieldOfTheContract) {
  const auto made = api.json("POST", "/api/folders", R"({"name":"Docs"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto folder = json_of(made);
  EXPECT_EQ(made.header("location"), "/api/folders/" + folder["id"].get<std::string>());
  const std::set<std::string> wanted = {
      "id",          "name",       "path",       "parent_id",   "owner_id",
      "created_by",  "updated_by", "created_at", "modified_at", "is_root",
      "icon_class",  "category",   "drive_id",   "etag",        "icon_special_class",
      "is_favorite", "is_shared"};
  std::set<std::string> got;
  for (const auto& [key, _] : folder.items()) got.insert(key);
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(folder["name"], "Docs");
  EXPECT_EQ(folder["path"], "/Docs");
  EXPECT_EQ(folder["parent_id"], root_id);
  EXPECT_EQ(folder["is_root"], false);
  EXPECT_EQ(folder["icon_class"], "fas fa-folder");
  EXPECT_EQ(folder["icon_special_class"], "folder-icon");
  EXPECT_EQ(folder["category"], "Folder");
  EXPECT_EQ(folder["owner_id"], folder["created_by"]);
  const auto now = times::seconds(server.clock.now());
  EXPECT_LE(std::abs(folder["created_at"].get<std::int64_t>() - now), 60);
  EXPECT_LE(std::abs(folder["modified_at"].get<std::int64_t>() - now), 60);
  EXPECT_EQ(json_of(api.get("/api/folders/" + folder["id"].get<std::string>())), folder);
}

TEST_F(Folders, GoWhereTheyAreToldTo) {
  const auto a = make_folder(root_id, "a");
  const auto b = make_folder(a, "b");
  EXPECT_EQ(json_of(api.get("/api/folders/" + b))["path"], "/a/b");
  const auto at_home = api.json("POST", "/api/folders", R"({"name":"c","parent_id":null})");
  EXPECT_EQ(json_of(at_home)["path"], "/c");
  const auto chain = json_of(api.get("/api/folders/" + b + "/ancestors"));
  ASSERT_EQ(chain.size(), 3u) << chain.dump();
  EXPECT_EQ(chain[0]["id"], root_id);
  EXPECT_EQ(chain[0]["parent_id"], nullptr);
  EXPECT_EQ(chain[0]["name"], "My Folder - " + alice.name);
  EXPECT_EQ(chain[1]["id"], a);
  EXPECT_EQ(chain[1]["parent_id"], root_id);
  EXPECT_EQ(chain[2]["id"], b);
  EXPECT_EQ(chain[2]["drive_id"], chain[0]["drive_id"]);
}

TEST_F(Folders, KeepAnyGoodName) {
  for (const std::string name :
       {"é", "漢字", "😀👩‍👩‍👧‍👦", " lead and trail ", ".hidden", "dots...", "CON",
        "a:b*c?<d>|\"e\"", "100%25 %2F", "a&b#c;d", "<script>alert(1)", "\u202Eevil.txt",
        "'; drop table nodes; --", "\xF0\x9D\x95\x8F"}) {
    const auto made = api.json("POST", "/api/folders", json{{"name", name}, {"parent_id", root_id}}.dump());
    ASSERT_EQ(made.status, 201) << name << made.body;
    EXPECT_EQ(json_of(made)["name"], name);
    EXPECT_EQ(json_of(made)["path"], "/" + name);
  }
  const std::string longest(255, 'n');
  EXPECT_EQ(json_of(api.json("POST", "/api/folders", json{{"name", longest}}.dump()))["name"], longest);
  std::string wide;
  for (int i = 0; i < 85; ++i) wide += "漢";
  EXPECT_EQ(json_of(api.json("POST", "/api/folders", json{{"name", wide}}.dump()))["name"], wide);
}

TEST_F(Folders, RefuseBadNames) {
  for (const std::string name :
       {"", ".", "..", "a/b", "/", "a\\b", "tab\there", "line\nbreak", "\x7f", "\xC2\x85", "\x01"}) {
    const auto made = api.json("POST", "/api/folders", json{{"name", name}}.dump());
    expect_error(made, 400, "bad_name", name);
    EXPECT_EQ(json_of(made)["error_type"], "Invalid Input");
    EXPECT_EQ(json_of(made)["message"].get<std::string>().substr(0, 19), "Invalid folder name");
  }
  expect_error(api.json("POST", "/api/folders", json{{"name", std::string(256, 'n')}}.dump()), 400,
               "bad_name");
  expect_error(api.json("POST", "/api/folders", R"({"name":"a\u0000b"})"), 422, "bad_field");
  EXPECT_TRUE(names_in(root_id).empty());
}

TEST_F(Folders, TakeANameOnce) {
  const std::string composed = "Caf\xC3\xA9", decomposed = "Cafe\xCC\x81";
  make_folder(root_id, composed);
  for (const auto& twin : {composed, decomposed}) {
    const auto again = api.json("POST", "/api/folders", json{{"name", twin}}.dump());
    expect_error(again, 409, "exists");
    EXPECT_NE(json_of(again)["message"].get<std::string>().find("already exists"), std::string::npos);
  }
  make_folder(root_id, "caf\xC3\xA9");  // case tells names apart
  const auto other = make_folder(root_id, "other");
  make_folder(other, composed);
  put(root_id, "plain", "x");
  expect_error(api.json("POST", "/api/folders", R"({"name":"plain"})"), 409, "exists");
}

TEST_F(Folders, AreRenamed) {
  const auto a = make_folder(root_id, "a");
  make_folder(root_id, "taken");
  const auto inner = make_folder(a, "inner");
  const std::string url = "/api/folders/" + a + "/rename";
  const auto renamed = api.json("PUT", url, R"({"name":"b"})");
  ASSERT_EQ(renamed.status, 200) << renamed.body;
  EXPECT_EQ(json_of(renamed)["name"], "b");
  EXPECT_EQ(json_of(renamed)["id"], a);
  EXPECT_EQ(json_of(api.get("/api/folders/" + inner))["path"], "/b/inner");
  EXPECT_EQ(api.json("PUT", url, R"({"name":"b"})").status, 200) << "its own name is no conflict";
  expect_error(api.json("PUT", url, R"({"name":"taken"})"), 409, "exists");
  expect_error(api.json("PUT", url, R"({"name":"x/y"})"), 400, "bad_name");
  expect_error(api.json("PUT", url, R"({"name":7})"), 422, "bad_field");
  expect_error(api.json("PUT", url, R"({})"), 422, "missing_field");
  expect_error(api.json("PUT", "/api/folders/" + root_id + "/rename", R"({"name":"x"})"), 403, "is_root");
}

TEST_F(Folders, AreMoved) {
  const auto a = make_folder(root_id, "a"), b = make_folder(a, "b"), c = make_folder(b, "c");
  const auto to = [&](const std::string& id, const json& parent) {
    return api.json("PUT", "/api/folders/" + id + "/move", json{{"parent_id", parent}}.dump());
  };
  const auto moved = to(c, a);
  ASSERT_EQ(moved.status, 200) << moved.body;
  EXPECT_EQ(json_of(moved)["parent_id"], a);
  EXPECT_EQ(json_of(moved)["path"], "/a/c");
  EXPECT_EQ(json_of(to(c, nullptr))["parent_id"], root_id);
  EXPECT_EQ(to(c, nullptr).status, 200) << "where it is already";
  expect_error(to(a, a), 400, "into_itself");
  expect_error(to(a, b), 400, "into_itself");
  expect_error(to(root_id, a), 403, "is_root");
  expect_error(to(b, server.folder_id(NodeId{1'000'000'000})), 404, "not_found");
  make_folder(root_id, "b");
  expect_error(to(b, nullptr), 409, "exists");
  expect_error(api.json("PUT", "/api/folders/" + b + "/move", "{}"), 422, "missing_field");
  expect_error(to(b, "not-an-id"), 400, "bad_id");
  expect_error(to(b, 5), 422, "bad_field");
  EXPECT_EQ(json_of(api.get("/api/folders/" + b))["path"], "/a/b") << "nothing of all this moved it";
}

TEST_F(Folders, GoToTheTrashWithWhatIsBelow) {
  const auto a = make_folder(root_id, "a"), b = make_folder(a, "b");
  const auto file = put(b, "f.txt", "body");
  EXPECT_EQ(api.send("DELETE", "/api/folders/" + a).status, 204);
  expect_error(api.get("/api/folders/" + a), 404, "not_found");
  expect_error(api.get("/api/folders/" + b), 404, "not_found");
  expect_error(api.get("/api/files/" + file["id"].get<std::string>()), 404, "not_found");
  expect_error(api.send("DELETE", "/api/folders/" + a), 404, "not_found");
  EXPECT_TRUE(names_in(root_id).empty());
  expect_error(api.send("DELETE", "/api/folders/" + root_id), 403, "is_root");
  make_folder(root_id, "a");  // the name is free again
}

TEST_F(Folders, ChangesCanDemandWhatTheySaw) {
  const auto a = make_folder(root_id, "a");
  const std::string url = "/api/folders/" + a;
  const auto etag = '"' + json_of(api.get(url))["etag"].get<std::string>() + '"';
  make_folder(a, "changes it");
  for (const auto& [method, path, body] :
       {std::tuple{"PUT", url + "/rename", R"({"name":"x"})"},
        std::tuple{"PUT", url + "/move", R"({"parent_id":null})"}, std::tuple{"DELETE", url, ""}}) {
    expect_error(api.json(method, path, body, {{"If-Match", etag}}), 412, "precondition_failed", path);
    expect_error(api.json(method, path, body, {{"If-None-Match", "*"}}), 412, "precondition_failed", path);
    expect_error(api.json(method, path, body, {{"If-Match", "no quotes"}}), 400, "bad_precondition", path);
  }
  const auto now = '"' + json_of(api.get(url))["etag"].get<std::string>() + '"';
  EXPECT_EQ(api.send("DELETE", url, {{"If-Match", "\"other\", " + now}}).status, 204);
}

TEST_F(Folders, NestToALimit) {
  NodeId deepest = root;
  int made = 0;
  try {
    for (; made < 200; ++made) deepest = server.folder(alice, deepest, "d");
  } catch (const Error& e) {
    EXPECT_STREQ(e.slug(), "too_deep");
  }
  EXPECT_GE(made, 100);
  EXPECT_LT(made, 200);
  const auto id = server.folder_id(deepest);
  expect_error(api.json("POST", "/api/folders", json{{"name", "d"}, {"parent_id", id}}.dump()), 400,
               "too_deep");
  EXPECT_EQ(json_of(api.get("/api/folders/" + id + "/ancestors")).size(), static_cast<std::size_t>(made) + 1);
}

TEST_F(Folders, OfOthersAreNotThere) {
  const auto bob = server.user(server.fresh("bob"));
  const auto theirs = server.folder_id(server.folder(bob, server.home(bob), "secret"));
  const auto missing = server.folder_id(NodeId{1'000'000'000});
  const auto mine = make_folder(root_id, "mine");
  for (const auto& path : {"", "/contents", "/contents/paginated", "/listing", "/resources", "/ancestors"}) {
    const auto foreign = api.get("/api/folders/" + theirs + path);
    expect_error(foreign, 404, "not_found", path);
    auto other = json_of(api.get("/api/folders/" + missing + path)), same = json_of(foreign);
    other.erase("request_id");
    same.erase("request_id");
    EXPECT_EQ(same, other) << "what is there must look like what is not";
  }
  expect_error(api.json("POST", "/api/folders", json{{"name", "x"}, {"parent_id", theirs}}.dump()), 404,
               "not_found");
  expect_error(api.json("PUT", "/api/folders/" + theirs + "/rename", R"({"name":"x"})"), 404, "not_found");
  expect_error(api.json("PUT", "/api/folders/" + theirs + "/move", R"({"parent_id":null})"), 404,
               "not_found");
  expect_error(api.json("PUT", "/api/folders/" + mine + "/move", json{{"parent_id", theirs}}.dump()), 404,
               "not_found");
  expect_error(api.send("DELETE", "/api/folders/" + theirs), 404, "not_found");
  expect_error(api.send("PUT", child(theirs, "x"), {}, "x"), 404, "not_found");
  EXPECT_EQ(json_of(server.as(bob).get("/api/folders/" + theirs))["name"], "secret");
}

}  // namespace
}  // namespace welkin::tests
