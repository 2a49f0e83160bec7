#include "rest/api.hpp"

namespace welkin::tests {
namespace {

TEST(System, TellsItsHealthToAnybody) {
  auto& server = shared_server();
  auto anybody = server.nobody();
  EXPECT_EQ(anybody.get("/health").body, R"({"status":"ok"})");
  EXPECT_EQ(anybody.get("/ready").body, R"({"db":"ok","status":"ok"})");
  const auto version = json_of(anybody.get("/api/version"));
  EXPECT_EQ(version["name"], "Welkin");
  EXPECT_FALSE(version["version"].get<std::string>().empty());
}

TEST(System, IsNotReadyWithoutDatabaseOrStore) {
  TestServer server;
  auto anybody = server.nobody();
  server.missing = "database";
  auto answer = anybody.get("/ready");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(json_of(answer)["status"], "error");
  EXPECT_EQ(json_of(answer)["db"], "error");
  server.missing = "store read-only: EIO in /srv/secret/place";
  answer = anybody.get("/ready");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(json_of(answer)["db"], "ok");
  EXPECT_EQ(answer.body.find("secret"), std::string::npos);
}

TEST(System, AnswersWhatIsNotThereInTheErrorShape) {
  auto anybody = shared_server().nobody();
  for (const char* path : {"/api", "/api/nothing", "/api/files/a/b/c/d", "/api/folders/x/children"}) {
    expect_error(anybody.get(path), 404, "no_such_route", path);
  }
  const auto wrong = anybody.send("DELETE", "/api/version");
  expect_error(wrong, 405, "method_not_allowed");
  EXPECT_NE(wrong.header("allow").find("GET"), std::string::npos);
  EXPECT_EQ(wrong.header("allow").find("DELETE"), std::string::npos);
  const auto options = anybody.send("OPTIONS", "/api/files/upload");
  EXPECT_EQ(options.status, 204);
  EXPECT_NE(options.header("allow").find("POST"), std::string::npos);
  EXPECT_FALSE(options.has("access-control-allow-origin"));
}

TEST(System, EveryRouteAnswersHeadLikeGetWithoutBody) {
  auto anybody = shared_server().nobody();
  for (const char* path : {"/health", "/api/version"}) {
    const auto get = anybody.get(path);
    const auto head = anybody.send("HEAD", path);
    EXPECT_EQ(head.status, get.status);
    EXPECT_EQ(head.header("content-length"), get.header("content-length"));
    EXPECT_EQ(head.body, "");
  }
}

TEST(System, OwnAddressesStandBelowTheBasePath) {
  TestServer server([](Config& config) { config.base_url = "http://cloud.example/drive"; });
  const auto user = server.user("alice");
  auto client = server.as(user);
  const HeaderList host = {{"Host", "cloud.example"}};
  const auto home = server.folder_id(server.home(user));
  const auto file = client.send("PUT", "/drive/api/folders/" + home + "/children/a", host, "x");
  ASSERT_EQ(file.status, 201) << file.body;
  EXPECT_EQ(file.header("location"), "/drive/api/files/" + json_of(file)["id"].get<std::string>());
  EXPECT_EQ(client.get(file.header("location"), host).body, "x");
  const auto folder = client.send("POST", "/drive/api/folders", host, R"({"name":"d"})");
  EXPECT_EQ(folder.header("location"), "/drive/api/folders/" + json_of(folder)["id"].get<std::string>());
  const auto page = client.get("/drive/webdav/d", {{"Host", "cloud.example"}, {"Accept", "text/html"}});
  EXPECT_NE(page.body.find("href=\"/drive/webdav/\""), std::string::npos) << page.body;
  expect_error(client.get("/drive/api/nothing", host), 404, "no_such_route");
}

}  // namespace
}  // namespace welkin::tests
