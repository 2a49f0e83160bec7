#include "rest/openapi.hpp"

#include <map>
#include <set>

#include "rest/api.hpp"

namespace welkin::tests {
namespace {

struct OpenApi : Api {
  nlohmann::json document = json_of(server.nobody().get("/api/openapi.json"));
};

TEST_F(OpenApi, HasEveryRouteOfTheApiAndNoOther) {
  EXPECT_EQ(document["openapi"], "3.1.0");
  std::map<std::string, std::string> told, there;
  for (const auto& [path, methods] : document["paths"].items())
    for (const auto& [method, operation] : methods.items())
      told[method + ' ' + path] = operation["operationId"];
  for (const auto& route : server.router.routes()) {
    if (!route.pattern.starts_with("/api/") && route.pattern != "/health" && route.pattern != "/ready")
      continue;
    auto path = route.pattern;
    if (const auto star = path.find("{*"); star != std::string::npos) path.erase(star + 1, 1);
    there[text::lower(http::to_string(route.method)) + ' ' + path] = route.name;
  }
  EXPECT_EQ(told, there);
  EXPECT_GT(told.size(), 100u);
}

TEST_F(OpenApi, NamesEveryParameterAndWhoMayAsk) {
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      std::set<std::string> named;
      for (const auto& parameter : operation.value("parameters", nlohmann::json::array()))
        if (parameter["in"] == "path") named.insert(parameter["name"]);
      std::set<std::string> in_path;
      for (const auto part : text::split(path, '/'))
        if (part.starts_with('{')) in_path.emplace(part.substr(1, part.size() - 2));
      EXPECT_EQ(named, in_path) << method << ' ' << path;
      EXPECT_FALSE(operation["security"].empty());
      EXPECT_TRUE(operation["responses"].contains("default"));
    }
  }
  EXPECT_EQ(document["paths"]["/api/version"]["get"]["security"], nlohmann::json::parse("[{}]"));
  EXPECT_EQ(document["paths"]["/api/files/{id}"]["get"]["security"].size(), 3u);
}

TEST_F(OpenApi, ListsParametersOfQueriesForRoutesThatThereAre) {
  std::set<std::string> names;
  for (const auto& route : server.router.routes()) names.insert(route.name);
  for (const auto& name : rest::routes_with_queries()) EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(OpenApi, NeedNotBeSentTwice) {
  const auto etag = server.nobody().get("/api/openapi.json").header("etag");
  EXPECT_EQ(server.nobody().get("/api/openapi.json", {{"If-None-Match", etag}}).status, 304);
}

}  // namespace
}  // namespace welkin::tests
