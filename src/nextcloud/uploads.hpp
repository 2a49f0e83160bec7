#pragma once
#include "nextcloud/services.hpp"
#include "welkin/dav/tree.hpp"

namespace welkin::nextcloud {

/// /remote.php/dav/uploads/{user}/{upload}/{part}: files that come in parts.
/// @param files  the tree they go to
void mount_uploads(http::Router& router, const Services& services, const dav::Tree& files);

}  // namespace welkin::nextcloud
