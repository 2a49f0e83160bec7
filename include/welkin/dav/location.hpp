#pragma once
#include <optional>
#include <string_view>

#include "welkin/dav/resource.hpp"

namespace welkin::dav {

/// Where a request points, for writes. @throws Error 414 `name_too_long`, `path_too_long`
Place checked_place(const Tree& tree, const http::Request& rq);

enum class UriReading : std::uint8_t { ok, malformed, other_server };
/// The decoded names of a URI of this server, or of a path; the mount is still among them. Scheme and port do
/// not count. @param may_be_raw  what cannot have been encoded is not decoded either
UriReading read_own_uri(const http::Request& rq, std::string_view uri, std::vector<std::string>& names,
                        bool& has_slash, bool may_be_raw = false);

/// The Destination header (RFC 4918 §10.3): an absolute URI with any scheme of HTTP and any port, because
/// proxies change both, or a path. @throws Error invalid `bad_destination`; 502 `other_server`; forbidden
/// `outside_webdav`; and as checked_place
Place destination_of(const Tree& tree, const http::Request& rq);

/// Whether Destination is the request's own place, but with its last name in another Unicode form: a rename
/// for clients that keep both, nothing to do for this server.
bool is_respelled(const Tree& tree, const http::Request& rq);

/// A URI in an If header, read the same way; nullopt when it leads nowhere of ours.
std::optional<Place> place_of_tag(const Tree& tree, const http::Request& rq, std::string_view uri);

}  // namespace welkin::dav
