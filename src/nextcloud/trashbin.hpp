#pragma once
#include "nextcloud/services.hpp"

namespace welkin::nextcloud {

/// /remote.php/dav/trashbin/{user}: what was deleted, and its way back.
void mount_trashbin(http::Router& router, const Services& services);

/// /remote.php/dav/versions/{user}: what files were before.
void mount_versions(http::Router& router, const Services& services);

}  // namespace welkin::nextcloud
