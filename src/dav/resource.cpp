#include "welkin/dav/resource.hpp"

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/multistatus.hpp"

namespace welkin::dav {
namespace {

constexpr std::string_view kPlainInPaths = "!$&'()*+,;=:@";
constexpr std::string_view kUserSegment = "{user}";

}  // namespace

std::string Tree::pattern() const {
  std::string out;
  for (const auto& segment : mount) (out += '/') += segment;
  return out;
}

std::string Tree::path_of(std::string_view user) const {
  std::string out;
  for (const auto& segment : mount)
    (out += '/') += text::percent_encode(segment == kUserSegment ? user : segment, kPlainInPaths);
  return out;
}

std::string Place::path(bool is_folder) const {
  std::string out = root;
  for (const auto& name : names) (out += '/') += text::percent_encode(name, kPlainInPaths);
  if (is_folder) out += '/';
  return out;
}

std::string Place::href(bool is_folder) const {
  auto out = wire::href_prefix(root, names);
  if (!is_folder && !names.empty()) out.pop_back();
  return out;
}

Place place_of(const Tree& tree, const http::Request& rq) {
  const auto& segments = rq.segments();
  for (std::size_t i = 0; i < tree.mount.size() && i < segments.size(); ++i) {
    if (tree.mount[i] == kUserSegment && segments[i] != rq.caller().name)
      throw Error(Errc::not_found, "not_found", "There is nothing at this address");
  }
  Place place;
  (place.root = rq.base_path()) += tree.path_of(rq.caller().name);
  if (segments.size() > tree.mount.size())
    place.names.assign(segments.begin() + static_cast<std::ptrdiff_t>(tree.mount.size()), segments.end());
  for (auto& name : place.names) name = text::nfc(name);
  place.has_slash = rq.trailing_slash();
  return place;
}

Task<files::Node> require_node(const TreeServices& services, const http::Request& rq, const Place& place) {
  auto node = co_await services.files.by_path(rq.caller(), place.names);
  if (place.has_slash && !node.is_folder()) {
    throw Error(Errc::not_found, "not_found", "There is no folder at this address");
  }
  co_return node;
}

Task<std::optional<wire::XmlElement>> read_xml(http::Request& rq) {
  const auto coding = text::trim(rq.header("content-encoding"));
  if (!coding.empty() && !text::iequals(coding, "identity")) {
    throw Error(Errc::unsupported_media_type, "content_encoding",
                "Bodies are taken without a content coding");
  }
  wire::XmlReader reader(wire::charset_of(rq.header("content-type")));
  bool any = false;
  for (auto piece = co_await rq.read(); !piece.empty(); piece = co_await rq.read()) {
    any = true;
    reader.feed(as_text(piece));
  }
  if (!any) co_return std::nullopt;
  co_return reader.finish();
}

std::optional<DepthHeader> depth_of(const http::Request& rq) {
  if (!rq.headers().has("depth")) return std::nullopt;
  const auto value = text::trim(rq.header("depth"));
  if (value == "0") return DepthHeader{Depth::zero};
  if (value == "1") return DepthHeader{Depth::one};
  if (text::iequals(value, "infinity")) return DepthHeader{Depth::infinity};
  const auto comma = value.find(',');
  if (comma != std::string_view::npos && text::iequals(text::trim(value.substr(comma + 1)), "noroot")) {
    const auto depth = text::trim(value.substr(0, comma));
    if (depth == "1") return DepthHeader{Depth::one, true};
    if (text::iequals(depth, "infinity")) return DepthHeader{Depth::infinity, true};
  }
  throw Error(Errc::invalid, "bad_depth", "Depth is 0, 1 or infinity");
}

Preferences preferences_of(const http::Request& rq) {
  Preferences out;
  const std::string all = rq.headers().joined("prefer");
  for (auto preference : text::split(all, ',')) {
    preference = text::trim(preference.substr(0, preference.find(';')));
    if (text::iequals(preference, "return=minimal") || text::iequals(preference, "return-minimal")) {
      out.minimal = true;
    }
    if (text::iequals(preference, "depth-noroot")) out.no_root = true;
  }
  if (text::iequals(text::trim(rq.header("brief")), "t")) out.minimal = true;
  return out;
}

Task<> begin_multistatus(http::Reply& rp, const Preferences& preferences) {
  std::string applied;
  if (preferences.minimal) applied = "return=minimal";
  if (preferences.no_root) applied += applied.empty() ? "depth-noroot" : ", depth-noroot";
  if (!applied.empty()) rp.set("Preference-Applied", applied);
  rp.add("Vary", "Prefer, Brief");
  rp.set("Cache-Control", "private, no-cache");
  co_await rp.begin(http::Status::multi_status, "application/xml; charset=utf-8", std::nullopt, true);
}

}  // namespace welkin::dav
