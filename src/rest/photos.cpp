#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "rest/body.hpp"
#include "rest/objects.hpp"
#include "rest/query.hpp"
#include "rest/routes.hpp"
#include "rest/validators.hpp"
#include "welkin/files/photos.hpp"
#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;

void write_photo(NodeWriter& nodes, const files::Photo& photo) {
  nodes.node(photo.node, photo.node.path.value_or(""),
             "\"sort_date\":" + std::to_string(times::seconds(photo.taken_at)));
}

/// GET /api/photos?before&limit -> [File with sort_date], the latest first; X-Next-Cursor is the last
/// sort_date
Task<> list(const Services& services, Request& rq, Reply& rp) {
  files::PhotoQuery query;
  if (const auto before = signed_query(rq, "before")) {
    constexpr std::int64_t kFar = 253'402'300'799;  // the year 9999
    query.before = std::clamp(*before, -kFar, kFar) * 1'000'000;
  }
  query.limit = static_cast<int>(std::clamp<std::uint64_t>(number_query(rq, "limit", 200), 1, 500));
  const auto page = co_await services.files.photos().list(rq.caller(), query);
  std::string text;
  wire::JsonWriter json(text);
  NodeWriter nodes(services.ids, rq.caller(), json);
  json.begin_array();
  for (const auto& photo : page.items) write_photo(nodes, photo);
  json.end_array();
  if (!page.items.empty())
    rp.set("X-Next-Cursor", std::to_string(times::seconds(page.items.back().taken_at)));
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// GET /api/photos/resources?limit&cursor&type -> {items: [{resource_type, sort_date, resource}],
/// next_cursor?}
Task<> resources(const Services& services, Request& rq, Reply& rp) {
  files::PhotoQuery query;
  query.limit = page_limit(rq);
  query.after = rq.query("cursor").value_or("");
  if (const auto type = rq.query("type"); type && !type->empty()) {
    query.pictures = *type == "image";
    query.videos = *type == "video";
    if (!query.pictures && !query.videos) bad_query("type", "image or video");
  }
  const auto page = co_await services.files.photos().list(rq.caller(), query);
  std::string text;
  wire::JsonWriter json(text);
  NodeWriter nodes(services.ids, rq.caller(), json);
  json.begin_object();
  json.key("items");
  json.begin_array();
  for (const auto& photo : page.items) {
    json.begin_object();
    json.field("resource_type", "file");
    json.field("sort_date", times::seconds(photo.taken_at));
    json.key("resource");
    write_photo(nodes, photo);
    json.end_object();
  }
  json.end_array();
  if (!page.next.empty()) json.field("next_cursor", page.next);
  json.end_object();
  co_await send_tagged(rq, rp, std::move(text));
}

/// GET /api/photos/months -> {total, months: [{month: "2026-05", count}]}, the latest first
Task<> months(const Services& services, Request& rq, Reply& rp) {
  const auto found = co_await services.files.photos().months(rq.caller());
  std::string text;
  wire::JsonWriter json(text);
  std::int64_t total = 0;
  for (const auto& month : found) total += month.count;
  json.begin_object();
  json.field("total", total);
  json.key("months");
  json.begin_array();
  for (const auto& month : found) {
    json.begin_object();
    json.field("month", month.month);
    json.field("count", month.count);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// GET /api/files/{id}/metadata -> what the picture says of itself, or {file_id, message}
Task<> metadata(const Services& services, Request& rq, Reply& rp) {
  const auto facts = co_await services.files.photos().facts(rq.caller(), file_id(services, rq.param("id")));
  nlohmann::json out{{"file_id", rq.param("id")}};
  if (facts) {
    out["captured_at"] =
        facts->taken_at ? nlohmann::json(times::seconds(*facts->taken_at)) : nlohmann::json(nullptr);
    out["latitude"] = or_null(facts->latitude);
    out["longitude"] = or_null(facts->longitude);
    out["camera_make"] = or_null(facts->make);
    out["camera_model"] = or_null(facts->model);
    out["orientation"] = or_null(facts->orientation);
    out["width"] = or_null(facts->width);
    out["height"] = or_null(facts->height);
  } else {
    out["message"] = "Nothing is known of this file, or it has not been read yet";
  }
  co_await send_json(rp, Status::ok, out);
}

}  // namespace

void mount_photos(Scopes& s, const Services& services) {
  const auto photos = family_routes(s, services, "/api/photos", "photos", "node");
  photos(Method::get, "", "list", "read", list);
  photos(Method::get, "/resources", "resources", "read", resources);
  photos(Method::get, "/months", "months", "read", months);
  const auto files = family_routes(s, services, "/api/files", "files", "file");
  files(Method::get, "/{id}/metadata", "metadata", "read", metadata);
}

}  // namespace welkin::rest
