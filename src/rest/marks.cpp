#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "rest/body.hpp"
#include "rest/icons.hpp"
#include "rest/objects.hpp"
#include "rest/query.hpp"
#include "rest/routes.hpp"
#include "rest/validators.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/favorites.hpp"
#include "welkin/wire/json.hpp"
#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr int kFavoritesListed = 500, kRecentListed = 50;  // by the routes without pages
constexpr std::size_t kBatchMax = 1'000;

/// What differs between the two lists.
struct Family {
  const char* at;  // the member with the time of the mark
  bool with_modified_at;
  std::vector<std::pair<std::string_view, files::MarkOrder>> orders;  // the first is the default
};
const Family kFavoriteFamily{"favorited_at",
                             true,
                             {{"name", files::MarkOrder::name},
                              {"type", files::MarkOrder::type},
                              {"favorited_at", files::MarkOrder::marked_at},
                              {"modified_at", files::MarkOrder::modified_at},
                              {"size", files::MarkOrder::size},
                              {"owner", files::MarkOrder::owner}}};
const Family kRecentFamily{"accessed_at",
                           false,
                           {{"accessed_at", files::MarkOrder::marked_at},
                            {"name", files::MarkOrder::name},
                            {"type", files::MarkOrder::type},
                            {"modified_at", files::MarkOrder::modified_at},
                            {"size", files::MarkOrder::size},
                            {"owner", files::MarkOrder::owner}}};

NodeId item_id(const Services& services, std::string_view type, std::string_view id) {
  if (type == "file") return file_id(services, id);
  if (type == "folder") return folder_id(services, id);
  throw Error(Errc::invalid, "bad_item_type", "The item type must be 'file' or 'folder'");
}

NodeId asked_item(const Services& services, const Request& rq) {
  return item_id(services, rq.param("type"), rq.param("id"));
}

Task<> say(Reply& rp, Status status, const char* message) {
  co_await send_json(rp, status, {{"message", message}});
}

/// The item of the older routes.
void write_item(const Services& services, const Caller& caller, wire::JsonWriter& json,
                const files::Marked& item, const Family& family) {
  const auto& node = item.node;
  const auto id = services.ids.encode(node.is_folder() ? IdKind::folder : IdKind::file, node.id.value);
  json.begin_object();
  json.field("id", id);
  json.field("user_id", services.ids.encode(IdKind::user, caller.user.value));
  json.field("item_id", id);
  json.field("item_type", node.is_folder() ? "folder" : "file");
  json.field(family.with_modified_at ? "created_at" : "accessed_at", times::rfc3339(item.at));
  json.field("item_name", shown_name(node, caller));
  json.field("item_size", node.size_bytes);
  if (!node.is_folder()) json.field("item_mime_type", node.mime_type);
  if (!node.is_root()) json.field("parent_id", services.ids.encode(IdKind::folder, node.parent.value));
  if (family.with_modified_at) json.field("modified_at", times::rfc3339(node.modified_at));
  if (node.path && !node.path->empty()) json.field("item_path", *node.path);
  json.raw(node.is_folder() ? folder_icon().json : icon_of(node.mime_type, node.name).json);
  char size[kSizeTextMax];
  json.field("size_formatted",
             node.is_folder() ? std::string_view("--") : format_size(node.size_bytes, size));
  json.end_object();
}

void write_items(const Services& services, const Caller& caller, wire::JsonWriter& json,
                 const files::MarkPage& page, const Family& family) {
  json.begin_array();
  for (const auto& item : page.items) write_item(services, caller, json, item, family);
  json.end_array();
}

template <class Door>
Task<> send_resources_of(const Services& services, Request& rq, Reply& rp, Door& door, const Family& family) {
  files::MarkQuery query;
  query.order_by = asked_order(rq, family.orders);
  query.reverse = flag_query(rq, "reverse");
  read_kinds(rq, query.folders, query.files);
  query.limit = page_limit(rq);
  query.after = rq.query("cursor").value_or("");
  const auto page = co_await door.list(rq.caller(), query);
  std::string text;
  wire::JsonWriter json(text);
  NodeWriter nodes(services.ids, rq.caller(), json);
  json.begin_object();
  json.key("items");
  json.begin_array();
  for (const auto& item : page.items) {
    json.begin_object();
    json.field("resource_type", item.node.is_folder() ? "folder" : "file");
    json.field(family.at, times::rfc3339(item.at));
    json.key("resource");
    nodes.node(item.node, item.node.path.value_or(""));
    json.end_object();
  }
  json.end_array();
  if (!page.next.empty()) json.field("next_cursor", page.next);
  json.end_object();
  co_await send_tagged(rq, rp, std::move(text));
}

/// GET /api/favorites -> [Favorite], newest first
Task<> list_favorites(const Services& services, Request& rq, Reply& rp) {
  files::MarkQuery query;
  query.limit = kFavoritesListed;
  const auto page = co_await services.files.favorites().list(rq.caller(), query);
  std::string text;
  wire::JsonWriter json(text);
  write_items(services, rq.caller(), json, page, kFavoriteFamily);
  co_await send_tagged(rq, rp, std::move(text));
}

/// GET /api/favorites/resources?order_by&reverse&resource_types&limit&cursor -> {items, next_cursor?}
Task<> favorite_resources(const Services& services, Request& rq, Reply& rp) {
  return send_resources_of(services, rq, rp, services.files.favorites(), kFavoriteFamily);
}

/// POST /api/favorites/{type}/{id} -> 201 | 400 | 404
Task<> set_favorite(const Services& services, Request& rq, Reply& rp) {
  std::vector<NodeId> items{asked_item(services, rq)};
  co_await services.files.favorites().set(rq.caller(), std::move(items));
  co_await say(rp, Status::created, "The item is a favorite");
}

/// DELETE /api/favorites/{type}/{id} -> 200 | 404: it was none
Task<> unset_favorite(const Services& services, Request& rq, Reply& rp) {
  if (!co_await services.files.favorites().unset(rq.caller(), asked_item(services, rq)))
    throw Error(Errc::not_found, "not_found", "not found");
  co_await say(rp, Status::ok, "The item is no favorite any more");
}

/// POST /api/favorites/batch {items: [{item_id, item_type}]} -> 200 {stats, favorites}; all or nothing
Task<> set_favorites(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  const auto* list = fields.raw("items");
  fields.done();
  if (list == nullptr || !list->is_array() || list->empty() || list->size() > kBatchMax)
    throw Error(Errc::invalid, "bad_items",
                "The field 'items' must be an array of 1 to " + std::to_string(kBatchMax) + " items");
  std::vector<NodeId> items;
  for (const auto& entry : *list) {
    wire::JsonObject item(entry);
    const auto id = item.string("item_id"), type = item.string("item_type");
    item.done();
    items.push_back(item_id(services, type, id));
  }
  const auto added = co_await services.files.favorites().set(rq.caller(), std::move(items));
  files::MarkQuery query;
  query.limit = kFavoritesListed;
  const auto page = co_await services.files.favorites().list(rq.caller(), query);
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  json.key("stats");
  json.begin_object();
  json.field("requested", static_cast<std::int64_t>(list->size()));
  json.field("inserted", added.inserted);
  json.field("already_existed", added.requested - added.inserted);
  json.end_object();
  json.key("favorites");
  write_items(services, rq.caller(), json, page, kFavoriteFamily);
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// GET /api/recent?limit -> [Recent], the last opened first, at most 50
Task<> list_recent(const Services& services, Request& rq, Reply& rp) {
  files::MarkQuery query;
  query.limit = std::min(page_limit(rq), kRecentListed);
  const auto page = co_await services.files.recent().list(rq.caller(), query);
  std::string text;
  wire::JsonWriter json(text);
  write_items(services, rq.caller(), json, page, kRecentFamily);
  co_await send_tagged(rq, rp, std::move(text));
}

/// GET /api/recent/resources -> {items, next_cursor?}
Task<> recent_resources(const Services& services, Request& rq, Reply& rp) {
  return send_resources_of(services, rq, rp, services.files.recent(), kRecentFamily);
}

/// POST /api/recent/{type}/{id} -> 200 | 400 | 404
Task<> touch_recent(const Services& services, Request& rq, Reply& rp) {
  co_await services.files.recent().touch(rq.caller(), asked_item(services, rq));
  co_await say(rp, Status::ok, "The item was opened");
}

/// DELETE /api/recent/{type}/{id} -> 200 | 404
Task<> remove_recent(const Services& services, Request& rq, Reply& rp) {
  if (!co_await services.files.recent().remove(rq.caller(), asked_item(services, rq)))
    throw Error(Errc::not_found, "not_found", "not found");
  co_await say(rp, Status::ok, "The item was forgotten");
}

/// DELETE /api/recent/clear -> 200
Task<> clear_recent(const Services& services, Request& rq, Reply& rp) {
  co_await services.files.recent().clear(rq.caller());
  co_await say(rp, Status::ok, "The list of recent items is empty");
}

}  // namespace

void mount_marks(Scopes& s, const Services& services) {
  const auto favorites = family_routes(s, services, "/api/favorites", "favorites", "node");
  favorites(Method::get, "", "list", "read", list_favorites);
  favorites(Method::get, "/resources", "resources", "read", favorite_resources);
  favorites(Method::post, "/batch", "set_batch", "read", set_favorites);
  favorites(Method::post, "/{type}/{id}", "set", "read", set_favorite);
  favorites(Method::del, "/{type}/{id}", "unset", "read", unset_favorite);
  const auto recent = family_routes(s, services, "/api/recent", "recent", "node");
  recent(Method::get, "", "list", "read", list_recent);
  recent(Method::get, "/resources", "resources", "read", recent_resources);
  recent(Method::post, "/{type}/{id}", "touch", "read", touch_recent);
  recent(Method::del, "/clear", "clear", "read", clear_recent);
  recent(Method::del, "/{type}/{id}", "remove", "read", remove_recent);
}

}  // namespace welkin::rest
