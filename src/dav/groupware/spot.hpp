#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/collections/collections.hpp"
#include "welkin/http/request.hpp"

namespace welkin::dav::groupware {

/// Declared on the root of every answer beside DAV:.
inline constexpr std::string_view kDav = "DAV:", kCaldav = "urn:ietf:params:xml:ns:caldav",
                                  kCarddav = "urn:ietf:params:xml:ns:carddav",
                                  kServer = "http://calendarserver.org/ns/",
                                  kApple = "http://apple.com/ns/ical/";

/// What an address is, by its form alone. Bits, so that tables can name several.
enum Kind : unsigned {
  kNothing = 0,
  kRoot = 1,           // /dav/
  kPrincipals = 2,     // /dav/principals/, /dav/principals/users/, /dav/principals/groups/
  kPrincipal = 4,      // /dav/principals/users/{user}/, /dav/principals/groups/{group}/
  kHomes = 8,          // /dav/calendars/, /dav/addressbooks/, /dav/addressbooks/users/
  kCalendarHome = 16,  // /dav/calendars/{user}/
  kBookHome = 32,      // /dav/addressbooks/users/{user}/
  kCalendar = 64,
  kBook = 128,
  kCalendarObject = 256,
  kCardObject = 512,
  kInbox = 1024,   // what is in it are calendar objects, too
  kOutbox = 2048,  // never holds anything
  kHome = kCalendarHome | kBookHome,
  kCollection = kCalendar | kBook,
  kObject = kCalendarObject | kCardObject,
  kFolder = 255 | kInbox | kOutbox,
  kAny = 4095,
};

/// Where a request, a Destination or a DAV:href points.
struct Spot {
  Kind kind = kNothing;
  std::string mount;  // "/cloud/dav", percent-encoded
  std::vector<std::string> names;
  bool has_slash = false;
  std::string user, collection, object;  // as far as the kind has them

  /// Reached below /remote.php.
  bool is_for_nextcloud() const { return mount.find("/remote.php/") != std::string::npos; }
  bool is_group() const { return kind == kPrincipal && names.size() == 3 && names[1] == "groups"; }
  bool is_folder() const { return (kind & kFolder) != 0; }
  bool is_in_inbox() const { return kind == kInbox || (kind == kCalendarObject && collection == "inbox"); }
  collections::Kind collection_kind() const {
    if (is_in_inbox()) return collections::Kind::inbox;
    return (kind & (kCalendarHome | kCalendar | kCalendarObject | kOutbox)) != 0 ? collections::Kind::calendar
                                                                                 : collections::Kind::book;
  }
  /// The one spelling we use, percent-encoded, for headers; a folder's ends with a slash.
  std::string path() const;
  /// Ready for a DAV:href.
  std::string href() const;
  /// The same of the folder that holds it.
  Spot parent() const;
};

Kind kind_of(const collections::Collection& collection);

/// The first segment of the request is the mount.
Spot spot_of(const http::Request& rq);
Spot spot_at(std::string mount, std::vector<std::string> names, bool has_slash);
/// A URI or path in a header or body, under any of the mounts; nullopt when it leads nowhere of ours.
std::optional<Spot> spot_of_uri(const http::Request& rq, std::string_view uri);

/// Ready for a DAV:href. @param mount  as Spot::mount
std::string principal_href(std::string_view mount, std::string_view user);
std::string group_href(std::string_view mount, std::string_view group);
std::string home_href(std::string_view mount, collections::Kind kind, std::string_view user);
std::string collection_href(std::string_view mount, const std::string& user,
                            const collections::Collection& collection);

}  // namespace welkin::dav::groupware
