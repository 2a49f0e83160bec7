#include <algorithm>

#include "nextcloud/initials.hpp"
#include "nextcloud/web.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/people/directory.hpp"

// Pictures of people. Nobody has one of his own, so all are made from their names.
namespace welkin::nextcloud {
namespace {

constexpr std::uint64_t kPixelsMin = 16, kPixelsMax = 512;

unsigned pixels_of(std::string_view asked) {
  const auto number = text::number(asked);
  if (!number) throw Error(Errc::not_found, "not_found", "There is no such picture");
  return static_cast<unsigned>(std::clamp(*number, kPixelsMin, kPixelsMax));
}

Task<> send_avatar(const Services& services, http::Request& rq, http::Reply& rp, std::string user,
                   unsigned pixels) {
  auto directory = services.people.directory();
  const auto person = co_await directory.named(user);
  if (!person || !co_await directory.may_see(rq.caller(), person->id))
    throw Error(Errc::not_found, "no_such_user", "User not found");
  const auto digest =
      crypto::sha256("avatar 1 " + std::to_string(pixels) + ' ' + user + ' ' + person->display_name);
  const auto etag = '"' + text::hex(std::as_bytes(std::span(digest)).first(16)) + '"';
  rp.set("ETag", etag);
  rp.set("Cache-Control", "private, max-age=86400");
  rp.set("X-NC-IsCustomAvatar", "0");
  const auto known = http::parse_etags(rq.headers().joined("if-none-match"));
  if (rq.headers().has("if-none-match") && known && http::weak_match(*known, etag)) {
    co_await rp.send(http::Status::not_modified);
    co_return;
  }
  co_await rp.send(http::Status::ok, "image/png", initials_png(person->display_name, person->name, pixels));
}

/// GET /index.php/avatar/{user}/{pixels}[/dark]
Task<> avatar(const Services& services, http::Request& rq, http::Reply& rp) {
  return send_avatar(services, rq, rp, rq.param("user"), pixels_of(rq.param("pixels")));
}

/// GET /remote.php/dav/avatars/{user}/{pixels}.png
Task<> dav_avatar(const Services& services, http::Request& rq, http::Reply& rp) {
  std::string_view file = rq.param("file");
  if (!file.ends_with(".png")) throw Error(Errc::not_found, "not_found", "There is no such picture");
  file.remove_suffix(4);
  return send_avatar(services, rq, rp, rq.param("user"), pixels_of(file));
}

}  // namespace

void mount_avatars(WebScopes& s, const Kept& services) {
  using Action = Task<> (*)(const Services&, http::Request&, http::Reply&);
  const auto add = [&](const std::string& path, const std::string& name, Action action) {
    s.user.on({http::Method::get, path, "nextcloud." + name, http::Access::dav, "account", "read"},
              [services, action](http::Request& rq, http::Reply& rp) { return action(*services, rq, rp); });
  };
  at_both("/avatar/{user}/{pixels}", [&](const std::string& path, const std::string& suffix) {
    add(path, "avatar" + suffix, avatar);
    add(path + "/dark", "avatar_dark" + suffix, avatar);
  });
  add("/remote.php/dav/avatars/{user}/{file}", "avatar_dav", dav_avatar);
}

}  // namespace welkin::nextcloud
