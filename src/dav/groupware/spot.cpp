#include "dav/groupware/spot.hpp"

#include <algorithm>
#include <array>

#include "welkin/core/text.hpp"
#include "welkin/dav/location.hpp"
#include "welkin/http/path.hpp"
#include "welkin/wire/multistatus.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav::groupware {
namespace {

constexpr std::string_view kPlainInPaths = "!$&'()*+,;=:@";
constexpr std::array<std::string_view, 3> kMounts{"dav", "caldav", "carddav"};
constexpr std::string_view kAbove = "remote.php";  // clients of Nextcloud know the same mounts below it

/// How many of the names are the mount; 0: none of ours.
std::size_t mount_size(std::vector<std::string>::const_iterator from,
                       std::vector<std::string>::const_iterator to) {
  const std::size_t above = from != to && *from == kAbove ? 1 : 0;
  if (static_cast<std::size_t>(to - from) <= above) return 0;
  const auto& name = *(from + static_cast<std::ptrdiff_t>(above));
  return std::find(kMounts.begin(), kMounts.end(), name) == kMounts.end() ? 0 : above + 1;
}

/// The mount that these names are, as hrefs begin.
std::string mount_of(const http::Request& rq, std::vector<std::string>::const_iterator from,
                     std::size_t size) {
  std::string mount(rq.base_path());
  for (; size > 0; --size, ++from) (mount += '/') += *from;
  return mount;
}

void read_kind(Spot& spot) {
  const auto& n = spot.names;
  const auto size = n.size();
  if (size == 0) {
    spot.kind = kRoot;
  } else if (n[0] == "principals") {
    const bool is_known = size > 1 && (n[1] == "users" || n[1] == "groups");
    if (size == 1 || (size == 2 && is_known)) spot.kind = kPrincipals;
    if (size == 3 && is_known) {
      spot.kind = kPrincipal;
      spot.user = n[2];
    }
  } else if (n[0] == "calendars" || n[0] == "addressbooks") {
    const bool calendars = n[0] == "calendars";
    const std::size_t above = calendars ? 1 : 2;
    if (!calendars && size > 1 && n[1] != "users") return;
    if (size > above + 3) return;
    spot.kind = kHomes;
    if (size <= above) return;
    constexpr Kind kKinds[2][3] = {{kBookHome, kBook, kCardObject},
                                   {kCalendarHome, kCalendar, kCalendarObject}};
    spot.kind = kKinds[calendars][size - above - 1];
    spot.user = n[above];
    if (size > above + 1) spot.collection = n[above + 1];
    if (size > above + 2) spot.object = n[above + 2];
    if (spot.kind == kCalendar && spot.collection == "inbox") spot.kind = kInbox;
    if (spot.collection == "outbox" && calendars) spot.kind = spot.kind == kCalendar ? kOutbox : kNothing;
  }
}

void append_segment(std::string& href, std::string_view name) {
  wire::append_href_segment(href, name);
  href += '/';
}

}  // namespace

std::string Spot::path() const {
  std::string out = mount;
  for (const auto& name : names) (out += '/') += text::percent_encode(name, kPlainInPaths);
  if (is_folder()) out += '/';
  return out;
}

std::string Spot::href() const {
  auto out = wire::href_prefix(mount, names);
  if (!is_folder() && !names.empty()) out.pop_back();
  return out;
}

Spot Spot::parent() const {
  auto above = names;
  if (!above.empty()) above.pop_back();
  return spot_at(mount, std::move(above), true);
}

Spot spot_at(std::string mount, std::vector<std::string> names, bool has_slash) {
  Spot spot;
  spot.mount = std::move(mount);
  spot.names = std::move(names);
  spot.has_slash = has_slash;
  // One form, so that a name is found however it was typed.
  for (auto& name : spot.names) name = text::nfc(name);
  const bool too_long = std::any_of(spot.names.begin(), spot.names.end(), [](const std::string& name) {
    return name.size() > collections::Objects::kNameBytesMax;
  });
  if (!too_long) read_kind(spot);
  return spot;
}

Spot spot_of(const http::Request& rq) {
  const auto& segments = rq.segments();
  const auto size = mount_size(segments.begin(), segments.end());
  if (size == 0) return spot_at(std::string(rq.base_path()), {}, true);
  return spot_at(mount_of(rq, segments.begin(), size),
                 {segments.begin() + static_cast<std::ptrdiff_t>(size), segments.end()}, rq.trailing_slash());
}

std::optional<Spot> spot_of_uri(const http::Request& rq, std::string_view uri) {
  std::vector<std::string> names, base;
  bool has_slash = false, ignored = false;
  if (read_own_uri(rq, uri, names, has_slash) != UriReading::ok) return std::nullopt;
  if (http::decode_path(rq.base_path(), base, ignored)) return std::nullopt;
  if (names.size() <= base.size() || !std::equal(base.begin(), base.end(), names.begin()))
    return std::nullopt;
  const auto first = names.cbegin() + static_cast<std::ptrdiff_t>(base.size());
  const auto size = mount_size(first, names.cend());
  if (size == 0) return std::nullopt;
  return spot_at(mount_of(rq, first, size), {first + static_cast<std::ptrdiff_t>(size), names.cend()},
                 has_slash);
}

Kind kind_of(const collections::Collection& collection) {
  switch (collection.kind) {
    case collections::Kind::calendar:
      return kCalendar;
    case collections::Kind::book:
      return kBook;
    case collections::Kind::inbox:
      return kInbox;
  }
  return kNothing;
}

std::string principal_href(std::string_view mount, std::string_view user) {
  std::string out;
  wire::append_escaped(out, mount);
  append_segment(out += "/principals/users/", user);
  return out;
}

std::string group_href(std::string_view mount, std::string_view group) {
  std::string out;
  wire::append_escaped(out, mount);
  append_segment(out += "/principals/groups/", group);
  return out;
}

std::string home_href(std::string_view mount, collections::Kind kind, std::string_view user) {
  std::string out;
  wire::append_escaped(out, mount);
  append_segment(out += kind == collections::Kind::book ? "/addressbooks/users/" : "/calendars/", user);
  return out;
}

std::string collection_href(std::string_view mount, const std::string& user,
                            const collections::Collection& collection) {
  auto out = home_href(mount, collection.kind, user);
  append_segment(out, collection.path);
  return out;
}

}  // namespace welkin::dav::groupware
