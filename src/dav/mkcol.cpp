#include "dav/mkcol.hpp"

#include <optional>

#include "dav/property_update.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/upload_headers.hpp"

namespace welkin::dav {
namespace {

[[noreturn]] void refuse_taken(Change& change) {
  change.rp.set("Allow", allowed_methods(change.at));
  throw Error(Errc::method_not_allowed, "resource_must_be_null", "There is something of that name already");
}

/// RFC 5689. nullopt: no body, a plain MKCOL.
Task<std::optional<PropertyUpdate>> read_body(http::Request& rq) {
  if (!rq.has_body()) co_return std::nullopt;
  const auto type =
      text::lower(text::trim(rq.header("content-type").substr(0, rq.header("content-type").find(';'))));
  if (type != "application/xml" && type != "text/xml") {
    if ((co_await rq.read()).empty()) co_return std::nullopt;
    throw Error(Errc::unsupported_media_type, "mkcol_body", "MKCOL takes no such body");
  }
  auto body = co_await read_xml(rq);
  if (!body) co_return std::nullopt;
  co_return read_mkcol(std::move(*body));
}

Task<> answer_refused(Change& change, const PropertyUpdate& update) {
  auto status = http::Status::failed_dependency;
  for (const auto& one : update.named) {
    if (one.status != 424) status = static_cast<http::Status>(one.status);
  }
  std::string text;
  wire::begin_dav_document(text, "mkcol-response", kNamespaces);
  wire::Multistatus out(text);
  update.write(out);
  text += "</d:mkcol-response>";
  co_await change.rp.send(status, "application/xml; charset=utf-8", std::move(text));
}

/// With the properties that are wanted, or not at all. nullopt: there was no room for them.
Task<std::optional<files::Node>> make(Change& change, NodeId parent, PropertyUpdate* update) {
  auto& files = change.services.files;
  const bool bare = update == nullptr || !update->changes_anything();
  if (bare)
    co_return co_await files.create_folder(change.rq.caller(), parent, change.at.name,
                                           change.submitted.tokens);
  update->patch.lock_tokens = change.submitted.tokens;
  try {
    co_return co_await files.properties().create_folder(change.rq.caller(), parent, change.at.name,
                                                        update->patch);
  } catch (const Error& e) {
    if (e.code() != Errc::quota_exceeded) throw;
    update->fail_last(507, no_room(e));
  }
  co_return std::nullopt;
}

}  // namespace

Task<> mkcol(Change& change) {
  if (change.at.node || change.is_root()) refuse_taken(change);
  const auto& parent = change.require_parent();
  auto update = co_await read_body(change.rq);
  const auto modified_at = http::client_mtime(change.rq.headers());
  if (modified_at) {
    if (!update) update.emplace();
    update->patch.modified_at = modified_at;
  }
  co_await change.require_conditions();
  change.touch_target(false, false);
  if (update && update->fails) {
    co_await answer_refused(change, *update);
    co_return;
  }
  bool taken = false;
  std::optional<files::Node> made;
  try {
    made = co_await make(change, parent.id, update ? &*update : nullptr);
  } catch (const Error& e) {
    if (e.code() != Errc::conflict) throw;
    taken = true;
  }
  if (taken) refuse_taken(change);
  if (!made) {
    co_await answer_refused(change, *update);
    co_return;
  }
  if (modified_at) change.rp.set("X-OC-MTime", "accepted");
  if (change.services.tree.for_nextcloud) set_written(change, *made);
  co_await change.rp.send(http::Status::created);
}

}  // namespace welkin::dav
