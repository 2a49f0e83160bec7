#pragma once
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// Adds the routes that change something or lock it.
void mount_writes(http::Router::Scope& scope, const TreeServices& services);

}  // namespace welkin::dav
