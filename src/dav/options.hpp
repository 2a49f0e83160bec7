#pragma once
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// OPTIONS: what this server offers (RFC 4918 §10.1, §18; RFC 5323 §3.1), also at addresses where nothing is.
/// Who is known is told the methods of that very address.
Task<> options(const TreeServices& services, http::Request& rq, http::Reply& rp);

/// PROPFIND of the top: a folder with the mount in it. Some clients look at every parent of the address they
/// were given.
Task<> propfind_top(const TreeServices& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav
