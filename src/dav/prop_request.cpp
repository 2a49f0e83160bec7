#include "dav/prop_request.hpp"

#include <set>

#include "welkin/core/error.hpp"

namespace welkin::dav {
namespace {

constexpr std::size_t kAskedMax = 256;
constexpr std::string_view kDav = "DAV:";

/// Adds the names of a DAV:prop or DAV:include.
void ask(PropRequest& request, const wire::XmlElement& prop) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto& asked : request.asked) {
    if (!asked.missing_is_told) seen.emplace(asked.ns, asked.name);
  }
  for (const auto& element : prop.children) {
    if (!seen.emplace(element.ns, element.name).second) continue;
    if (seen.size() > kAskedMax) {
      throw Error(Errc::invalid, "too_many_properties", "At most 256 properties can be asked for at once");
    }
    const auto* live = find_live(element.ns, element.name);
    request.asked.push_back({element.ns, element.name, live, true});
    request.needs |= live == nullptr ? needs::kStored : live->needs;
  }
}

void ask_all(PropRequest& request, AllProp which) {
  if (which == kPlainAllProp) {
    request.needs |= needs::kStored;
  } else {
    request.kind = PropRequest::Kind::some;  // what clients have stored comes by name only
  }
  for (const auto& live : live_properties()) {
    if ((live.allprops & which) == 0) continue;
    request.asked.push_back({std::string(live.ns), std::string(live.name), &live, false});
    request.needs |= live.needs;
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> PropRequest::stored_names() const {
  std::vector<std::pair<std::string, std::string>> names;
  if (kind != Kind::some) return names;
  for (const auto& one : asked) {
    if (one.live == nullptr || (one.live->needs & needs::kStored) != 0) names.emplace_back(one.ns, one.name);
  }
  return names;
}

PropRequest read_prop(const wire::XmlElement& prop) {
  PropRequest request;
  request.kind = PropRequest::Kind::some;
  ask(request, prop);
  return request;
}

PropRequest read_propfind(const std::optional<wire::XmlElement>& body, AllProp which) {
  PropRequest request;
  if (!body) {
    ask_all(request, which);
    return request;
  }
  if (!body->is(kDav, "propfind")) throw Error(Errc::invalid, "bad_propfind", "The body is no DAV:propfind");
  const auto* prop = body->child(kDav, "prop");
  const auto* names = body->child(kDav, "propname");
  const auto* all = body->child(kDav, "allprop");
  if ((prop != nullptr) + (names != nullptr) + (all != nullptr) != 1) {
    throw Error(Errc::invalid, "bad_propfind", "A DAV:propfind holds one of prop, propname and allprop");
  }
  if (prop != nullptr) return read_prop(*prop);
  if (names != nullptr) {
    request.kind = PropRequest::Kind::names;
    request.needs = needs::kStored;
    return request;
  }
  ask_all(request, which);
  if (const auto* include = body->child(kDav, "include")) ask(request, *include);
  return request;
}

}  // namespace welkin::dav
