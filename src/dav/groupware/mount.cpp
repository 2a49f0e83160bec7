#include "dav/groupware/mount.hpp"

#include <algorithm>

#include "dav/groupware/answer.hpp"
#include "dav/groupware/collection_writes.hpp"
#include "dav/groupware/feed.hpp"
#include "dav/groupware/get.hpp"
#include "dav/groupware/object_writes.hpp"
#include "dav/groupware/outbox.hpp"
#include "dav/groupware/post.hpp"
#include "dav/groupware/propfind.hpp"
#include "dav/groupware/refusal.hpp"
#include "dav/groupware/report.hpp"
#include "dav/groupware/target.hpp"
#include "welkin/core/error.hpp"
#include "welkin/dav/authenticate.hpp"
#include "welkin/dav/errors.hpp"

namespace welkin::dav::groupware {
namespace {

using http::Method;
constexpr auto kProtocols = protocols::kCaldav | protocols::kCarddav;

struct Route {
  Method method;
  const char* name;
  const char* action;
  Task<> (*verb)(const Services&, http::Request&, http::Reply&);
};
constexpr Route kRoutes[] = {
    {Method::get, "get", "read", get},
    {Method::propfind, "propfind", "read", propfind},
    {Method::report, "report", "read", report},
    {Method::put, "put", "update", put},
    {Method::del, "delete", "delete", remove},
    {Method::copy, "copy", "read", copy},
    {Method::move, "move", "delete", move},
    {Method::proppatch, "proppatch", "update", proppatch},
    {Method::post, "post", "update", post},
    {Method::mkcol, "mkcol", "create", mkcol},
    {Method::mkcalendar, "mkcalendar", "create", mkcalendar},
};

/// What is offered (RFC 4918 §10.1, RFC 3744 §7.2, RFC 4791 §5.1, RFC 6352 §6.1, RFC 5689 §3.1), told on
/// OPTIONS only.
constexpr std::string_view kOffered =
    "1, 3, extended-mkcol, access-control, calendar-access, addressbook, calendarserver-sharing, "
    "resource-sharing, calendarserver-home-sync, calendarserver-principal-property-search, "
    "calendarserver-principal-search, calendarserver-subscribed";

Task<> options(const Services& services, http::Request& rq, http::Reply& rp) {
  // Apps that see it leave invitations to us (RFC 6638 §2).
  rp.set("DAV", std::string(kOffered) + (services.scheduling.is_on() ? ", calendar-auto-schedule" : ""));
  rp.set("Allow", allowed(spot_of(rq)));
  co_await rp.send(http::Status::ok);
}

Task<> refuse_method(http::Request& rq, http::Reply& rp) {
  rp.set("Allow", allowed(spot_of(rq)));
  throw Error(Errc::method_not_allowed, "method_not_allowed", "This address does not take that method");
}

/// Where everything begins (RFC 6764 §5), told before anybody has said who he is: some clients give no
/// credentials to an address that only redirects.
Task<> redirect(http::Request& rq, http::Reply& rp) {
  rp.set("Location", rq.base_url() + "/dav/");
  rp.set("Cache-Control", "no-cache");
  co_await rp.send(http::Status::moved_permanently);
}

http::Handler wrapped(std::vector<http::Middleware> outer_first, http::Handler handler) {
  for (auto it = outer_first.rbegin(); it != outer_first.rend(); ++it)
    handler = [wrap = std::move(*it), next = std::move(handler)](http::Request& rq, http::Reply& rp) {
      return wrap(next, rq, rp);
    };
  return handler;
}

/// "/remote.php/dav" -> "groupware.remote.php_dav"
std::string called_after(std::string path) {
  path.erase(0, 1);
  std::replace(path.begin(), path.end(), '/', '_');
  return "groupware." + path;
}

}  // namespace

std::string_view allowed(const Spot& spot) {
  if ((spot.kind & kObject) != 0) return "OPTIONS, GET, HEAD, PUT, DELETE, COPY, MOVE, PROPFIND, PROPPATCH";
  if (spot.kind == kCalendar)
    return "OPTIONS, GET, HEAD, DELETE, PROPFIND, PROPPATCH, REPORT, MKCOL, MKCALENDAR, POST";
  if (spot.kind == kBook) return "OPTIONS, GET, HEAD, DELETE, PROPFIND, PROPPATCH, REPORT, MKCOL, POST";
  if (spot.kind == kInbox) return "OPTIONS, GET, HEAD, PROPFIND, PROPPATCH, REPORT";
  if (spot.kind == kOutbox) return "OPTIONS, GET, HEAD, POST, PROPFIND, REPORT";
  if ((spot.kind & kHome) != 0) return "OPTIONS, GET, HEAD, PROPFIND, PROPPATCH, REPORT";
  if (spot.kind == kNothing) return "OPTIONS";
  return "OPTIONS, GET, HEAD, PROPFIND, REPORT";
}

void mount_at(http::Router& router, const Services& services, const std::vector<std::string>& paths,
              std::int32_t protocols) {
  const auto errors = answer_errors(write_error);
  const auto refusals = answer_refusals();
  const auto authenticate = authenticate_dav(services, protocols);
  const auto claims = authenticate_claims(services, protocols);
  const auto answer_options =
      wrapped({errors, refusals, claims},
              [services](http::Request& rq, http::Reply& rp) { return options(services, rq, rp); });
  const auto answer_others = wrapped({errors, refusals, authenticate}, refuse_method);
  auto scope = router.scope({errors, refusals, authenticate});
  for (const auto& path : paths) {
    for (const auto& route : kRoutes) {
      const auto handler = [services, verb = route.verb](http::Request& rq, http::Reply& rp) {
        require_protocol(rq.caller(), spot_of(rq));
        return verb(services, rq, rp);
      };
      const auto called = called_after(path) + "." + route.name;
      scope.on({route.method, path, called + "_root", http::Access::dav, "collection", route.action},
               handler);
      scope.on({route.method, path + "/{*path}", called, http::Access::dav, "collection", route.action},
               handler);
    }
    router.set_failure_form(path, {"application/xml; charset=utf-8", [](auto slug, auto message) {
                                     return write_error(http::Status::bad_request, slug, message);
                                   }});
    router.set_fallback(path, [answer_options, answer_others](http::Request& rq, http::Reply& rp,
                                                              const std::string& /*allowed*/) {
      return rq.method() == Method::options ? answer_options(rq, rp) : answer_others(rq, rp);
    });
  }
}

void mount(http::Router& router, const Services& services) {
  mount_at(router, services, {"/dav", "/caldav", "/carddav"}, kProtocols);
  auto open = router.scope({answer_errors(write_error)});
  open.on({Method::get, "/dav/public/{file}", "groupware.feed", http::Access::open, "feed", "read"},
          [services](http::Request& rq, http::Reply& rp) { return serve_feed(services, rq, rp); });
  for (const std::string name : {"caldav", "carddav"}) {
    const auto path = "/.well-known/" + name;
    for (const auto method : {Method::get, Method::propfind, Method::proppatch, Method::report, Method::post,
                              Method::put, Method::options, Method::mkcol, Method::mkcalendar}) {
      const auto called = "groupware.well_known_" + name + '_' + std::string(http::to_string(method));
      open.on({method, path, called, http::Access::open, "-", "-"}, redirect);
    }
  }
}

Task<> propfind_top(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto body = co_await read_xml(rq);
  const auto query = read_propfind(body ? &*body : nullptr);
  const auto here = spot_at(std::string(rq.base_path()), {}, true);
  Answer answer(services, rq, rp, query, spot_at(std::string(rq.base_path()) + "/dav", {}, true));
  co_await answer.begin();
  co_await answer.place(here);
  co_await answer.end();
}

}  // namespace welkin::dav::groupware
