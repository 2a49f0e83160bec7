#pragma once
#include "welkin/rest/rest.hpp"

namespace welkin::rest {

/// The older routes, which answer with everything in a folder at once.
enum class Shape : std::uint8_t {
  folders,  // [Folder]
  files,    // [File]
  both,     // {"folders": [Folder], "files": [File]}
};

/// All children, by name, in pages as they come from the database: memory does not grow with the folder. ETag
/// and 304.
Task<> send_children(const Services& services, http::Request& rq, http::Reply& rp, NodeId folder,
                     Shape shape);

/// One page of children behind a cursor: `limit` 1..200 (50), `cursor`, `order_by`, `reverse`,
/// `resource_types`.
/// {"items": [{"resource_type", "resource"}], "next_cursor"?}. An unusable cursor is the first page. ETag and
/// 304.
/// @throws Error invalid `bad_query`
Task<> send_resources(const Services& services, http::Request& rq, http::Reply& rp, NodeId folder);

/// One page of sub-folders by number: `page` from 0, `page_size` 10..500 (100), with the totals old clients
/// show. Walks the whole folder for them, which is why the cursor is the better way.
Task<> send_numbered_folders(const Services& services, http::Request& rq, http::Reply& rp, NodeId folder);

/// A page of send_resources as JSON. Apart for the benches.
void write_resources(const PublicIds& ids, const Caller& caller, const files::Page& page,
                     std::string_view folder_path, std::string& out);

}  // namespace welkin::rest
