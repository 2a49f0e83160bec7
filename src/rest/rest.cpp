#include "welkin/rest/rest.hpp"

#include <memory>

#include "rest/routes.hpp"
#include "welkin/core/error.hpp"

namespace welkin::rest {
namespace {

/// Bodies are JSON unless a route says otherwise, so an oversize one is refused before it is read.
http::Middleware limit_json(const Config& config) {
  return [&config](const http::Handler& next, http::Request& rq, http::Reply& rp) -> Task<> {
    rq.limit_body(config.json_bytes_max);
    return next(rq, rp);
  };
}

/// What no route matches: thrown inside the one middleware that turns errors into answers.
Task<> answer_unmatched(const http::Middleware& errors, http::Request& rq, http::Reply& rp,
                        const std::string& allowed) {
  if (!allowed.empty()) rp.set("Allow", allowed);
  if (!allowed.empty() && rq.method() == http::Method::options) {
    co_await rp.send(http::Status::no_content);
    co_return;
  }
  const http::Handler refuse = [&allowed](http::Request&, http::Reply&) -> Task<> {
    if (allowed.empty()) throw Error(Errc::not_found, "no_such_route", "There is nothing at this address");
    throw Error(Errc::method_not_allowed, "method_not_allowed", "This address does not take that method");
  };
  co_await errors(refuse, rq, rp);
}

}  // namespace

void mount(http::Router& router, const Services& services, std::function<Task<std::string>()> healthy,
           OwnSetup setup) {
  // Handlers refer to this copy; the fallback keeps it as long as the router lives.
  const auto kept = std::make_shared<const Services>(services);
  const auto limit = limit_json(kept->config);
  const auto errors = answer_errors();
  Scopes scopes{router.scope({errors, limit}), router.scope({errors, limit, require_user(*kept)}),
                router.scope({errors, limit, require_admin(*kept)})};
  mount_system(scopes, *kept, std::move(healthy));
  mount_setup(scopes, *kept, setup);
  mount_auth(scopes, *kept);
  mount_app_passwords(scopes, *kept);
  mount_admin(scopes, *kept);
  mount_folders(scopes, *kept);
  mount_files(scopes, *kept);
  mount_versions(scopes, *kept);
  mount_trash(scopes, *kept);
  mount_marks(scopes, *kept);
  mount_media(scopes, *kept);
  mount_tus(scopes, *kept);
  mount_chunked_uploads(scopes, *kept);
  mount_photos(scopes, *kept);
  mount_search(scopes, *kept);
  mount_batch(scopes, *kept);
  mount_archives(scopes, *kept);
  mount_calendars(scopes, *kept);
  mount_address_books(scopes, *kept);
  mount_contact_groups(scopes, *kept);
  mount_events(scopes, *kept);
  mount_sharing(scopes, *kept);
  mount_birthdays(scopes, *kept);
  mount_subscriptions(scopes, *kept);
  mount_openapi(scopes, router);
  router.set_fallback("/api", [errors, kept](http::Request& rq, http::Reply& rp, const std::string& allowed) {
    return answer_unmatched(errors, rq, rp, allowed);
  });
}

}  // namespace welkin::rest
