#pragma once
#include "welkin/dav/resource.hpp"
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// GET of a folder: a page for people who look with a browser, plain names for anything else; never XML that
/// a client could take for the answer to another question. Streamed, in the order of PROPFIND.
Task<> send_folder(const TreeServices& services, http::Request& rq, http::Reply& rp,
                   const files::Node& folder, const Place& place);

}  // namespace welkin::dav
