#pragma once
#include "dav/change.hpp"

namespace welkin::dav {

/// MKCOL -> 201 | 405 resource-must-be-null | 409 parent_missing | 412 | 415 a body that is not understood
/// (RFC 4918 §9.3) | 423. With a DAV:mkcol (RFC 5689) its properties are set with it or there is no folder:
/// 403, 409 or 507 with a DAV:mkcol-response.
Task<> mkcol(Change& change);

}  // namespace welkin::dav
