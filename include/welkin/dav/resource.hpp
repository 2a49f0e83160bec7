#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/dav/tree.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {

/// Where a request points: names below the mount, in NFC.
struct Place {
  std::string root;  // the mount as hrefs begin, "/cloud/webdav", percent-encoded
  std::vector<std::string> names;
  bool has_slash = false;

  /// Percent-encoded, for headers; a folder's ends with a slash.
  std::string path(bool is_folder) const;
  /// Ready for a DAV:href.
  std::string href(bool is_folder) const;
};
Place place_of(const Tree& tree, const http::Request& rq);

/// @throws Error not_found, also for a file asked for with a slash at its end
Task<files::Node> require_node(const TreeServices& services, const http::Request& rq, const Place& place);

/// The XML a request carries, whatever it says its type is; nullopt when it carries nothing.
/// @throws Error what wire::XmlReader says; unsupported_media_type `content_encoding`
Task<std::optional<wire::XmlElement>> read_xml(http::Request& rq);

enum class Depth : std::uint8_t { zero, one, infinity };
struct DepthHeader {
  Depth depth;
  bool no_root = false;  // Microsoft's "1,noroot"
};
/// nullopt when there is no such header. @throws Error invalid `bad_depth`
std::optional<DepthHeader> depth_of(const http::Request& rq);

/// What of Prefer (RFC 7240, RFC 8144) and Brief is honoured.
struct Preferences {
  bool minimal = false;
  bool no_root = false;
};
Preferences preferences_of(const http::Request& rq);

/// Headers of a 207 and its beginning: begins the reply.
Task<> begin_multistatus(http::Reply& rp, const Preferences& preferences);

}  // namespace welkin::dav
