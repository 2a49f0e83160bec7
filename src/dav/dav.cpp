#include "welkin/dav/dav.hpp"

#include "dav/authenticate.hpp"
#include "dav/errors.hpp"
#include "dav/get.hpp"
#include "dav/groupware/mount.hpp"
#include "dav/if_check.hpp"
#include "dav/options.hpp"
#include "dav/propfind.hpp"
#include "dav/report.hpp"
#include "dav/search.hpp"
#include "dav/writes.hpp"
#include "welkin/core/error.hpp"

namespace welkin::dav {
namespace {

Task<> refuse_method(http::Request& /*rq*/, http::Reply& /*rp*/) {
  throw Error(Errc::method_not_allowed, "method_not_allowed", "This address does not take that method");
}

struct ReadRoute {
  http::Method method;
  const char* name;
  Task<> (*verb)(const Services&, http::Request&, http::Reply&);
};
constexpr ReadRoute kReads[] = {
    {http::Method::get, "get", get},
    {http::Method::propfind, "propfind", propfind},
    {http::Method::report, "report", report},
    {http::Method::search, "search", search},
};

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
  auto reads = router.scope({errors, authenticate, obey_if(services)});
  for (const auto& route : kReads) {
    const auto handler = [services, verb = route.verb](http::Request& rq, http::Reply& rp) {
      return verb(services, rq, rp);
    };
    const std::string name = std::string("dav.") + route.name;
    reads.on({route.method, "/webdav", name + "_root", http::Access::dav, "node", "read"}, handler);
    reads.on({route.method, "/webdav/{*path}", name, http::Access::dav, "node", "read"}, handler);
  }
  mount_writes(scope, services);

  const auto handle_options = [services](http::Request& rq, http::Reply& rp) {
    return options(services, rq, rp);
  };
  const auto claims = authenticate_claims(services);
  router.scope({errors, claims})
      .on({http::Method::options, "/", "dav.top_options", http::Access::open, "-", "-"}, handle_options);
  constexpr auto kAny = protocols::kWebdav | protocols::kCaldav | protocols::kCarddav;
  router.scope({errors, authenticate_dav(services, kAny)})
      .on({http::Method::propfind, "/", "dav.top_propfind", http::Access::dav, "-", "read"},
          [services](http::Request& rq, http::Reply& rp) {
            const bool files = (rq.caller().protocol_mask & protocols::kWebdav) != 0;
            return files ? propfind_top(services, rq, rp) : groupware::propfind_top(services, rq, rp);
          });

  router.set_failure_form("/webdav", {"application/xml; charset=utf-8",
                                      [](auto slug, auto message) { return error_xml(slug, message); }});
  const auto answer_options = wrapped(errors, claims, handle_options);
  const auto answer_others = wrapped(errors, authenticate, refuse_method);
  router.set_fallback("/webdav", [answer_options, answer_others](http::Request& rq, http::Reply& rp,
                                                                 const std::string& allowed) {
    if (!allowed.empty()) rp.set("Allow", allowed);
    return rq.method() == http::Method::options ? answer_options(rq, rp) : answer_others(rq, rp);
  });
  groupware::mount(router, services);
}

}  // namespace welkin::dav
