#include <algorithm>
#include <nlohmann/json.hpp>

#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/favorites.hpp"

// What clients ask of apps. Of most this server has nothing to say: then the right empty answers, since a
// client that expects a list and gets an error shows it.
namespace welkin::nextcloud {
namespace {

Task<> empty_list(Call& call) { return answer(call, Json::array()); }
Task<> empty_map(Call& call) { return answer(call, Json::object()); }
Task<> nothing_such(Call& /*call*/) { throw Error(Errc::not_found, "not_found", "There is no such thing"); }

/// GET /core/navigation/apps: the entries of a menu.
Task<> navigation(Call& call) {
  const auto base = call.rq.base_url();
  const Json data = {{{"id", "files"},
                      {"order", 0},
                      {"href", base + "/"},
                      {"icon", base + "/index.php/apps/theming/image/logo"},
                      {"type", "link"},
                      {"name", "Files"},
                      {"active", false},
                      {"classes", ""},
                      {"unread", 0}}};
  co_await answer_tagged(call, data);
}

Task<> notifications(Call& call) {
  call.rp.set("X-Nextcloud-User-Status", "online");
  return answer_tagged(call, Json::array());
}

/// GET /apps/activity/api/v2/activity[/{filter}]: nothing is kept that could be told, which is the end of
/// every list.
Task<> activity(Call& call) {
  const auto segments = call.rq.segments();
  const auto& filter = segments.back();
  constexpr std::string_view filters[] = {"activity", "all", "self", "by", "filter", "files"};
  if (std::find(std::begin(filters), std::end(filters), filter) == std::end(filters))
    throw Error(Errc::not_found, "no_such_filter", "There is no such filter");
  call.rp.set("X-Activity-Last-Given", call.rq.query("since").value_or("0"));
  call.rp.set("X-Activity-First-Known", "0");
  co_await call.rp.send(http::Status::not_modified);
}

/// GET /apps/files_sharing/api/v1/shares: of a path, or of everything. Nothing is shared by links or with
/// people here.
Task<> shares(Call& call) {
  if (const auto path = call.rq.query("path")) {
    std::vector<std::string> names;
    for (const auto name : text::split(*path, '/'))
      if (!name.empty()) names.emplace_back(name);
    const auto node = co_await call.services.files.by_path(call.rq.caller(), std::move(names));
    if (call.rq.query("subfiles") == "true" && !node.is_folder())
      throw Error(Errc::invalid, "not_a_folder", "The path is not a folder");
  }
  co_await answer(call, Json::array());
}

Json recipients() {
  Json out = Json::object();
  for (const char* kind : {"users", "groups", "remotes", "remote_groups", "emails", "circles", "rooms"})
    out[kind] = Json::array();
  return out;
}

/// GET /apps/files_sharing/api/v1/sharees[_recommended]
Task<> sharees(Call& call) {
  if (call.rq.query("itemType").value_or("").empty())
    throw Error(Errc::invalid, "bad_parameter", "Missing itemType");
  Json data{{"exact", recipients()}};
  data.update(recipients());
  data["lookup"] = Json::array();
  data["lookupEnabled"] = false;
  co_await answer(call, data);
}

Json recommendation_of(const Services& services, const files::Marked& item) {
  const auto& node = item.node;
  const auto path = node.path.value_or("");
  const auto folder = path.substr(0, std::min(path.rfind('/'), path.size()));
  const auto dot = node.name.rfind('.');
  return {{"id", std::to_string(node.id.value)},
          {"timestamp", times::seconds(item.at)},
          {"name", dot == std::string::npos || dot == 0 ? node.name : node.name.substr(0, dot)},
          {"directory", folder.empty() ? "/" : folder},
          {"extension", dot == std::string::npos || dot == 0 ? "" : node.name.substr(dot)},
          {"mimeType", node.mime_type},
          {"hasPreview", services.thumbnails.makes_of(node.mime_type)},
          {"reason", "recently-edited"}};
}

/// GET /apps/recommendations/api/v1/recommendations: what the caller has opened last.
Task<> recommendations(Call& call) {
  files::MarkQuery query;
  query.folders = false;
  query.limit = 7;
  const auto page = co_await call.services.files.recent().list(call.rq.caller(), std::move(query));
  Json items = Json::array();
  for (const auto& item : page.items) items.push_back(recommendation_of(call.services, item));
  co_await answer(call, Json{{"enabled", true}, {"recommendations", std::move(items)}});
}

struct Empty {
  http::Method method;
  const char* path;
  const char* name;
  const char* resource;
  const char* action;
  Task<> (*handler)(Call&);
};
using http::Method;
constexpr Empty kRoutes[] = {
    {Method::get, "/core/navigation/apps", "navigation", "account", "read", navigation},
    {Method::get, "/apps/notifications/api/v2/notifications", "notifications", "notification", "read",
     notifications},
    {Method::del, "/apps/notifications/api/v2/notifications", "notifications.clear", "notification", "delete",
     empty_list},
    {Method::get, "/apps/notifications/api/v2/notifications/{id}", "notification", "notification", "read",
     nothing_such},
    {Method::del, "/apps/notifications/api/v2/notifications/{id}", "notification.delete", "notification",
     "delete", nothing_such},
    {Method::post, "/apps/notifications/api/v2/notifications/exists", "notifications.exist", "notification",
     "read", empty_list},
    {Method::get, "/apps/activity/api/v2/activity", "activity", "activity", "read", activity},
    {Method::get, "/apps/activity/api/v2/activity/{filter}", "activity.filtered", "activity", "read",
     activity},
    {Method::get, "/apps/activity/api/v2/activity/filters", "activity.filters", "activity", "read",
     empty_list},
    {Method::get, "/apps/dashboard/api/v1/widgets", "dashboard", "account", "read", empty_map},
    {Method::get, "/apps/dashboard/api/v1/widget-items", "dashboard.items", "account", "read", empty_map},
    {Method::get, "/apps/recommendations/api/v1/recommendations", "recommendations", "account", "read",
     recommendations},
    {Method::get, "/apps/files_sharing/api/v1/shares", "shares", "share", "read", shares},
    {Method::get, "/apps/files_sharing/api/v1/shares/{id}", "share", "share", "read", nothing_such},
    {Method::get, "/apps/files_sharing/api/v1/shares/inherited", "shares.inherited", "share", "read", shares},
    {Method::get, "/apps/files_sharing/api/v1/shares/pending", "shares.pending", "share", "read", empty_list},
    {Method::get, "/apps/files_sharing/api/v1/deletedshares", "shares.deleted", "share", "read", empty_list},
    {Method::get, "/apps/files_sharing/api/v1/remote_shares", "shares.remote", "share", "read", empty_list},
    {Method::get, "/apps/files_sharing/api/v1/remote_shares/pending", "shares.remote_pending", "share",
     "read", empty_list},
    {Method::get, "/apps/files_sharing/api/v1/sharees", "sharees", "share", "read", sharees},
    {Method::get, "/apps/files_sharing/api/v1/sharees_recommended", "sharees.recommended", "share", "read",
     sharees},
};

}  // namespace

void mount_apps(OcsRoutes& ocs) {
  for (const auto& route : kRoutes)
    ocs.user(route.method, route.path, route.name, route.resource, route.action, route.handler);
}

}  // namespace welkin::nextcloud
