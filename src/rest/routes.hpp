#pragma once
#include <string>
#include <utility>

#include "welkin/http/router.hpp"
#include "welkin/rest/rest.hpp"

/// The families of routes; each lives in the .cpp of its name and is called once by rest::mount.
namespace welkin::rest {

/// The scopes a family adds its routes to. Errors are answered in all of them; `open` knows nobody, `user`
/// demands a signed-in user (Bearer, session cookie with CSRF proof, or an app password with the REST
/// protocol), `admin` demands a session of an administrator.
struct Scopes {
  http::Router::Scope open, user, admin;
};

/// Adds the routes of one family for signed-in users: `path` below `prefix`, called `family.name`.
/// @param services  outlives the router; handlers are called with it
inline auto family_routes(Scopes& s, const Services& services, std::string prefix, std::string family,
                          std::string resource) {
  return [&user = s.user, &services, prefix = std::move(prefix), family = std::move(family),
          resource = std::move(resource)](http::Method method, const char* path, const char* name,
                                          const char* action, auto handler) {
    user.on({method, prefix + path, family + "." + name, http::Access::user, resource, action},
            [&services, handler](http::Request& rq, http::Reply& rp) { return handler(services, rq, rp); });
  };
}

void mount_system(Scopes& s, const Services& services,
                  std::function<Task<std::string>()> healthy);        // health, version
void mount_setup(Scopes& s, const Services& services, OwnSetup own);  // set-up page, POST /api/setup
void mount_auth(Scopes& s, const Services& services);  // login, refresh, logout, me, password, sessions
void mount_app_passwords(Scopes& s, const Services& services);
void mount_admin(Scopes& s, const Services& services);
void mount_folders(Scopes& s, const Services& services);
void mount_files(Scopes& s, const Services& services);
void mount_versions(Scopes& s, const Services& services);
void mount_trash(Scopes& s, const Services& services);
void mount_marks(Scopes& s, const Services& services);      // favourites, recent
void mount_media(Scopes& s, const Services& services);      // thumbnails
void mount_openapi(Scopes& s, const http::Router& router);  // what all of them are
void mount_tus(Scopes& s, const Services& services);              // uploads that can be resumed
void mount_chunked_uploads(Scopes& s, const Services& services);  // the older ones
void mount_photos(Scopes& s, const Services& services);
void mount_search(Scopes& s, const Services& services);
void mount_batch(Scopes& s, const Services& services);
void mount_archives(Scopes& s, const Services& services);  // folders and selections as ZIP
void mount_calendars(Scopes& s, const Services& services);
void mount_address_books(Scopes& s, const Services& services);
void mount_contact_groups(Scopes& s, const Services& services);
void mount_events(Scopes& s, const Services& services);         // live events
void mount_birthdays(Scopes& s, const Services& services);      // the calendar of birthdays, on or off
void mount_subscriptions(Scopes& s, const Services& services);  // calendars that are kept like an address
void mount_sharing(Scopes& s, const Services& services);        // who sees calendars and address books; feeds

/// errors.cpp: the one place where an exception becomes a REST answer.
http::Middleware answer_errors();
/// authenticate.cpp
/// Sets the caller by the request's credentials, as they are worth now. @throws Error unauthenticated,
/// forbidden `csrf`
Task<> authenticate(const Services& services, http::Request& rq);
http::Middleware require_user(const Services& services);
http::Middleware require_admin(const Services& services);

}  // namespace welkin::rest
