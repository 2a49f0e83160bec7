#include <nlohmann/json.hpp>

#include "nextcloud/web.hpp"

// What clients ask before anything else, and without credentials.
namespace welkin::nextcloud {
namespace {

/// GET /status.php: what a client finds, whoever it is.
Task<> status(http::Request& /*rq*/, http::Reply& rp) {
  co_await rp.send(http::Status::ok, "application/json", status_json(false));
}

/// Whether somebody stands between a client and the server, such as the login page of a network.
Task<> no_content(http::Request& /*rq*/, http::Reply& rp) { co_await rp.send(http::Status::no_content); }

}  // namespace

std::string status_json(bool maintenance) {
  const Json body{{"installed", true},       {"maintenance", maintenance},    {"needsDbUpgrade", false},
                  {"version", kVersion},     {"versionstring", kVersionText}, {"edition", ""},
                  {"productname", "Welkin"}, {"extendedSupport", false}};
  return body.dump();
}

void mount_status(WebScopes& s, const Kept& /*services*/) {
  // People type the address of the files instead of the server's; then it is found all the same.
  const std::pair<const char*, const char*> addresses[] = {
      {"/status.php", "nextcloud.status"},
      {"/remote.php/dav/status.php", "nextcloud.status.dav"},
      {"/remote.php/webdav/status.php", "nextcloud.status.webdav"}};
  for (const auto& [path, name] : addresses)
    s.open.on({http::Method::get, path, name, http::Access::open, "-", "-"}, status);
  at_both("/204", [&](const std::string& path, const std::string& suffix) {
    s.open.on({http::Method::get, path, "nextcloud.no_content" + suffix, http::Access::open, "-", "-"},
              no_content);
  });
}

}  // namespace welkin::nextcloud
