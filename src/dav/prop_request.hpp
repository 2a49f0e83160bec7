#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dav/live_properties.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {

/// Which properties an answer shows of each resource (RFC 4918 §9.1, §14.2, §14.8, §14.18, §14.20).
struct PropRequest {
  enum class Kind : std::uint8_t { all, names, some };
  struct Asked {
    std::string ns, name;
    const LiveProperty* live = nullptr;
    bool missing_is_told = true;  // by a 404; not of what allprop brings
  };
  Kind kind = Kind::all;
  std::vector<Asked> asked;  // in the order of the request, each once
  unsigned needs = 0;        // of all of them together

  /// Stored properties to look up, empty for all of them; only when `needs` has kStored.
  std::vector<std::pair<std::string, std::string>> stored_names() const;
};

/// The body of a PROPFIND; none means allprop. @throws Error invalid `bad_propfind`, `too_many_properties`
PropRequest read_propfind(const std::optional<wire::XmlElement>& body, AllProp which);
/// The DAV:prop of a REPORT or a SEARCH.
PropRequest read_prop(const wire::XmlElement& prop);

}  // namespace welkin::dav
