#pragma once
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// REPORT: of folders DAV:sync-collection (RFC 6578), of nothing any other. Without a token it lists the
/// members; with one it tells what came, changed and went since. A token that ends a truncated answer goes on
/// where that ended.
/// @throws Error not_found, invalid `bad_report`, `bad_depth`; forbidden `supported_report`,
/// `valid-sync-token`
Task<> report(const TreeServices& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav
