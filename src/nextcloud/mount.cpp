#include "nextcloud/services.hpp"
#include "welkin/core/error.hpp"

namespace welkin::nextcloud {
namespace {

Task<> refuse_method(http::Request& /*rq*/, http::Reply& /*rp*/) {
  throw Error(Errc::method_not_allowed, "method_not_allowed", "This address does not take that method");
}

}  // namespace

http::Router::Fallback refusing_methods(http::Middleware errors, http::Middleware authenticate) {
  const http::Handler refuse = refuse_method;
  const http::Handler known = [authenticate = std::move(authenticate), refuse](http::Request& rq, http::Reply& rp) {
    return authenticate(refuse, rq, rp);
  };
  return [errors = std::move(errors), known](http::Request& rq, http::Reply& rp, const std::string& allowed) {
    if (!allowed.empty()) rp.set("Allow", allowed);
    return errors(known, rq, rp);
  };
}

void mount(http::Router& router, const Services& services) {
  mount_dav(router, services);
  mount_web(router, services);
}

}  // namespace welkin::nextcloud
