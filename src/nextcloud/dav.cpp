#include "nextcloud/services.hpp"
#include "nextcloud/trashbin.hpp"
#include "nextcloud/uploads.hpp"
#include "welkin/dav/authenticate.hpp"
#include "welkin/dav/errors.hpp"
#include "welkin/dav/tree.hpp"

namespace welkin::nextcloud {
namespace {

dav::Tree tree(const Services& services, std::vector<std::string> mount, std::string routes) {
  dav::Tree out;
  out.mount = std::move(mount);
  out.routes = std::move(routes);
  out.principals = "/remote.php/dav/principals/";
  out.protocols = kFileProtocols;
  out.for_nextcloud = true;
  out.instance_id = dav::instance_id(services.people);
  out.has_preview = [&thumbnails = services.thumbnails](std::string_view type) {
    return thumbnails.makes_of(type);
  };
  return out;
}

/// Above the trees, where apps ask what is offered.
Task<> options(http::Request& /*rq*/, http::Reply& rp) {
  rp.set("DAV", "1, 3, extended-mkcol, access-control, calendar-access, addressbook");
  rp.set("DASL", "<DAV:basicsearch>");
  rp.set("Allow", "OPTIONS, GET, HEAD, PROPFIND, REPORT, SEARCH");
  rp.set("MS-Author-Via", "DAV");
  co_await rp.send(http::Status::ok);
}

}  // namespace

void mount_dav(http::Router& router, const Services& services) {
  const auto dav = dav_services(services);
  const auto files = tree(services, {"remote.php", "dav", "files", "{user}"}, "nextcloud_files");
  dav::mount_tree(router, dav, files);
  dav::mount_tree(router, dav, tree(services, {"remote.php", "webdav"}, "nextcloud_webdav"));
  dav::mount_groupware(router, dav, {"/remote.php/dav", "/remote.php/caldav", "/remote.php/carddav"},
                       kGroupwareProtocols);
  mount_uploads(router, services, files);
  mount_trashbin(router, services);
  mount_versions(router, services);
  const auto errors = dav::answer_errors(dav::nextcloud_error);
  router.scope({errors, dav::authenticate_claims(dav, kFileProtocols)})
      .on({http::Method::options, "/remote.php/dav", "nextcloud.dav_options", http::Access::open, "-", "-"},
          options);
  router.scope({errors, dav::authenticate_dav(dav, kFileProtocols)})
      .on({http::Method::search, "/remote.php/dav", "nextcloud.search", http::Access::dav, "-", "read"},
          dav::search_from_above(dav, files));
}

}  // namespace welkin::nextcloud
