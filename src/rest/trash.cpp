#include "welkin/files/trash.hpp"

#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/icons.hpp"
#include "rest/objects.hpp"
#include "rest/routes.hpp"
#include "rest/upload.hpp"
#include "welkin/core/error.hpp"
#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr int kWalkPage = 500;
constexpr Micros kDayMicros = 86'400'000'000;

IdKind kind_of(const files::Trashed& item) {
  return item.kind == files::Kind::folder ? IdKind::folder : IdKind::file;
}

DriveId drive_id(const Services& services, std::string_view text) {
  const auto key = services.ids.decode(IdKind::drive, text);
  if (!key) throw Error(Errc::not_found, "not_found", "not found");
  return DriveId{*key};
}

/// Rounded up: an item that ends within the day shows 1, one the job is late with 0.
std::int64_t days_left(const Services& services, const files::Trashed& item) {
  const Micros left = services.files.trash_bin().expiry(item) - services.clock.now();
  return left <= 0 ? 0 : (left + kDayMicros - 1) / kDayMicros;
}

void write_icons(wire::JsonWriter& json, const files::Trashed& item) {
  json.raw(item.kind == files::Kind::folder ? folder_icon().json : icon_of(item.mime_type, item.name).json);
}

/// The item of the older route.
void write_item(const Services& services, wire::JsonWriter& json, const files::Trashed& item) {
  const auto id = services.ids.encode(kind_of(item), item.id.value);
  json.begin_object();
  json.field("id", id);
  json.field("original_id", id);
  json.field("item_type", item.kind == files::Kind::folder ? "folder" : "file");
  json.field("name", item.name);
  json.field("original_path", item.original_path);
  json.field("size", item.size_bytes);
  json.field("trashed_at", times::rfc3339(item.trashed_at));
  json.field("days_until_deletion", days_left(services, item));
  write_icons(json, item);
  json.end_object();
}

/// The item of the cursor listing.
void write_resource(const Services& services, wire::JsonWriter& json, const files::Trashed& item) {
  const bool folder = item.kind == files::Kind::folder;
  json.begin_object();
  json.field("resource_type", folder ? "folder" : "file");
  json.field("trashed_at", times::rfc3339(item.trashed_at));
  json.field("days_until_deletion", days_left(services, item));
  json.field("original_path", item.original_path);
  if (item.trashed_by) json.field("trashed_by", services.ids.encode(IdKind::user, item.trashed_by.value));
  json.key("resource");
  json.begin_object();
  json.field("id", services.ids.encode(kind_of(item), item.id.value));
  json.field("name", item.name);
  json.field("path", item.original_path);
  json.field("size", item.size_bytes);
  if (!folder) json.field("mime_type", item.mime_type);
  json.field("drive_id", services.ids.encode(IdKind::drive, item.drive.value));
  json.field("modified_at", times::seconds(item.modified_at));
  write_icons(json, item);
  json.end_object();
  json.end_object();
}

/// GET /api/trash -> [Item], newest first, all of them, page by page.
Task<> list(const Services& services, Request& rq, Reply& rp) {
  auto page = co_await services.files.trash_bin().list(rq.caller(), {}, "", kWalkPage);
  std::string text;
  wire::JsonWriter json(text);
  json.begin_array();
  for (const auto& item : page.items) write_item(services, json, item);
  if (page.next.empty()) {
    json.end_array();
    co_await send_json_text(rp, Status::ok, std::move(text));
    co_return;
  }
  co_await rp.begin(Status::ok, "application/json", std::nullopt, true);
  if (rq.method() != Method::head) {
    while (!page.next.empty()) {
      co_await rp.write(text);
      text.clear();
      page = co_await services.files.trash_bin().list(rq.caller(), {}, page.next, kWalkPage);
      for (const auto& item : page.items) write_item(services, json, item);
    }
    json.end_array();
    co_await rp.write(text);
  }
  co_await rp.end();
}

/// GET /api/trash/resources?limit&cursor&drive_id -> {items, next_cursor?}
Task<> resources(const Services& services, Request& rq, Reply& rp) {
  const int limit = page_limit(rq);
  DriveId drive;
  if (const auto value = rq.query("drive_id")) drive = drive_id(services, *value);
  const auto page =
      co_await services.files.trash_bin().list(rq.caller(), drive, rq.query("cursor").value_or(""), limit);
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  json.key("items");
  json.begin_array();
  for (const auto& item : page.items) write_resource(services, json, item);
  json.end_array();
  if (!page.next.empty()) json.field("next_cursor", page.next);
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

Task<> done(Reply& rp, const char* message, nlohmann::json more = nlohmann::json::object()) {
  more["success"] = true;
  more["message"] = message;
  co_await send_json(rp, Status::ok, more);
}

/// POST /api/trash/{id}/restore -> 200 {success, message, resource_type, id, name, path} | 404 | 403 | 423
Task<> restore(const Services& services, Request& rq, Reply& rp) {
  const auto node =
      co_await services.files.trash_bin().restore(rq.caller(), any_id(services, rq.param("id")));
  nlohmann::json more;
  more["resource_type"] = node.is_folder() ? "folder" : "file";
  more["id"] = services.ids.encode(node.is_folder() ? IdKind::folder : IdKind::file, node.id.value);
  more["name"] = node.name;
  more["path"] = node.path.value_or("");
  co_await done(rp, "The item was restored", std::move(more));
}

/// DELETE /api/trash/{id} -> 200, for good
Task<> purge(const Services& services, Request& rq, Reply& rp) {
  co_await services.files.trash_bin().purge(rq.caller(), any_id(services, rq.param("id")));
  co_await done(rp, "The item was deleted permanently");
}

/// DELETE /api/trash/empty -> 200: the caller's own drive
Task<> empty(const Services& services, Request& rq, Reply& rp) {
  const auto count = co_await services.files.trash_bin().empty(rq.caller());
  co_await done(rp, "The trash was emptied", {{"items", count}});
}

/// DELETE /api/trash/drive/{id} -> 200
Task<> empty_drive(const Services& services, Request& rq, Reply& rp) {
  const auto count =
      co_await services.files.trash_bin().empty(rq.caller(), drive_id(services, rq.param("id")));
  co_await done(rp, "The trash was emptied", {{"items", count}});
}

/// DELETE /api/trash/files/{id}, /folders/{id} -> 200, into the trash
Task<> trash_file(const Services& services, Request& rq, Reply& rp) {
  co_await services.files.trash(rq.caller(), file_id(services, rq.param("id")), expectation(rq.headers()));
  co_await done(rp, "The file was moved to the trash");
}
Task<> trash_folder(const Services& services, Request& rq, Reply& rp) {
  co_await services.files.trash(rq.caller(), folder_id(services, rq.param("id")), expectation(rq.headers()));
  co_await done(rp, "The folder was moved to the trash");
}

}  // namespace

void mount_trash(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/trash", "trash", "node");
  on(Method::get, "", "list", "read", list);
  on(Method::get, "/resources", "resources", "read", resources);
  on(Method::post, "/{id}/restore", "restore", "delete", restore);
  on(Method::del, "/{id}", "purge", "delete", purge);
  on(Method::del, "/empty", "empty", "delete", empty);
  on(Method::del, "/drive/{id}", "empty_drive", "delete", empty_drive);
  on(Method::del, "/files/{id}", "trash_file", "delete", trash_file);
  on(Method::del, "/folders/{id}", "trash_folder", "delete", trash_folder);
}

}  // namespace welkin::rest
