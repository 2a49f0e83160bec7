#pragma once
#include <functional>

#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// Makes the file that a request names in Destination, out of what the server has already.
using Deliver = std::function<Task<files::Written>(files::UploadOptions)>;

/// Brings a body to the Destination of a MOVE as a PUT there would: If and If-Match are asked of the
/// destination, locks and Overwrite obeyed -> 201, 204 with ETag and the headers of sync clients | 400 | 403
/// | 404 | 409 parent_missing | 412 | 423 | 507
Task<> put_at_destination(const TreeServices& services, http::Request& rq, http::Reply& rp, Deliver deliver);

}  // namespace welkin::dav
