#include <set>

#include "rest/api.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct AppPasswords : Api {
  json create(const json& wish) {
    const auto answer = api.json("POST", "/api/auth/app-passwords", wish.dump());
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json_of(answer);
  }
  HttpResponse refused(const json& wish) { return api.json("POST", "/api/auth/app-passwords", wish.dump()); }
  ApiClient with(const json& made) {
    return {server.port(), basic(alice.name, made["password"].get<std::string>())};
  }
};

TEST_F(AppPasswords, AreShownOnceAndListed) {
  const auto made = create({{"label", "Phone"}});
  EXPECT_EQ(made["label"], "Phone");
  EXPECT_EQ(made["username"], alice.name);
  EXPECT_EQ(made["scopes"], "webdav,caldav,carddav");
  EXPECT_EQ(made["protocols"], (json{"webdav", "caldav", "carddav"}));
  EXPECT_EQ(made["expires_at"], nullptr);
  EXPECT_EQ(made["folder_id"], nullptr);
  EXPECT_EQ(made["read_only"], false);
  const auto secret = made["password"].get<std::string>();
  EXPECT_EQ(secret.size(), 41u);
  EXPECT_TRUE(secret.starts_with("welkin-"));
  for (const char* client : {"davx5", "thunderbird", "rclone", "curl_example"})
    EXPECT_TRUE(made["instructions"][client].is_string()) << client;
  EXPECT_EQ(made["instructions"].dump().find(secret), std::string::npos);

  const auto narrow = create({{"label", "Backup"},
                              {"protocols", {"rest"}},
                              {"folder_id", root_id},
                              {"read_only", true},
                              {"expires_at", "2099-12-31T00:00:00Z"}});
  const auto answer = api.get("/api/auth/app-passwords");
  EXPECT_EQ(answer.body.find(secret), std::string::npos);
  EXPECT_EQ(answer.body.find("hash"), std::string::npos);
  const auto list = json_of(answer);
  EXPECT_EQ(list["total"], 2);
  const auto& newest = list["app_passwords"][0];
  std::set<std::string> keys;
  for (const auto& [key, value] : newest.items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"id", "label", "prefix", "scopes", "protocols", "read_only",
                                         "folder_id", "created_at", "last_used_at", "expires_at", "active"}));
  EXPECT_EQ(newest["id"], narrow["id"]);
  EXPECT_EQ(newest["scopes"], "rest");
  EXPECT_EQ(newest["folder_id"], root_id);
  EXPECT_EQ(newest["read_only"], true);
  EXPECT_EQ(newest["expires_at"], "2099-12-31T00:00:00Z");
  EXPECT_EQ(newest["active"], true);
  EXPECT_EQ(list["app_passwords"][1]["prefix"], secret.substr(0, 11) + "...");
}

TEST_F(AppPasswords, KeepToTheirScopes) {
  const auto dav = create({{"label", "DAV"}});
  const auto rest = create({{"label", "API"}, {"scopes", "rest"}});
  expect_error(with(dav).get("/api/auth/me"), 401, "bad_token", "not for the API");
  EXPECT_EQ(with(rest).get("/api/auth/me").status, 200);
  EXPECT_EQ(with(rest).get("/api/folders").status, 200);
  ApiClient stranger{server.port(), basic(server.user(server.fresh("bob")).name, rest["password"])};
  expect_error(stranger.get("/api/auth/me"), 401, "bad_token", "another user's name");
}

TEST_F(AppPasswords, ReadOnlyOnesRead) {
  put(root_id, "a.txt", "hello");
  auto reader = with(create({{"label", "Reader"}, {"scopes", "rest"}, {"read_only", true}}));
  EXPECT_EQ(reader.get("/api/folders/" + root_id + "/listing").status, 200);
  const auto write = reader.send("PUT", child(root_id, "b.txt"), {}, "no");
  EXPECT_EQ(write.status, 403) << write.body;
  const auto folder = reader.json("POST", "/api/folders", json{{"name", "x"}, {"parent_id", root_id}}.dump());
  EXPECT_EQ(folder.status, 403) << folder.body;
  EXPECT_EQ(names_in(root_id), std::vector<std::string>{"a.txt"});
}

TEST_F(AppPasswords, SeeOnlyTheirFolder) {
  const auto inside = make_folder(root_id, "inside");
  const auto outside = make_folder(root_id, "outside");
  const auto secret_file = put(outside, "secret.txt", "secret");
  put(inside, "open.txt", "open");
  auto limited = with(create({{"label", "Folder"}, {"scopes", "rest"}, {"folder_id", inside}}));
  EXPECT_EQ(limited.get("/api/folders/" + inside + "/listing").status, 200);
  EXPECT_EQ(limited.send("PUT", child(inside, "new.txt"), {}, "yes").status, 201);
  EXPECT_EQ(limited.get("/api/folders/" + outside + "/listing").status, 404);
  EXPECT_EQ(limited.get("/api/folders/" + root_id + "/listing").status, 404);
  EXPECT_EQ(limited.get("/api/files/" + secret_file["id"].get<std::string>()).status, 404);
  EXPECT_EQ(limited.send("PUT", child(outside, "new.txt"), {}, "no").status, 404);
}

TEST_F(AppPasswords, AreNoWayToMorePower) {
  auto boss = server.user(server.fresh("boss"), true);
  auto session = server.as(boss);
  const auto made = json_of(
      session.json("POST", "/api/auth/app-passwords",
                   json{{"label", "All"}, {"scopes", "webdav,caldav,carddav,nextcloud,rest"}}.dump()));
  ApiClient holder{server.port(), basic(boss.name, made["password"].get<std::string>())};
  EXPECT_EQ(holder.get("/api/auth/me").status, 200);
  expect_error(holder.get("/api/admin/users"), 401, "session_required");
  expect_error(holder.json("POST", "/api/auth/app-passwords", R"({"label":"child"})"), 403,
               "session_required");
  expect_error(holder.get("/api/auth/app-passwords"), 403, "session_required");
  expect_error(holder.get("/api/auth/sessions"), 403, "session_required");
  expect_error(holder.send("POST", "/api/auth/logout"), 403, "session_required");
  expect_error(
      holder.json("PUT", "/api/auth/change-password",
                  json{{"current_password", boss.password}, {"new_password", "a better one 77"}}.dump()),
      403, "session_required");
  expect_error(holder.send("DELETE", "/api/auth/app-passwords/" + made["id"].get<std::string>()), 403,
               "session_required");
}

TEST_F(AppPasswords, EndWhenRevoked) {
  const auto made = create({{"label", "API"}, {"scopes", "rest"}});
  auto holder = with(made);
  EXPECT_EQ(holder.get("/api/auth/me").status, 200);
  const auto id = made["id"].get<std::string>();
  auto bob = server.as(server.user(server.fresh("bob")));
  expect_error(bob.send("DELETE", "/api/auth/app-passwords/" + id), 404, "no_such_app_password");
  EXPECT_EQ(holder.get("/api/auth/me").status, 200);
  const auto gone = api.send("DELETE", "/api/auth/app-passwords/" + id);
  EXPECT_EQ(json_of(gone), (json{{"status", "revoked"}, {"id", id}}));
  expect_error(holder.get("/api/auth/me"), 401, "bad_token", "at the next request");
  EXPECT_EQ(json_of(api.get("/api/auth/app-passwords"))["app_passwords"][0]["active"], false);
  expect_error(api.send("DELETE", "/api/auth/app-passwords/nonsense"), 400, "bad_id");
}

TEST_F(AppPasswords, RefuseBadWishes) {
  const auto foreign = server.folder_id(server.home(server.user(server.fresh("bob"))));
  const auto file = put(root_id, "f.txt", "x")["id"].get<std::string>();
  expect_error(refused({{"label", ""}}), 400, "bad_label");
  expect_error(refused({{"label", std::string(256, 'x')}}), 400, "bad_label");
  expect_error(refused({{"label", "x"}, {"scopes", "everything"}}), 400, "bad_scopes");
  expect_error(refused({{"label", "x"}, {"scopes", ""}}), 400, "bad_scopes");
  expect_error(refused({{"label", "x"}, {"protocols", json::array()}}), 400, "bad_scopes");
  expect_error(refused({{"label", "x"}, {"scopes", "rest"}, {"protocols", {"webdav"}}}), 400, "bad_scopes");
  expect_error(refused({{"label", "x"}, {"protocols", "rest"}}), 422, "bad_field");
  expect_error(refused({{"label", "x"}, {"expires_in_days", 0}}), 400, "bad_expiry");
  expect_error(refused({{"label", "x"}, {"expires_in_days", 40'000}}), 400, "bad_expiry");
  expect_error(refused({{"label", "x"}, {"expires_in_days", 1}, {"expires_at", "2099-01-01T00:00:00Z"}}), 400,
               "bad_expiry");
  expect_error(refused({{"label", "x"}, {"expires_at", "2001-01-01T00:00:00Z"}}), 400, "bad_expiry");
  expect_error(refused({{"label", "x"}, {"expires_at", "tomorrow"}}), 400, "bad_expiry");
  expect_error(refused({{"label", "x"}, {"folder_id", "nonsense"}}), 400, "bad_id");
  expect_error(refused({{"label", "x"}, {"folder_id", file}}), 404, "no_such_folder");
  EXPECT_EQ(refused({{"label", "x"}, {"folder_id", foreign}}).status, 404);
  expect_error(refused({{"label", "x"}, {"user_id", 1}}), 422, "unknown_field");
  EXPECT_EQ(json_of(api.get("/api/auth/app-passwords"))["total"], 0);
  EXPECT_EQ(create({{"label", "x"}, {"expires_in_days", 1}})["active"], true);
}

}  // namespace
}  // namespace welkin::tests
