#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/objects.hpp"
#include "rest/routes.hpp"
#include "rest/validators.hpp"
#include "welkin/core/error.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/media/thumbnails.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using media::Thumbnail;
using media::ThumbnailSize;

ThumbnailSize asked_size(const Request& rq) {
  const auto& size = rq.param("size");
  if (size == "icon") return ThumbnailSize::icon;
  if (size == "preview") return ThumbnailSize::preview;
  if (size == "large") return ThumbnailSize::large;
  throw Error(Errc::invalid, "bad_size", "The size must be icon, preview or large");
}

/// GET /api/files/{id}/thumbnail/{size}?v -> 200 image/jpeg | 304 | 204: there is none, or not yet
/// (Retry-After). With `v`, the file's etag, the address is that of one content for ever.
Task<> get_thumbnail(const Services& services, Request& rq, Reply& rp) {
  const auto size = asked_size(rq);
  auto found =
      co_await services.thumbnails.find_or_make(rq.caller(), file_id(services, rq.param("id")), size);
  if (found.state != Thumbnail::State::ready) {
    rp.set("Cache-Control", "no-store");
    if (found.state == Thumbnail::State::pending) rp.set("Retry-After", "1");
    co_await rp.send(Status::no_content);
    co_return;
  }
  const bool same = not_modified(rq, rp, "\"thumb-" + found.tag + "-" + rq.param("size") + "\"");
  if (rq.query("v") == found.tag) rp.set("Cache-Control", "private, max-age=31536000, immutable");
  if (same) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  co_await rp.send(Status::ok, "image/jpeg", std::move(found.jpeg));
}

/// PUT /api/files/{id}/thumbnail/{size}, the body a picture -> 201 | 403 | 404 | 413 | 422
Task<> put_thumbnail(const Services& services, Request& rq, Reply& rp) {
  const auto size = asked_size(rq);
  const NodeId id = file_id(services, rq.param("id"));
  co_await services.files.node(rq.caller(), id);  // before a byte is read
  auto picture = co_await rq.text(media::Thumbnails::kBroughtBytesMax);
  co_await services.thumbnails.put(rq.caller(), id, size, std::move(picture));
  co_await rp.send(Status::created);
}

}  // namespace

void mount_media(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/files", "files", "file");
  on(Method::get, "/{id}/thumbnail/{size}", "thumbnail", "read", get_thumbnail);
  on(Method::put, "/{id}/thumbnail/{size}", "put_thumbnail", "update", put_thumbnail);
}

}  // namespace welkin::rest
