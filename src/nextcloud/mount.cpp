#include "welkin/nextcloud/nextcloud.hpp"

namespace welkin::nextcloud {

void mount(http::Router& router, const Services& services) {
  mount_dav(router, services);
  mount_web(router, services);
}

}  // namespace welkin::nextcloud
