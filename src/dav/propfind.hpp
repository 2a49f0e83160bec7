#pragma once
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// PROPFIND (RFC 4918 §9.1), streamed: the resource, then its members page by page in the order of their
/// names. Depth infinity goes on into the folders, each before its members, up to kPropfindRowsMax rows; what
/// is over is told at its end (507, RFC 5323's DAV:number-of-matches-within-limits).
/// @throws Error not_found, invalid `bad_depth`, `bad_propfind`, `bad_xml`
Task<> propfind(const TreeServices& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav
