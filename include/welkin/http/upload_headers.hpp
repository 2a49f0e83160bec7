#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/http/message.hpp"

namespace welkin::http {

/// A digest of the body that the client says it has.
struct DeclaredDigest {
  std::string_view algorithm;  // "sha-256", "sha-512", "sha-1", "md5" or "adler32": a literal
  Bytes value;                 // of that algorithm's length
};

/// Repr-Digest and Content-Digest (RFC 9530; the same thing for a whole body without content coding), of them
/// sha-256 and sha-512. Other algorithms are passed over. @throws Error invalid `bad_digest`
std::vector<DeclaredDigest> declared_digests(const Fields& headers);
/// What older clients send: OC-Checksum, Content-MD5, Digest (RFC 3230). @throws Error invalid `bad_digest`
std::vector<DeclaredDigest> declared_checksums(const Fields& headers);

/// X-OC-MTime: seconds since 1970, perhaps with a fraction, as sync clients send it; nullopt when absent.
/// @throws Error invalid `bad_mtime`
std::optional<Micros> client_mtime(const Fields& headers);

/// A body that is not simply the file would be stored as it came, to be found broken much later.
/// @throws Error unsupported_media_type `content_encoding`; invalid `content_range` (RFC 9110 §14.5: a part
/// must not be taken for the whole)
void require_plain_body(const Fields& headers);

}  // namespace welkin::http
