#pragma once
#include "dav/change.hpp"

namespace welkin::dav {

/// COPY and MOVE -> 201 with Location, 204 when something was replaced | 400 bad_destination, bad_depth,
/// bad_overwrite | 403 into itself, onto itself, the root | 404 | 409 parent_missing | 412 also for
/// Overwrite: F | 423 | 502 other_server | 507. What is replaced goes to the trash as a whole. All or
/// nothing.
Task<> copy(Change& change);
Task<> move(Change& change);

}  // namespace welkin::dav
