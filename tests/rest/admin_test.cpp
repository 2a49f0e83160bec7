#include <set>

#include "rest/api.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct Admin : ::testing::Test {
  TestServer& server = shared_server();
  TestUser boss = server.user(server.fresh("boss"), true);
  ApiClient admin = server.as(boss);

  json make(const json& extra = {}) {
    json wish{{"username", server.fresh("made")}, {"password", "correct horse"}};
    wish.update(extra.is_null() ? json::object() : extra);
    const auto answer = admin.json("POST", "/api/admin/users", wish.dump());
    EXPECT_EQ(answer.status, 201) << answer.body;
    return json_of(answer);
  }
  std::string path(const json& user, const std::string& rest = "") {
    return "/api/admin/users/" + user["id"].get<std::string>() + rest;
  }
  int login_status(const std::string& name, const std::string& password) {
    return server.nobody()
        .json("POST", "/api/auth/login", json{{"username", name}, {"password", password}}.dump())
        .status;
  }
};

TEST_F(Admin, IsForAdministratorsWithASession) {
  auto user = server.as(server.user(server.fresh("alice")));
  auto anybody = server.nobody();
  for (const auto& route : server.router.routes()) {
    if (!route.pattern.starts_with("/api/admin")) continue;
    auto target = route.pattern;
    if (const auto at = target.find("{id}"); at != std::string::npos)
      target.replace(at, 4, server.ids.encode(IdKind::user, boss.id.value));
    const auto method = http::to_string(route.method);
    const auto refused = user.send(method, target);
    expect_error(refused, 403, "admin_required", route.name);
    EXPECT_EQ(json_of(refused)["error_type"], "Forbidden");
    expect_error(anybody.send(method, target), 401, "no_token", route.name);
    EXPECT_EQ(route.access, http::Access::admin) << route.name;
  }
}

TEST_F(Admin, MakesUsers) {
  const auto made = make({{"email", "Made@Example.org" + std::string()},
                          {"display_name", "Made Up"},
                          {"quota_bytes", 5000},
                          {"role", "admin"}});
  EXPECT_EQ(made["user"]["id"], made["id"]);
  EXPECT_EQ(made["email"], "made@example.org");
  EXPECT_EQ(made["display_name"], "Made Up");
  EXPECT_EQ(made["storage_quota_bytes"], 5000);
  EXPECT_EQ(made["role"], "admin");
  EXPECT_EQ(login_status(made["username"], "correct horse"), 200);
  const auto seen = json_of(admin.get(path(made)));
  EXPECT_EQ(seen["username"], made["username"]);
  EXPECT_FALSE(seen.contains("password_hash"));
  const auto inactive = make({{"active", false}});
  EXPECT_EQ(inactive["active"], false);
  EXPECT_EQ(login_status(inactive["username"], "correct horse"), 403);
}

TEST_F(Admin, RefusesBadUsers) {
  const auto name = make()["username"].get<std::string>();
  const auto post = [&](const json& wish) { return admin.json("POST", "/api/admin/users", wish.dump()); };
  const auto taken = post({{"username", text::lower(name)}, {"password", "correct horse"}});
  expect_error(taken, 409, "user_exists");
  EXPECT_EQ(json_of(taken)["error_type"], "Already Exists");
  EXPECT_NE(json_of(taken)["message"].get<std::string>().find("already exists"), std::string::npos);
  expect_error(post({{"username", "a b"}, {"password", "correct horse"}}), 400, "bad_user_name");
  expect_error(post({{"username", "remote.php"}, {"password", "correct horse"}}), 400, "bad_user_name");
  expect_error(post({{"username", server.fresh("x")}, {"password", "password"}}), 400, "weak_password");
  expect_error(post({{"username", server.fresh("x")}, {"password", "correct horse"}, {"email", "x"}}), 400,
               "bad_email");
  expect_error(post({{"username", server.fresh("x")}, {"password", "correct horse"}, {"role", "god"}}), 400,
               "bad_role");
  expect_error(post({{"username", server.fresh("x")}, {"password", "correct horse"}, {"quota_bytes", -1}}),
               400, "bad_quota");
  expect_error(post({{"username", server.fresh("x")}, {"password", "correct horse"}, {"is_admin", true}}),
               422, "unknown_field");
  expect_error(post({{"username", server.fresh("x")}}), 422, "missing_field");
}

TEST_F(Admin, ListsUsersNewestFirst) {
  const auto older = make(), newer = make();
  const auto page = json_of(admin.get("/api/admin/users?limit=2"));
  EXPECT_EQ(page["limit"], 2);
  EXPECT_EQ(page["offset"], 0);
  ASSERT_EQ(page["users"].size(), 2u);
  EXPECT_EQ(page["users"][0]["id"], newer["id"]);
  EXPECT_EQ(page["users"][1]["id"], older["id"]);
  EXPECT_GE(page["total"].get<int>(), 3);
  EXPECT_EQ(json_of(admin.get("/api/admin/users?limit=1&offset=1"))["users"][0]["id"], older["id"]);
  EXPECT_EQ(json_of(admin.get("/api/admin/users?limit=100000"))["limit"], 500);
  EXPECT_EQ(json_of(admin.get("/api/admin/users"))["limit"], 100);
  expect_error(admin.get("/api/admin/users?limit=many"), 400, "bad_query");
  expect_error(admin.get("/api/admin/users?offset=-1"), 400, "bad_query");
  EXPECT_EQ(admin.get("/api/admin/users").body.find("argon2"), std::string::npos);
}

TEST_F(Admin, ChangesUsers) {
  const auto made = make();
  const auto put = [&](const std::string& what, const json& wish) {
    return admin.json("PUT", path(made, what), wish.dump());
  };
  EXPECT_EQ(put("/role", {{"role", "admin"}}).status, 200);
  EXPECT_EQ(json_of(admin.get(path(made)))["role"], "admin");
  expect_error(put("/role", {{"role", "god"}}), 400, "bad_role");
  const auto quota = put("/quota", {{"quota_bytes", 12345}});
  EXPECT_EQ(json_of(quota)["quota_bytes"], 12345);
  EXPECT_EQ(json_of(admin.get(path(made)))["storage_quota_bytes"], 12345);
  expect_error(put("/quota", {{"quota_bytes", -5}}), 400, "bad_quota");
  expect_error(put("/quota", {{"quota_bytes", 1.5}}), 422, "bad_field");
  expect_error(put("/quota", {{"quota_bytes", "many"}}), 422, "bad_field");
  EXPECT_EQ(put("/active", {{"active", false}}).status, 200);
  EXPECT_EQ(login_status(made["username"], "correct horse"), 403);
  EXPECT_EQ(put("/active", {{"active", true}}).status, 200);
  EXPECT_EQ(put("/password", {{"new_password", "a better one 77"}}).status, 200);
  EXPECT_EQ(login_status(made["username"], "a better one 77"), 200);
  expect_error(put("/password", {{"new_password", "short"}}), 400, "weak_password");
}

TEST_F(Admin, DoesNotSawOffItsOwnBranch) {
  const json self{{"id", server.ids.encode(IdKind::user, boss.id.value)}};
  const auto refused = admin.send("DELETE", path(self));
  expect_error(refused, 400, "self_deletion");
  EXPECT_EQ(json_of(refused)["error_type"], "SelfDeletion");
  const auto role = admin.json("PUT", path(self, "/role"), R"({"role":"user"})");
  expect_error(role, 400, "self_role_change");
  EXPECT_EQ(json_of(role)["error_type"], "SelfRoleChange");
  const auto active = admin.json("PUT", path(self, "/active"), R"({"active":false})");
  expect_error(active, 400, "self_deactivation");
  EXPECT_EQ(json_of(active)["error_type"], "SelfDeactivation");
  EXPECT_EQ(admin.get("/api/auth/me").status, 200);
}

TEST_F(Admin, DeletesUsersWithWhatTheyHave) {
  auto victim = server.user(server.fresh("victim"));
  auto session = server.as(victim);
  const auto root = server.folder_id(server.home(victim));
  EXPECT_EQ(session.send("PUT", "/api/folders/" + root + "/children/a.txt", {}, "hello").status, 201);
  const auto before = server.number("select count(*) from content_gc");
  const json target{{"id", server.ids.encode(IdKind::user, victim.id.value)}};
  EXPECT_EQ(admin.send("DELETE", path(target)).status, 200);
  EXPECT_EQ(server.number("select count(*) from content_gc"), before + 1);
  expect_error(session.get("/api/auth/me"), 401, "bad_token");
  expect_error(admin.get(path(target)), 404, "no_such_user");
  expect_error(admin.send("DELETE", path(target)), 404, "no_such_user");
  expect_error(admin.json("PUT", path(target, "/quota"), R"({"quota_bytes":1})"), 404, "no_such_user");
  expect_error(admin.get("/api/admin/users/nonsense"), 400, "bad_id");
  expect_error(admin.get("/api/admin/users/" + root), 404, "no_such_user", "an id of another kind");
}

TEST_F(Admin, TheDashboardCounts) {
  const auto shown = json_of(admin.get("/api/admin/dashboard"));
  std::set<std::string> keys;
  for (const auto& [key, value] : shown.items()) keys.insert(key);
  EXPECT_EQ(keys,
            (std::set<std::string>{"server_version", "auth_enabled", "oidc_configured", "quotas_enabled",
                                   "total_users", "active_users", "admin_users", "total_quota_bytes",
                                   "total_used_bytes", "storage_usage_percent", "users_over_80_percent",
                                   "users_over_quota", "registration_enabled"}));
  EXPECT_EQ(shown["total_users"].get<std::int64_t>(), server.number("select count(*) from users"));
  const auto general = json_of(admin.get("/api/admin/settings/general"));
  EXPECT_EQ(general["total_users"], shown["total_users"]);
  EXPECT_EQ(general["server_version"], shown["server_version"]);
}

/// Every action leaves exactly one row, with who, what and from where.
TEST(AdminAudit, EachActionIsOneRow) {
  TestServer server;
  const auto boss = server.user("boss", true);
  auto admin = server.as(boss);
  const auto made =
      json_of(admin.json("POST", "/api/admin/users", R"({"username":"alice","password":"correct horse"})"));
  const auto path = "/api/admin/users/" + made["id"].get<std::string>();
  server.sql("truncate audit");
  struct Step {
    const char *method, *rest, *body, *action;
  };
  for (const Step& step :
       {Step{"PUT", "/role", R"({"role":"admin"})", "user.role"},
        Step{"PUT", "/active", R"({"active":false})", "user.disable"},
        Step{"PUT", "/active", R"({"active":true})", "user.enable"},
        Step{"PUT", "/quota", R"({"quota_bytes":7})", "user.quota"},
        Step{"PUT", "/password", R"({"new_password":"a better one 77"})", "password.reset"},
        Step{"DELETE", "", "", "user.delete"}}) {
    const HeaderList id{{"X-Request-Id", std::string("step-") + step.action}};
    const auto answer = *step.body ? admin.json(step.method, path + step.rest, step.body, id)
                                   : admin.send(step.method, path + step.rest, id);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(server.number(std::string("select count(*) from audit where action = '") + step.action +
                            "' and subject = 'alice' and address = '127.0.0.1' and request_id = 'step-" +
                            step.action + "' and actor_id = " + std::to_string(boss.id.value)),
              1)
        << step.action;
  }
  EXPECT_EQ(server.number("select count(*) from audit"), 6);
  // The trail cannot be written: nothing happens, and the error tells nothing.
  server.sql("alter table audit add constraint closed check (action = 'nothing') not valid");
  const auto failed =
      admin.json("POST", "/api/admin/users", R"({"username":"bob","password":"correct horse"})");
  expect_error(failed, 500, "internal");
  EXPECT_EQ(failed.body.find("audit"), std::string::npos);
  EXPECT_EQ(server.number("select count(*) from users where name = 'bob'"), 0);
}

}  // namespace
}  // namespace welkin::tests
