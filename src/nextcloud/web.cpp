#include "nextcloud/web.hpp"

#include "welkin/core/error.hpp"
#include "welkin/dav/authenticate.hpp"

namespace welkin::nextcloud {

people::Origin origin_of(const http::Request& rq) {
  return {rq.client_address(), rq.limit_key(), std::string(rq.header("user-agent")), rq.id()};
}

void mount_web(http::Router& router, const Services& services) {
  const auto kept = std::make_shared<const Services>(services);
  const auto errors = answer_plain_errors();
  WebScopes scopes{
      router.scope({errors}),
      router.scope({errors, dav::authenticate_dav(dav_services(services), protocols::kNextcloud)})};
  OcsRoutes ocs(router, kept);
  mount_status(scopes, kept);
  mount_capabilities(ocs, kept);
  mount_users(ocs);
  mount_remote_wipe(scopes);
  mount_login_flow(router, kept);
  mount_push(scopes, kept);
  mount_avatars(scopes, kept);
  mount_previews(scopes, kept);
  mount_theming(scopes);
  mount_file_links(scopes);
  mount_apps(ocs);
  mount_user_status(ocs);
  mount_search_providers(ocs);
  mount_direct_editing(router, ocs, kept);
  ocs.finish();

  const http::Handler unknown = [](http::Request&, http::Reply&) -> Task<> {
    throw Error(Errc::not_found, "no_such_route", "There is nothing at this address");
  };
  // Clients read what they get here: never a page of the web app.
  router.set_fallback("/index.php",
                      [errors, unknown](http::Request& rq, http::Reply& rp, const std::string&) {
                        return errors(unknown, rq, rp);
                      });
}

}  // namespace welkin::nextcloud
