// GET /api/openapi.json, made from the router's own table: what it says of addresses, methods, parameters and
// who may ask cannot differ from what the server does. What bodies hold is told in docs/api.md.
#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rest/body.hpp"
#include "rest/openapi.hpp"
#include "rest/routes.hpp"
#include "rest/validators.hpp"
#include "welkin/core/text.hpp"

namespace welkin::rest {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Route;
using http::Status;
using nlohmann::json;

/// Parameters of queries, which no table of the router knows.
struct Queries {
  std::string_view route;
  std::vector<const char*> names;
};
const std::vector<Queries>& queries() {
  static const std::vector<Queries> kQueries = {
      {"folders.resources", {"limit", "cursor", "order_by", "reverse", "resource_types"}},
      {"folders.contents_paginated", {"page", "page_size"}},
      {"folders.roots_paginated", {"page", "page_size"}},
      {"folders.trash", {"permanent"}},
      {"files.list", {"folder_id"}},
      {"files.get", {"metadata", "inline"}},
      {"files.trash", {"permanent"}},
      {"files.thumbnail", {"v"}},
      {"favorites.resources", {"limit", "cursor", "order_by", "reverse", "resource_types"}},
      {"recent.list", {"limit"}},
      {"recent.resources", {"limit", "cursor", "order_by", "reverse", "resource_types"}},
      {"search.find",
       {"query", "type", "folder_id", "recursive", "content", "created_after", "created_before",
        "modified_after", "modified_before", "min_size", "max_size", "limit", "offset", "sort_by"}},
      {"search.resources",
       {"query", "type", "folder_id", "recursive", "content", "created_after", "created_before",
        "modified_after", "modified_before", "min_size", "max_size", "limit", "cursor", "order_by", "reverse",
        "resource_types"}},
      {"search.suggest", {"query", "folder_id", "limit"}},
      {"photos.list", {"before", "limit"}},
      {"photos.resources", {"limit", "cursor", "type"}},
      {"trash.resources", {"limit", "cursor", "drive_id"}},
      {"batch.get_download", {"file_ids", "folder_ids"}},
  };
  return kQueries;
}

json parameter(const std::string& name, const char* in) {
  return {{"name", name},
          {"in", in},
          {"required", std::string_view(in) == "path"},
          {"schema", {{"type", "string"}}}};
}

/// "/webdav/{*path}" is "/webdav/{path}" here.
std::string shown_path(const std::string& pattern) {
  auto path = pattern;
  for (auto at = path.find("{*"); at != std::string::npos; at = path.find("{*")) path.erase(at + 1, 1);
  return path;
}

json parameters_of(const Route& route) {
  json out = json::array();
  const auto path = shown_path(route.pattern);
  for (const auto part : text::split(path, '/'))
    if (part.size() > 2 && part.front() == '{' && part.back() == '}')
      out.push_back(parameter(std::string(part.substr(1, part.size() - 2)), "path"));
  for (const auto& query : queries())
    if (query.route == route.name)
      for (const char* name : query.names) out.push_back(parameter(name, "query"));
  return out;
}

json security_of(Access access) {
  json none = json::object(), bearer, basic, cookie;
  bearer["bearer"] = json::array();
  basic["app_password"] = json::array();
  cookie["session"] = json::array();
  if (access == Access::open) return json::array({none});
  if (access == Access::admin) return json::array({bearer, cookie});
  return json::array({bearer, basic, cookie});
}

json operation_of(const Route& route) {
  json out;
  out["operationId"] = route.name;
  out["tags"] = {route.name.substr(0, route.name.find('.'))};
  out["security"] = security_of(route.access);
  if (auto parameters = parameters_of(route); !parameters.empty()) out["parameters"] = std::move(parameters);
  out["responses"]["2XX"]["description"] = "It went well; what comes is told in docs/api.md";
  out["responses"]["default"]["$ref"] = "#/components/responses/Error";
  return out;
}

json components() {
  json error, out;
  error["type"] = "object";
  for (const char* name : {"status", "error", "message", "error_type", "slug", "request_id"}) {
    error["properties"][name]["type"] = "string";
    error["required"].push_back(name);
  }
  out["schemas"]["Error"] = error;
  out["responses"]["Error"]["description"] = "Refused; programs go by `slug`";
  out["responses"]["Error"]["content"]["application/json"]["schema"]["$ref"] = "#/components/schemas/Error";
  out["securitySchemes"]["bearer"] = {{"type", "http"}, {"scheme", "bearer"}};
  out["securitySchemes"]["app_password"] = {{"type", "http"}, {"scheme", "basic"}};
  out["securitySchemes"]["session"] = {{"type", "apiKey"}, {"in", "cookie"}, {"name", "welkin_access"}};
  return out;
}

bool is_of_the_api(const Route& route) {
  const std::string_view pattern = route.pattern;
  return pattern.starts_with("/api/") || pattern == "/health" || pattern == "/ready";
}

}  // namespace

std::vector<std::string> routes_with_queries() {
  std::vector<std::string> out;
  for (const auto& query : queries()) out.emplace_back(query.route);
  return out;
}

json openapi_of(const std::vector<Route>& routes) {
  json out;
  out["openapi"] = "3.1.0";
  out["info"] = {{"title", "Welkin"}, {"version", WELKIN_VERSION}};
  for (const auto& route : routes)
    if (is_of_the_api(route))
      out["paths"][shown_path(route.pattern)][text::lower(http::to_string(route.method))] =
          operation_of(route);
  out["components"] = components();
  return out;
}

void mount_openapi(Scopes& s, const http::Router& router) {
  struct Kept {
    std::once_flag made;
    std::string text, etag;
  };
  // Made at the first question: by then every room has added its routes.
  s.open.on({Method::get, "/api/openapi.json", "system.openapi", Access::open, "-", "-"},
            [&router, kept = std::make_shared<Kept>()](Request& rq, Reply& rp) -> Task<> {
              std::call_once(kept->made, [&] {
                kept->text = openapi_of(router.routes()).dump();
                kept->etag = listing_etag({kept->text});
              });
              if (not_modified(rq, rp, kept->etag)) return rp.send(Status::not_modified);
              return send_json_text(rp, Status::ok, kept->text);
            });
}

}  // namespace welkin::rest
