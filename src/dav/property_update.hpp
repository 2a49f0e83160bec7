#pragma once
#include <optional>
#include <string>
#include <vector>

#include "dav/live_properties.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/properties.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {

/// The instructions of a PROPPATCH or an extended MKCOL, judged one by one before anything is changed.
struct PropertyUpdate {
  struct Named {
    std::string ns, name;
    int status = 200;            // what became of it
    std::string_view condition;  // children of DAV:error, "" for none
  };
  std::vector<Named> named;    // each property once, in the order of the request
  files::PropertyPatch patch;  // what is to be done when `fails` is false
  std::optional<bool> favorite;  // the user's own mark, which is none of the node's properties
  bool fails = false;

  bool changes_anything() const;
  /// Marks the property that did not fit, and those that fell with it. `condition` is a literal.
  void fail_last(int status, std::string_view condition);
  /// 424 for whatever did not fail itself (RFC 4918 §9.2).
  void let_others_fall();
  /// The propstats, one a status.
  void write(wire::Multistatus& out) const;
};

/// The condition of RFC 4331 when it was the quota that left no room for properties.
std::string_view no_room(const Error& refusal);

/// @param update  DAV:propertyupdate
/// @throws Error invalid `bad_propertyupdate` when it holds no instruction or a malformed one
PropertyUpdate read_property_update(const wire::XmlElement& update, bool is_folder);

/// The DAV:mkcol of RFC 5689: only DAV:set, and DAV:resourcetype says a plain collection.
/// @throws Error invalid `bad_mkcol`, `bad_propertyupdate`
PropertyUpdate read_mkcol(wire::XmlElement mkcol);

}  // namespace welkin::dav
