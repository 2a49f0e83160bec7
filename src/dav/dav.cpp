#include "welkin/dav/dav.hpp"

#include "dav/authenticate.hpp"
#include "dav/errors.hpp"
#include "dav/get.hpp"
#include "dav/propfind.hpp"
#include "welkin/core/error.hpp"

namespace welkin::dav {
namespace {

/// 200 and not 204: some clients take 204 for a failure. No DAV header is sent, because none of its classes
/// is whole.
Task<> options(http::Request& /*rq*/, http::Reply& rp) { return rp.send(http::Status::ok); }

Task<> refuse_method(http::Request& /*rq*/, http::Reply& /*rp*/) {
  throw Error(Errc::method_not_allowed, "method_not_allowed", "This address does not take that method");
}

/// Wraps `handler` as the routes are wrapped, for what the router's table does not hold.
http::Handler wrapped(http::Middleware outer, http::Middleware inner, http::Handler handler) {
  http::Handler checked = [inner = std::move(inner), handler = std::move(handler)](
                              http::Request& rq, http::Reply& rp) { return inner(handler, rq, rp); };
  return [outer = std::move(outer), checked = std::move(checked)](http::Request& rq, http::Reply& rp) {
    return outer(checked, rq, rp);
  };
}

}  // namespace

void mount(http::Router& router, const Services& services) {
  const auto errors = answer_errors();
  const auto authenticate = authenticate_dav(services);
  auto scope = router.scope({errors, authenticate});
  const auto handle_get = [services](http::Request& rq, http::Reply& rp) { return get(services, rq, rp); };
  scope.on({http::Method::get, "/webdav", "dav.get_root", http::Access::dav, "node", "read"}, handle_get);
  scope.on({http::Method::get, "/webdav/{*path}", "dav.get", http::Access::dav, "node", "read"}, handle_get);

  const auto handle_propfind = [services](http::Request& rq, http::Reply& rp) {
    return propfind(services, rq, rp);
  };
  scope.on({http::Method::propfind, "/webdav", "dav.propfind_root", http::Access::dav, "node", "read"},
           handle_propfind);
  scope.on({http::Method::propfind, "/webdav/{*path}", "dav.propfind", http::Access::dav, "node", "read"},
           handle_propfind);

  const auto answer_options = wrapped(errors, authenticate_claims(services), options);
  const auto answer_others = wrapped(errors, authenticate, refuse_method);
  router.set_fallback("/webdav", [answer_options, answer_others](http::Request& rq, http::Reply& rp,
                                                                 const std::string& allowed) {
    if (!allowed.empty()) rp.set("Allow", allowed);
    return rq.method() == http::Method::options ? answer_options(rq, rp) : answer_others(rq, rp);
  });
}

}  // namespace welkin::dav
