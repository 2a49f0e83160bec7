#pragma once
#include <span>
#include <string>
#include <string_view>

#include "welkin/files/browse.hpp"
#include "welkin/files/locks.hpp"
#include "welkin/files/properties.hpp"
#include "welkin/wire/multistatus.hpp"

namespace welkin::dav {

/// Declared on the root of every multistatus beside DAV:. There are apps that know no namespaces and look for
/// names as `d:href` and `oc:id`, so these prefixes are part of the protocol.
inline constexpr wire::XmlNamespace kNamespaces[] = {{"s", "http://sabredav.org/ns"},
                                                     {"oc", "http://owncloud.org/ns"},
                                                     {"nc", "http://nextcloud.org/ns"},
                                                     {"A", "http://apache.org/dav/props/"},
                                                     {"Z", "urn:schemas-microsoft-com:"}};

/// A lock that covers a resource, and where it was taken, ready for a DAV:href.
struct CoveringLock {
  const files::Lock* lock;
  std::string root_href;
};

/// What a property's value is made of. Only what its `needs` name is there.
struct Resource {
  const files::BrowseRow& row;
  std::span<const files::NodeProperty> stored;
  std::span<const CoveringLock> locks;
  const files::Files::DriveUse* use = nullptr;
  std::string_view sync_token;
  const files::Files::DriveOwner* owner = nullptr;
  bool is_favorite = false;
};

/// The same for every row of an answer.
struct Viewer {
  const Caller& caller;
  std::string principals;  // where principals are, "/cloud/dav/principals/", ready for a DAV:href
  Micros now = 0;
  std::string_view instance_id;  // oc:id ends with it; "" when there is none
  std::string base_url;          // origin and base path, without a slash at its end
  const std::function<bool(std::string_view)>* has_preview = nullptr;  // of the tree
};

/// Bits of LiveProperty::needs.
namespace needs {
inline constexpr unsigned kMimeType = 1, kDigests = 2, kAuthor = 4, kStored = 8, kLocks = 16, kUse = 32,
                          kSync = 64, kOwner = 128, kFavorite = 256;
}  // namespace needs

/// RFC 4918's own, and short; the few that clients of Nextcloud get.
enum AllProp : unsigned { kNever = 0, kPlainAllProp = 1, kNextcloudAllProp = 2, kEveryAllProp = 3 };

struct LiveProperty {
  enum Kinds : std::uint8_t { kFile = 1, kFolder = 2, kBoth = 3 };
  std::string_view ns, name;
  Kinds kinds;        // which resources have it; others answer 404
  unsigned allprops;  // which answers to allprop hold it: bits of AllProp
  unsigned needs;     // what must be looked up first
  bool is_protected;  // PROPPATCH answers 403
  /// Appends the whole element. false: this resource has none, nothing was appended
  bool (*write)(const Resource& resource, const Viewer& viewer, std::string& out);
};

/// Values are computed only when asked for (RFC 4918 §9.1).
std::span<const LiveProperty> live_properties();
/// Those of them that sync clients made for ownCloud and Nextcloud ask for.
std::span<const LiveProperty> nextcloud_properties();
/// nullptr: not one of them.
const LiveProperty* find_live(std::string_view ns, std::string_view name);

/// The stored property of that name; nullptr when there is none.
const files::NodeProperty* find_stored(std::span<const files::NodeProperty> stored, std::string_view ns,
                                       std::string_view name);

}  // namespace welkin::dav
