#include "dav/propfind.hpp"

#include "dav/listing.hpp"
#include "welkin/dav/location.hpp"

namespace welkin::dav {

Task<> propfind(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  const auto place = checked_place(services.tree, rq);
  const auto depth = depth_of(rq).value_or(DepthHeader{Depth::infinity});
  auto preferences = preferences_of(rq);
  const auto request =
      read_propfind(co_await read_xml(rq), services.tree.for_nextcloud ? kNextcloudAllProp : kPlainAllProp);
  const auto node = co_await require_node(services, rq, place);
  const bool has_members = node.is_folder() && depth.depth != Depth::zero;
  preferences.no_root = has_members && preferences.no_root;

  if (node.is_folder() && !place.has_slash) rp.set("Content-Location", place.path(true));
  co_await begin_multistatus(rp, preferences);
  Listing listing(services, rq, rp, request, preferences);
  const auto href = place.href(node.is_folder());
  listing.begin();
  if (!has_members || !(preferences.no_root || depth.no_root)) co_await listing.own(node, href);
  if (has_members) {
    Listing::Walk walk;
    walk.deep = depth.depth == Depth::infinity;
    const auto walked = co_await listing.members(node.id, node.rights, href, walk);
    if (!walked.whole) listing.more(href);
  }
  co_await listing.end();
}

}  // namespace welkin::dav
