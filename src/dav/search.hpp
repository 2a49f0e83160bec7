#pragma once
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// SEARCH with DAV:basicsearch (RFC 5323) by name, type, size and times. It walks the scope, at most kRowsMax
/// resources, and sends what it finds on the way; only an order asked for makes it wait for the end. What was
/// not looked at or is over the limit is told by a 507 at the end.
/// @throws Error not_found, invalid and unprocessable `bad_search`
Task<> search(const TreeServices& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav
