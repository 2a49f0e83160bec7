#pragma once
#include <memory>
#include <string>

#include "nextcloud/ocs.hpp"

/// The parts of the room's web half; each lives in the .cpp of its name and is called once by mount_web.
namespace welkin::nextcloud {

/// The server that clients take this one for: they switch features by its number.
inline constexpr const char* kVersion = "32.0.6.1";
inline constexpr const char* kVersionText = "32.0.6";
inline constexpr int kVersionMajor = 32, kVersionMinor = 0, kVersionMicro = 6;

using Kept = std::shared_ptr<const Services>;

/// Scopes for addresses beside OCS; errors are short JSON.
struct WebScopes {
  http::Router::Scope open, user;
};

void mount_status(WebScopes& s, const Kept& services);  // status.php, 204
void mount_capabilities(OcsRoutes& ocs, const Kept& services);
void mount_users(OcsRoutes& ocs);  // the caller, others, app passwords
void mount_remote_wipe(WebScopes& s);
void mount_login_flow(http::Router& router, const Kept& services);
void mount_push(WebScopes& s, const Kept& services);
void mount_avatars(WebScopes& s, const Kept& services);
void mount_previews(WebScopes& s, const Kept& services);
void mount_theming(WebScopes& s);  // logo, favicon
void mount_apps(OcsRoutes& ocs);   // what is asked for and answered with nothing
void mount_user_status(OcsRoutes& ocs);
void mount_search_providers(OcsRoutes& ocs);
void mount_direct_editing(http::Router& router, OcsRoutes& ocs, const Kept& services);
void mount_file_links(WebScopes& s);  // /index.php/f/{id}

/// Where a request comes from, for limits and the audit trail.
people::Origin origin_of(const http::Request& rq);

/// A route at its address and below index.php, where older clients look for it.
template <class Add>
void at_both(const std::string& path, const Add& add) {
  add(path, "");
  add("/index.php" + path, ".index");
}

}  // namespace welkin::nextcloud
