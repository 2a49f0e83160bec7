#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav {

/// Adds the routes that change something or lock it.
void mount_writes(http::Router::Scope& scope, const Services& services);

}  // namespace welkin::dav
