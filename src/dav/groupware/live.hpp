#pragma once
#include <span>
#include <string>
#include <string_view>

#include "dav/groupware/spot.hpp"
#include "welkin/calendars/expand.hpp"
#include "welkin/collections/sharing.hpp"
#include "welkin/files/files.hpp"
#include "welkin/people/directory.hpp"
#include "welkin/people/people.hpp"
#include "welkin/wire/multistatus.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav::groupware {

/// Declared on the root of every multistatus beside DAV:.
inline constexpr wire::XmlNamespace kNamespaces[] = {
    {"C", kCaldav}, {"A", kCarddav}, {"CS", kServer}, {"IC", kApple}};

/// What a property's value is made of. Only what its `needs` name is there.
struct Item {
  Kind kind = kNothing;
  std::string_view href;
  std::string_view user;  // whose it is in the address; "" above principals and homes
  const collections::Collection* collection = nullptr;
  const collections::ObjectRow* object = nullptr;
  std::span<const collections::Property> stored;
  std::span<const collections::Share> shares = {};  // of the collection, as far as the caller is told
  const people::Person* person = nullptr;           // a principal that is not the caller
  const people::Group* group = nullptr;             // a principal that is a group
  std::string_view token = {};                      // a home's state
};

/// The same for every item of an answer.
struct View {
  const Caller& caller;
  std::string mount;                                      // as Spot::mount
  people::User me;                                        // the caller's account, when needed
  const calendars::DataRequest* calendar_data = nullptr;  // what of objects is told; nullptr: all
  calendars::Zone floating;                               // of times without a zone
  bool scheduling = false;                                // is offered
  std::string default_calendar = {};                      // where invitations go, when needed
  std::vector<people::Group> groups = {};                 // the caller's, with his account
  files::Files::DriveUse use = {};                        // of the caller's drive, when needed
};

namespace needs {
inline constexpr unsigned kStored = 1, kTimes = 2, kData = 4, kAccount = 8, kDefaultCalendar = 16,
                          kQuota = 32, kShares = 64, kHomeState = 128;
}  // namespace needs

/// What the request says of a property beside its name: the children of calendar-data and the like.
using Arguments = wire::XmlElement;

struct LiveProperty {
  std::string_view ns, name;
  unsigned kinds;     // which items have it; for others it is whatever a client has set
  bool in_allprop;    // RFC 4918's own, and what clients expect of every server
  unsigned needs;     // what must be looked up first
  bool is_protected;  // PROPPATCH answers 403
  /// Appends the whole element. false: this item has none, nothing was appended.
  bool (*write)(const Item& item, const View& view, const Arguments* arguments, std::string& out);
};

/// nullptr: none of ours.
const LiveProperty* find_live(std::string_view ns, std::string_view name);
/// All of them, for propname and allprop.
std::span<const std::span<const LiveProperty>> live_tables();

// The tables, one a file.
std::span<const LiveProperty> common_properties();
std::span<const LiveProperty> principal_properties();
std::span<const LiveProperty> collection_properties();
std::span<const LiveProperty> access_properties();
std::span<const LiveProperty> sharing_properties();
std::span<const LiveProperty> scheduling_properties();

/// Appends what a client has set under this name; false when nobody has.
bool put_stored(const Item& item, std::string_view ns, std::string_view name, std::string& out);
/// The text of a stored element; "" when there is none.
std::string stored_text(std::span<const collections::Property> stored, std::string_view ns,
                        std::string_view name);

/// calendar-data and address-data as stored: CR, LF and all; only what XML needs is escaped.
void append_body(std::string& out, std::string_view data);

inline bool put(std::string& out, std::string_view element) {
  out += element;
  return true;
}

}  // namespace welkin::dav::groupware
