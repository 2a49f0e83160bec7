#pragma once
#include "dav/change.hpp"

namespace welkin::dav {

/// DELETE -> 204, to the trash with everything below | 400 bad_depth on a folder | 403 | 404 | 412 | 423. All
/// or nothing.
Task<> remove(Change& change);

}  // namespace welkin::dav
