#pragma once
#include <string>
#include <vector>

#include "welkin/rest/rest.hpp"

namespace welkin::rest {

/// GET /api/folders/{id}/download: the folder and everything below it as one ZIP archive of exact length,
/// which can be resumed: the tag is the same as long as the archive would be the same byte for byte.
/// `?v=<tag>` refuses to send any other.
/// @throws Error not_found, too_large `too_many_entries`, precondition_failed `archive_changed`
Task<> send_folder_archive(const Services& services, http::Request& rq, http::Reply& rp);

/// The same for files and folders side by side. @param files, folders  public ids; what is not there is left
/// out
/// @throws Error invalid `no_items`, `batch_too_large`, `bad_id`; not_found when nothing is left
Task<> send_selection_archive(const Services& services, http::Request& rq, http::Reply& rp,
                              std::vector<std::string> files, std::vector<std::string> folders);

}  // namespace welkin::rest
