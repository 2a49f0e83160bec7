#pragma once
#include <optional>
#include <string_view>

#include "dav/change.hpp"

namespace welkin::dav {

/// PUT -> 201 made, 204 replaced | 400 content_range, bad_digest, digest_mismatch, bad_mtime, empty_body |
/// 405 on a folder | 409 parent_missing | 412 | 415 content_encoding | 423 | 507. Until the last byte is
/// there and the change is committed, the old content stays.
Task<> put(Change& change);

/// PATCH with X-Update-Range: append, bytes=a-b, bytes=a-, bytes=-n -> 204 | 400 | 404 | 409 when the file
/// changed meanwhile | 411 | 415 | 416. The whole new content becomes visible at once.
Task<> patch(Change& change);

/// X-OC-MTime and X-OC-CTime of sync clients: seconds, perhaps with a fraction. Those clients take nothing up
/// to 1970 back, so it is refused. @throws Error invalid `bad_mtime`
std::optional<Micros> sync_time(const Change& change, std::string_view header);
/// Makes the folders above, where a sync client wants that and they are missing.
Task<> make_wanted_parents(Change& change);
/// Confirms X-OC-CTime when it could be set.
Task<> set_created_at(Change& change, const files::Node& node, std::optional<Micros> created_at);

/// The file that a PUT or PATCH writes. @throws Error conflict `parent_missing`
files::Target target_of(const Change& change);
/// Lets the request have a body of the size that files may have.
void allow_upload(Change& change);
/// 405 with Allow.
[[noreturn]] void refuse_folder_content(Change& change);

}  // namespace welkin::dav
