#include "welkin/files/versions.hpp"

#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/icons.hpp"
#include "rest/objects.hpp"
#include "rest/routes.hpp"
#include "rest/upload.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/body.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;

VersionId version_id(const Services& services, std::string_view text) {
  const auto key = services.ids.decode(IdKind::version, text);
  if (!key) throw Error(Errc::not_found, "not_found", "not found");
  return VersionId{*key};
}

nlohmann::json version_json(const Services& services, const files::Version& v) {
  char size[kSizeTextMax];
  nlohmann::json out{
      {"id", services.ids.encode(IdKind::version, v.id.value)},
      {"size", v.size_bytes},
      {"size_formatted", format_size(v.size_bytes, size)},
      {"mime_type", v.mime_type},
      {"modified_at", times::seconds(v.modified_at)},
      {"replaced_at", times::seconds(v.replaced_at)},
      {"label", v.label.empty() ? nlohmann::json() : nlohmann::json(v.label)},
  };
  if (v.author) out["created_by"] = services.ids.encode(IdKind::user, v.author.value);
  if (v.sha256) out["content_hash"] = text::hex(std::as_bytes(std::span(*v.sha256)));
  return out;
}

/// GET /api/files/{id}/versions?limit&cursor -> {items: [Version], next_cursor?}, newest first
Task<> list(const Services& services, Request& rq, Reply& rp) {
  const int limit = page_limit(rq);
  VersionId before;
  if (const auto cursor = rq.query("cursor"); cursor && !cursor->empty())
    before = version_id(services, *cursor);
  const auto page =
      co_await services.files.versions().list(rq.caller(), file_id(services, rq.param("id")), before, limit);
  nlohmann::json out{{"items", nlohmann::json::array()}};
  for (const auto& v : page.items) out["items"].push_back(version_json(services, v));
  if (page.next) out["next_cursor"] = services.ids.encode(IdKind::version, page.next.value);
  co_await send_json(rp, Status::ok, out);
}

Task<> get(const Services& services, Request& rq, Reply& rp) {
  const auto opened = co_await services.files.versions().open(rq.caller(), file_id(services, rq.param("id")),
                                                              version_id(services, rq.param("version")));
  co_await send_json(rp, Status::ok, version_json(services, opened.version));
}

/// GET .../content: the bytes. A version never changes, so its id is its tag.
Task<> content(const Services& services, Request& rq, Reply& rp) {
  const auto opened = co_await services.files.versions().open(rq.caller(), file_id(services, rq.param("id")),
                                                              version_id(services, rq.param("version")));
  http::UserBody body;
  body.name = opened.node.name;
  body.mime_type = opened.version.mime_type;
  body.etag = '"' + services.ids.encode(IdKind::version, opened.version.id.value) + '"';
  body.last_modified = opened.version.modified_at;
  body.size_bytes = opened.version.size_bytes;
  body.inline_asked = rq.query("inline").has_value();
  body.feed = [&](Slice slice, ByteSink& out) { return services.files.versions().send(opened, slice, out); };
  co_await http::serve_body(rq, rp, body);
}

/// POST .../restore -> 200 File; If-Match speaks of the present file
Task<> restore(const Services& services, Request& rq, Reply& rp) {
  const auto node = co_await services.files.versions().restore(rq.caller(), file_id(services, rq.param("id")),
                                                               version_id(services, rq.param("version")),
                                                               expectation(rq.headers()));
  rp.set("ETag", quoted_etag(node));
  co_await send_json_text(rp, Status::ok, co_await node_json(services, rq.caller(), node));
}

/// PUT .../{v} {label: text|null} -> 200 Version
Task<> label(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  if (!fields.has("label")) throw Error(Errc::unprocessable, "missing_field", "The field 'label' is missing");
  const auto text = fields.opt_string("label");
  fields.done();
  const auto version = co_await services.files.versions().label(
      rq.caller(), file_id(services, rq.param("id")), version_id(services, rq.param("version")),
      std::string(text::trim(text.value_or(""))));
  co_await send_json(rp, Status::ok, version_json(services, version));
}

Task<> remove(const Services& services, Request& rq, Reply& rp) {
  co_await services.files.versions().remove(rq.caller(), file_id(services, rq.param("id")),
                                            version_id(services, rq.param("version")));
  co_await rp.send(Status::no_content);
}

}  // namespace

void mount_versions(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/files/{id}/versions", "versions", "file");
  on(Method::get, "", "list", "update", list);
  on(Method::get, "/{version}", "get", "update", get);
  on(Method::put, "/{version}", "label", "update", label);
  on(Method::del, "/{version}", "remove", "delete", remove);
  on(Method::get, "/{version}/content", "content", "update", content);
  on(Method::post, "/{version}/restore", "restore", "update", restore);
}

}  // namespace welkin::rest
