#include "rest/api.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct BadInput : Api {
  std::string folder = make_folder(root_id, "d");
  std::string file = put(root_id, "f", "body")["id"];

  struct JsonRoute {
    std::string method, path, good;
  };
  std::vector<JsonRoute> json_routes() {
    return {{"POST", "/api/folders", R"({"name":"x"})"},
            {"PUT", "/api/folders/" + folder + "/rename", R"({"name":"x"})"},
            {"PUT", "/api/folders/" + folder + "/move", R"({"parent_id":null})"},
            {"PUT", "/api/files/" + file + "/rename", R"({"name":"x"})"},
            {"PUT", "/api/files/" + file + "/move", R"({"folder_id":null})"}};
  }
};

TEST_F(BadInput, NoJsonRouteTakesWhatIsNoJson) {
  for (const auto& route : json_routes()) {
    const auto send = [&](const std::string& body, const char* type = "application/json") {
      return api.send(route.method, route.path, {{"Content-Type", type}}, body);
    };
    for (const std::string& body :
         {std::string(), std::string("{"), route.good + "x", std::string("{\"name\":\"\xff\"}"),
          std::string("{\"name\":\"a\",\"name\":\"b\"}"), std::string(1000, '['),
          std::string("{\"name\":NaN}"), std::string("{\"name\":\"\\ud800\"}")}) {
      expect_error(send(body), 400, "bad_json", route.path + " " + body.substr(0, 40));
    }
    for (const char* body : {"[]", "\"name\"", "7", "null", "true"})
      expect_error(send(body), 422, "bad_field", body);
    const bool blank_name = route.path == "/api/files/" + file + "/rename";  // the contract's own answer
    expect_error(send("{}"), blank_name ? 400 : 422, blank_name ? "bad_name" : "missing_field", route.path);
    auto extra = json::parse(route.good);
    extra["owner_id"] = "someone";
    expect_error(send(extra.dump()), 422, "unknown_field", route.path);
    expect_error(send(route.good, "text/plain"), 415, "not_json", route.path);
    expect_error(send(route.good, "application/jsonx"), 415, "not_json", route.path);
    const std::string huge = "{\"name\":\"" + std::string(2 << 20, 'x') + "\"}";
    expect_error(
        server.as(alice).send(route.method, route.path, {{"Content-Type", "application/json"}}, huge), 413,
        "body_too_large", route.path);
  }
  EXPECT_EQ(names_in(root_id), (std::vector<std::string>{"d", "f"})) << "nothing of this changed anything";
}

TEST_F(BadInput, IdsThatAreNoIds) {
  const std::string good = folder;
  std::string upper = good;
  for (auto& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(api.get("/api/folders/" + upper).status, 200);
  const std::vector<std::string> bad_syntax = {"1",
                                               "0",
                                               "-1",
                                               "null",
                                               good.substr(1),
                                               good + "0",
                                               "{" + good + "}",
                                               std::string(36, 'g'),
                                               std::string(36, '-'),
                                               std::string(5000, 'a'),
                                               "00000000000000000000000000000000",
                                               "%27%20or%201=1%20--",
                                               "é"};
  std::vector<std::string> not_there = {"00000000-0000-0000-0000-000000000000",
                                        "ffffffff-ffff-ffff-ffff-ffffffffffff",
                                        server.ids.encode(IdKind::user, alice.id.value),
                                        server.ids.encode(IdKind::folder, INT64_MAX),
                                        server.ids.encode(IdKind::folder, 0),
                                        server.ids.encode(IdKind::folder, -1),
                                        file};
  for (const char* rest : {"", "/contents", "/contents/paginated", "/listing", "/resources", "/ancestors"}) {
    for (const auto& id : bad_syntax)
      expect_error(api.get("/api/folders/" + id + rest), 400, "bad_id", id + rest);
    for (const auto& id : not_there)
      expect_error(api.get("/api/folders/" + id + rest), 404, "not_found", id + rest);
  }
  not_there.back() = folder;
  not_there[3] = server.ids.encode(IdKind::file, INT64_MAX);
  for (const auto& id : bad_syntax) {
    expect_error(api.get("/api/files/" + id), 400, "bad_id", id);
    expect_error(api.send("DELETE", "/api/files/" + id), 400, "bad_id", id);
    expect_error(api.send("PUT", "/api/files/" + id + "/content", {}, "x"), 400, "bad_id", id);
    expect_error(api.send("DELETE", "/api/folders/" + id), 400, "bad_id", id);
    expect_error(api.json("PUT", "/api/files/" + id + "/rename", R"({"name":"x"})"), 400, "bad_id", id);
  }
  for (const auto& id : not_there) {
    expect_error(api.get("/api/files/" + id), 404, "not_found", id);
    expect_error(api.send("DELETE", "/api/files/" + id), 404, "not_found", id);
    expect_error(api.send("PUT", "/api/files/" + id + "/content", {}, "x"), 404, "not_found", id);
  }
}

TEST_F(BadInput, NamesInPathsThatAreNoNames) {
  const std::string base = "/api/folders/" + folder + "/children/";
  for (const char* name : {"a%2Fb", "a%2fb", "%00", "a%00b", "..", "%2e%2e", ".", "%2E", "%ff", "%c0%af",
                           "%ed%a0%80", "%zz", "%4", "a%0d%0ab", "a%5Cb", "%7f", "%c2%85"}) {
    const auto answer = api.send("PUT", base + name, {}, "x");
    EXPECT_EQ(answer.status, 400) << name << ' ' << answer.body;
  }
  EXPECT_EQ(api.send("PUT", base + std::string(256, 'n'), {}, "x").status, 400);
  EXPECT_EQ(api.send("PUT", base + "%252e%252e", {}, "x").status, 201)
      << "decoded once, this is a plain name";
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"%2e%2e"});
}

TEST_F(BadInput, NobodyGetsIn) {
  auto nobody = server.nobody();
  ApiClient forged(server.port(), "Bearer " + alice.token + "x"), empty(server.port(), "Bearer "),
      account(server.port(), basic(alice.name, alice.password));
  for (ApiClient* who : {&nobody, &forged, &empty, &account}) {
    for (const auto& route : json_routes()) {
      EXPECT_EQ(who->json(route.method, route.path, route.good).status, 401) << route.path;
    }
    for (const std::string& path :
         std::vector<std::string>{"/api/folders", "/api/files", "/api/files/" + file}) {
      const auto answer = who->get(path);
      EXPECT_EQ(answer.status, 401) << path;
      EXPECT_EQ(json_of(answer)["status"], "401 Unauthorized") << answer.body;
      EXPECT_EQ(who->send("DELETE", "/api/folders/" + folder).status, 401);
    }
    EXPECT_EQ(who->send("PUT", child(folder, "x"), {}, "x").status, 401);
  }
  EXPECT_EQ(names_in(root_id), (std::vector<std::string>{"d", "f"}));
}

TEST_F(BadInput, AnOversizeUploadIsRefusedByItsLength) {
  TestServer small([](Config& config) { config.upload_bytes_max = 1000; });
  const auto user = small.user("alice");
  auto client = small.as(user);
  const auto home = small.folder_id(small.home(user));
  expect_error(client.send("PUT", child(home, "big"), {}, std::string(1001, 'x')), 413, "body_too_large");
  EXPECT_EQ(small.as(user).send("PUT", child(home, "fits"), {}, std::string(1000, 'x')).status, 201);
  const std::string form = "--X\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n" +
                           std::string(2000, 'x') + "\r\n--X--\r\n";
  expect_error(small.as(user).send("POST", "/api/files/upload",
                                   {{"Content-Type", "multipart/form-data; boundary=X"}}, form),
               413, "body_too_large");
  EXPECT_EQ(json_of(small.as(user).get("/api/files")).size(), 1u);
}

}  // namespace
}  // namespace welkin::tests
