#pragma once
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// GET and HEAD below /webdav: a file's bytes; a folder as a page for a browser, as plain names for anything
/// else.
/// @throws Error not_found, also for a file asked for with a slash at its end
Task<> get(const TreeServices& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav
