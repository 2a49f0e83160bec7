#include "welkin/dav/dav.hpp"

#include "dav/get.hpp"
#include "dav/groupware/mount.hpp"
#include "dav/if_check.hpp"
#include "dav/options.hpp"
#include "dav/propfind.hpp"
#include "dav/report.hpp"
#include "dav/search.hpp"
#include "dav/writes.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/dav/authenticate.hpp"
#include "welkin/dav/errors.hpp"
#include "welkin/dav/tree.hpp"

namespace welkin::dav {
namespace {

Task<> refuse_method(http::Request& /*rq*/, http::Reply& /*rp*/) {
  throw Error(Errc::method_not_allowed, "method_not_allowed", "This address does not take that method");
}

struct ReadRoute {
  http::Method method;
  const char* name;
  Task<> (*verb)(const TreeServices&, http::Request&, http::Reply&);
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

std::string write_failure(bool for_nextcloud, std::string_view slug, std::string_view message) {
  return for_nextcloud ? nextcloud_error(http::Status::bad_request, slug, message) : error_xml(slug, message);
}

ErrorWriter writer_of(const Tree& tree) {
  return tree.for_nextcloud ? static_cast<ErrorWriter>(nextcloud_error) : nullptr;
}

}  // namespace

void mount_tree(http::Router& router, const Services& base, Tree tree) {
  const TreeServices services{base, std::move(tree)};
  const auto& at = services.tree;
  const auto errors = answer_errors(writer_of(at));
  const auto authenticate = authenticate_dav(services, at.protocols);
  const auto pattern = at.pattern();
  auto scope = router.scope({errors, authenticate});
  auto reads = router.scope({errors, authenticate, obey_if(services)});
  for (const auto& route : kReads) {
    const auto handler = [services, verb = route.verb](http::Request& rq, http::Reply& rp) {
      return verb(services, rq, rp);
    };
    const auto name = at.routes + '.' + route.name;
    reads.on({route.method, pattern, name + "_root", http::Access::dav, "node", "read"}, handler);
    reads.on({route.method, pattern + "/{*path}", name, http::Access::dav, "node", "read"}, handler);
  }
  mount_writes(scope, services);

  const auto answer_options =
      wrapped(errors, authenticate_claims(services, at.protocols),
              [services](http::Request& rq, http::Reply& rp) { return options(services, rq, rp); });
  const auto answer_others = wrapped(errors, authenticate, refuse_method);
  const auto above = pattern.substr(0, pattern.find("/{"));
  router.set_failure_form(
      above, {"application/xml; charset=utf-8", [for_nextcloud = at.for_nextcloud](auto slug, auto message) {
                return write_failure(for_nextcloud, slug, message);
              }});
  router.set_fallback(
      above, [answer_options, answer_others](http::Request& rq, http::Reply& rp, const std::string& allowed) {
        if (!allowed.empty()) rp.set("Allow", allowed);
        return rq.method() == http::Method::options ? answer_options(rq, rp) : answer_others(rq, rp);
      });
}

void mount(http::Router& router, const Services& services) {
  Tree tree;
  tree.instance_id = instance_id(services.people);
  const TreeServices top{services, tree};
  mount_tree(router, services, std::move(tree));

  const auto errors = answer_errors();
  router.scope({errors, authenticate_claims(services)})
      .on({http::Method::options, "/", "dav.top_options", http::Access::open, "-", "-"},
          [top](http::Request& rq, http::Reply& rp) { return options(top, rq, rp); });
  constexpr auto kAny = protocols::kWebdav | protocols::kCaldav | protocols::kCarddav;
  router.scope({errors, authenticate_dav(services, kAny)})
      .on({http::Method::propfind, "/", "dav.top_propfind", http::Access::dav, "-", "read"},
          [top](http::Request& rq, http::Reply& rp) {
            const bool files = (rq.caller().protocol_mask & protocols::kWebdav) != 0;
            return files ? propfind_top(top, rq, rp) : groupware::propfind_top(top, rq, rp);
          });
  groupware::mount(router, services);
}

void mount_groupware(http::Router& router, const Services& services, const std::vector<std::string>& paths,
                     std::int32_t protocols) {
  groupware::mount_at(router, services, paths, protocols);
}

std::string instance_id(people::People& people) {
  return people.setting_or_make("instance_id", [] {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
    constexpr std::size_t kRandom = 10;
    std::array<std::byte, kRandom> bytes;
    crypto::random_bytes(bytes);
    std::string id = "oc";  // clients cut ids where the first letter stands
    for (const auto byte : bytes) id += kLetters[std::to_integer<std::size_t>(byte) % kLetters.size()];
    return id;
  });
}

}  // namespace welkin::dav
