#include <algorithm>
#include <nlohmann/json.hpp>

#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/media/thumbnails.hpp"

// Small pictures of files, at the addresses that clients know.
namespace welkin::nextcloud {
namespace {

using media::ThumbnailSize;

/// The smallest picture that is as large as asked, or the largest there is.
ThumbnailSize size_of(std::uint64_t x, std::uint64_t y) {
  for (const auto size : {ThumbnailSize::icon, ThumbnailSize::preview})
    if (static_cast<std::uint64_t>(media::pixels_of(size)) >= std::max(x, y)) return size;
  return ThumbnailSize::large;
}

Error no_preview() { return {Errc::not_found, "no_preview", "There is no preview"}; }

std::uint64_t pixels_asked(const Params& params, const char* name) {
  const auto asked = params.number(name);
  return asked && *asked > 0 ? static_cast<std::uint64_t>(*asked) : 32;
}

Task<> send_preview(const Services& services, http::Request& rq, http::Reply& rp, NodeId id,
                    ThumbnailSize size) {
  const auto made = co_await services.thumbnails.find_or_make(rq.caller(), id, size);
  // What is being made is asked for again: an app that hears 404 does that on its next look.
  if (made.state != media::Thumbnail::State::ready) throw no_preview();
  const auto etag = '"' + made.tag + '"';
  rp.set("ETag", etag);
  rp.set("Cache-Control", "private, max-age=86400, no-transform");
  const auto known = http::parse_etags(rq.headers().joined("if-none-match"));
  if (rq.headers().has("if-none-match") && known && http::weak_match(*known, etag)) {
    co_await rp.send(http::Status::not_modified);
    co_return;
  }
  co_await rp.send(http::Status::ok, "image/jpeg", made.jpeg);
}

Task<NodeId> node_at(const Services& services, const http::Request& rq, std::string_view path) {
  std::vector<std::string> names;
  for (const auto name : text::split(path, '/'))
    if (!name.empty()) names.emplace_back(name);
  co_return (co_await services.files.by_path(rq.caller(), std::move(names))).id;
}

/// GET /index.php/core/preview?fileId=&x=&y=, /core/preview.png?file=/path&x=&y=
Task<> preview(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto params = co_await params_of(rq);
  const auto size = size_of(pixels_asked(params, "x"), pixels_asked(params, "y"));
  const auto id = params.number("fileId");
  if (id) co_return co_await send_preview(services, rq, rp, NodeId{*id}, size);
  const auto path = params.find("file");
  if (!path) throw Error(Errc::invalid, "bad_parameter", "fileId is missing");
  co_await send_preview(services, rq, rp, co_await node_at(services, rq, *path), size);
}

/// GET /index.php/apps/files/api/v1/thumbnail/{x}/{y}/{path}
Task<> thumbnail(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto x = text::number(rq.param("x")), y = text::number(rq.param("y"));
  if (!x || !y) throw Error(Errc::invalid, "bad_parameter", "The size is no number");
  auto node = co_await services.files.by_path(rq.caller(), rq.rest());
  co_await send_preview(services, rq, rp, node.id, size_of(*x, *y));
}

}  // namespace

void mount_previews(WebScopes& s, const Kept& services) {
  using Action = Task<> (*)(const Services&, http::Request&, http::Reply&);
  const auto add = [&](const char* path, const char* name, Action action) {
    at_both(path, [&](const std::string& at, const std::string& suffix) {
      s.user.on({http::Method::get, at, std::string("nextcloud.") + name + suffix, http::Access::dav,
                 "preview", "read"},
                [services, action](http::Request& rq, http::Reply& rp) { return action(*services, rq, rp); });
    });
  };
  add("/core/preview", "preview", preview);
  add("/core/preview.png", "preview_png", preview);
  add("/apps/files/api/v1/thumbnail/{x}/{y}/{*path}", "thumbnail", thumbnail);
}

}  // namespace welkin::nextcloud
