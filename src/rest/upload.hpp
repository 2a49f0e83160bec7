#pragma once
#include "welkin/rest/rest.hpp"

namespace welkin::rest {

/// If-Match and If-None-Match as demands that are checked again under the drive's lock. @throws Error invalid
/// `bad_precondition` when a list is malformed or both are there
files::Expect expectation(const http::Fields& headers);

/// Stores the body of this request as it is: Content-Type, X-OC-MTime, Repr-Digest and Content-Digest count,
/// and If-Match, If-None-Match, If-Unmodified-Since. Answers 201 or 200 with the File.
/// @throws Error invalid `bad_digest`, `digest_mismatch`, `bad_mtime`, `content_range`;
/// unsupported_media_type
///         `content_encoding`, `form_body`; and what files::begin_upload and Upload throw
Task<> receive_raw(const Services& services, http::Request& rq, http::Reply& rp, files::Target target);

/// POST /api/files/upload: `folder_id` (absent: the home), then the first `file`. Never overwrites. 201 with
/// the File.
/// @throws Error invalid `no_file`, `bad_multipart`; conflict `exists`
Task<> receive_form(const Services& services, http::Request& rq, http::Reply& rp);

/// The SHA-256 that Repr-Digest or Content-Digest declare (RFC 9530; the same thing for a whole body without
/// content coding); nullopt when neither names that algorithm. @throws Error invalid `bad_digest`,
/// `digest_mismatch`
std::optional<Sha256> declared_digest(const http::Fields& headers);

}  // namespace welkin::rest
