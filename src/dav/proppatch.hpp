#pragma once
#include "dav/change.hpp"

namespace welkin::dav {

/// PROPPATCH -> 207, or 200 when all went well and little is to be told (RFC 8144) | 400 bad_propertyupdate |
/// 403 | 404 | 412 | 423. All of its instructions are done or none: what fails is named in the 207, with 424
/// for the others (RFC 4918 §9.2).
Task<> proppatch(Change& change);

}  // namespace welkin::dav
