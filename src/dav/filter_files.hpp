#pragma once
#include "welkin/dav/resource.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {

/// The report oc:filter-files: what below a folder the caller has marked as a favourite, page by page
/// (DAV:limit, nc:firstresult). The folder itself is not among the hits.
/// @throws Error invalid `bad_report`; precondition_failed `no_such_tag`
Task<> filter_files(const TreeServices& services, http::Request& rq, http::Reply& rp, const Place& place,
                    const files::Node& folder, const wire::XmlElement& body);

}  // namespace welkin::dav
