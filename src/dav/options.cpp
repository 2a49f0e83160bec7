#include "dav/options.hpp"

#include "dav/change.hpp"
#include "dav/listing.hpp"
#include "welkin/core/error.hpp"

namespace welkin::dav {
namespace {

constexpr std::string_view kAnywhere =
    "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, LOCK, UNLOCK, REPORT, "
    "SEARCH";

}  // namespace

Task<> options(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  std::string_view allow = kAnywhere;
  const auto segments = rq.segments();
  if (segments.empty()) {
    allow = "OPTIONS, PROPFIND";
  } else if (rq.caller().user || rq.caller().link) {
    try {
      auto place = place_of(services.tree, rq);
      allow = allowed_methods(co_await services.files.locate(rq.caller(), std::move(place.names)));
    } catch (const Error&) {  // a name that cannot be: nothing is there, and nothing can be made
      allow = "OPTIONS";
    }
  }
  // The last one tells old clients that they may set a file's executable bit.
  rp.set("DAV", services.tree.for_nextcloud
                    ? "1, 2, 3, extended-mkcol, access-control, calendar-access, addressbook, "
                      "nextcloud-checksum-update"
                    : "1, 2, 3, extended-mkcol, <http://apache.org/dav/propset/fs/1>");
  rp.set("MS-Author-Via", "DAV");  // office programs open read-only without it
  rp.set("DASL", "<DAV:basicsearch>");
  rp.set("Allow", allow);
  rp.set("Accept-Ranges", "bytes");
  co_await rp.send(http::Status::ok);  // some clients take 204 for a failure
}

Task<> propfind_top(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  const auto depth = depth_of(rq).value_or(DepthHeader{Depth::one});
  auto preferences = preferences_of(rq);
  const auto request = read_propfind(co_await read_xml(rq), kPlainAllProp);
  const auto home = co_await services.files.by_path(rq.caller(), {});
  co_await begin_multistatus(rp, preferences);
  Listing listing(services, rq, rp, request, preferences);
  const std::string top = std::string(rq.base_path()) + "/";
  listing.begin();
  auto above = home;
  above.id = {};
  above.name.clear();
  above.rights &= rights::kRead;
  if (depth.depth == Depth::zero || !(depth.no_root || preferences.no_root)) co_await listing.own(above, top);
  if (depth.depth != Depth::zero) co_await listing.own(home, top + "webdav/");
  co_await listing.end();
}

}  // namespace welkin::dav
