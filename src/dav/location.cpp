#include "welkin/dav/location.hpp"

#include <algorithm>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/path.hpp"

namespace welkin::dav {
namespace {

constexpr std::size_t kUriBytesMax = 8192;
constexpr std::size_t kNameBytesMax = 255, kPathBytesMax = 4096, kSegmentsMax = 128;

enum class Reading { ok, malformed, other_server, outside };

Place checked(Place place) {
  std::size_t bytes = 0;
  if (place.names.size() > kSegmentsMax)
    throw Error(Errc::invalid, "path_too_long", "The path has more than 128 segments");
  for (const auto& name : place.names) {
    if (name.size() > kNameBytesMax)
      throw Error(Errc::invalid, "name_too_long", "A name is longer than 255 bytes");
    bytes += name.size() + 1;
  }
  if (bytes > kPathBytesMax)
    throw Error(Errc::invalid, "path_too_long", "The path is longer than 4096 bytes");
  return place;
}

/// Takes scheme and authority off `uri`. false: not an absolute URI of HTTP.
bool take_authority(std::string_view& uri, std::string_view& host) {
  const auto colon = uri.find("://");
  if (colon == uri.npos) return false;
  const auto scheme = uri.substr(0, colon);
  if (!text::iequals(scheme, "http") && !text::iequals(scheme, "https")) return false;
  uri.remove_prefix(colon + 3);
  const auto slash = std::min(uri.find('/'), uri.size());
  auto authority = uri.substr(0, slash);
  uri.remove_prefix(slash);
  if (const auto at = authority.rfind('@'); at != authority.npos) authority.remove_prefix(at + 1);
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == authority.npos) return false;
  const auto port = authority.find(':', bracket);
  host = authority.substr(0, port);
  if (host.empty()) return false;
  return port == authority.npos || port + 1 == authority.size() || text::number(authority.substr(port + 1));
}

/// Whether whoever wrote this path cannot have encoded it: it holds what an encoded one never does.
bool is_raw(std::string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto c = static_cast<unsigned char>(path[i]);
    if (c <= ' ' || c >= 0x7f || std::string_view("\"#<>?").find(path[i]) != std::string_view::npos)
      return true;
    if (c == '%' && (i + 2 >= path.size() || !text::from_hex(path.substr(i + 1, 2)))) return true;
  }
  return false;
}

UriReading read_raw(std::string_view path, std::vector<std::string>& names, bool& has_slash) {
  std::string encoded;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      encoded += text::percent_encode(std::string_view(&c, 1), "");
    } else {
      encoded += c;
    }
  }
  return http::decode_path(encoded, names, has_slash) ? UriReading::malformed : UriReading::ok;
}

/// Removes the mount from the decoded names.
bool take_mount(std::vector<std::string>& names, std::string_view root) {
  std::vector<std::string> mount;
  bool slash = false;
  if (http::decode_path(root, mount, slash)) return false;
  if (names.size() < mount.size() || !std::equal(mount.begin(), mount.end(), names.begin())) return false;
  names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(mount.size()));
  return true;
}

Reading read_uri(const Tree& tree, const http::Request& rq, std::string_view uri, Place& out,
                 bool to_nfc = true) {
  switch (read_own_uri(rq, uri, out.names, out.has_slash, tree.for_nextcloud)) {
    case UriReading::malformed:
      return Reading::malformed;
    case UriReading::other_server:
      return Reading::other_server;
    case UriReading::ok:
      break;
  }
  out.root = std::string(rq.base_path()) + tree.path_of(rq.caller().name);
  if (!take_mount(out.names, out.root)) return Reading::outside;
  if (to_nfc)
    for (auto& name : out.names) name = text::nfc(name);
  return Reading::ok;
}

}  // namespace

UriReading read_own_uri(const http::Request& rq, std::string_view uri, std::vector<std::string>& names,
                        bool& has_slash, bool may_be_raw) {
  uri = text::trim(uri);
  if (uri.empty() || uri.size() > kUriBytesMax) return UriReading::malformed;
  if (uri.front() != '/') {
    std::string_view host;
    if (!take_authority(uri, host)) return UriReading::malformed;
    if (!rq.is_own_host(host)) return UriReading::other_server;
    if (uri.empty()) uri = "/";
  }
  if (may_be_raw && is_raw(uri)) return read_raw(uri, names, has_slash);
  if (uri.find_first_of("?#") != uri.npos) return UriReading::malformed;
  return http::decode_path(uri, names, has_slash) ? UriReading::malformed : UriReading::ok;
}

Place checked_place(const Tree& tree, const http::Request& rq) { return checked(place_of(tree, rq)); }

Place destination_of(const Tree& tree, const http::Request& rq) {
  Place place;
  switch (read_uri(tree, rq, rq.header("destination"), place)) {
    case Reading::malformed:
      throw Error(Errc::invalid, "bad_destination",
                  "Destination must be an absolute URI or path, without query and fragment");
    case Reading::other_server:
      throw Error(Errc::invalid, "other_server", "Destination is on another server");
    case Reading::outside:
      throw Error(Errc::forbidden, "outside_webdav", "Destination is not below the WebDAV address");
    case Reading::ok:
      break;
  }
  return checked(std::move(place));
}

bool is_respelled(const Tree& tree, const http::Request& rq) {
  Place place;
  if (read_uri(tree, rq, rq.header("destination"), place, false) != Reading::ok) return false;
  const auto own = rq.rest();
  if (place.names.empty() || place.names.size() != own.size()) return false;
  return place.names.back() != own.back() && text::nfc(place.names.back()) == text::nfc(own.back());
}

std::optional<Place> place_of_tag(const Tree& tree, const http::Request& rq, std::string_view uri) {
  Place place;
  if (read_uri(tree, rq, uri, place) != Reading::ok) return std::nullopt;
  try {
    return checked(std::move(place));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace welkin::dav
