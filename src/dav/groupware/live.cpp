#include "dav/groupware/live.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "dav/groupware/card_data.hpp"
#include "welkin/core/error.hpp"

namespace welkin::dav::groupware {
namespace {

using Names = std::unordered_map<std::string_view, std::vector<const LiveProperty*>>;

const Names& by_name() {
  static const Names names = [] {
    Names out;
    for (const auto table : live_tables())
      for (const auto& live : table) out[live.name].push_back(&live);
    return out;
  }();
  return names;
}

bool resourcetype(const Item& item, const View&, const Arguments*, std::string& out) {
  out += "<d:resourcetype>";
  if (item.kind == kPrincipal) out += "<d:principal/>";
  if ((item.kind & kFolder) != 0) out += "<d:collection/>";
  if (item.kind == kCalendar) out += "<C:calendar/>";
  if (item.kind == kBook) out += "<A:addressbook/>";
  if (item.kind == kCalendar && item.collection->origin == collections::Origin::subscription)
    out += "<CS:subscribed/>";
  if (item.kind == kInbox) out += "<C:schedule-inbox/>";
  if (item.kind == kOutbox) out += "<C:schedule-outbox/>";
  if (item.collection != nullptr && (item.kind & kCollection) != 0) {
    if (item.collection->access != collections::Access::own && item.collection->owner_name != item.user)
      out += "<CS:shared/>";
    else if (item.collection->is_shared)
      out += "<CS:shared-owner/>";
  }
  return put(out, "</d:resourcetype>");
}

bool displayname(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (put_stored(item, kDav, "displayname", out)) return true;
  std::string name;
  if (item.collection != nullptr) {
    name = default_name(*item.collection);
  } else if (item.kind == kPrincipal) {
    name = item.group != nullptr          ? item.group->display_name
           : item.person != nullptr       ? item.person->display_name
           : view.me.display_name.empty() ? view.me.name
                                          : view.me.display_name;
  } else {
    return false;
  }
  out += "<d:displayname>";
  wire::append_escaped(out, name);
  return put(out, "</d:displayname>");
}

bool getetag(const Item& item, const View&, const Arguments*, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "<d:getetag>\"";
  for (const auto byte : item.object->etag) (out += kDigits[byte >> 4]) += kDigits[byte & 15];
  return put(out, "\"</d:getetag>");
}

bool getcontenttype(const Item& item, const View&, const Arguments*, std::string& out) {
  if (item.kind == kCardObject)
    return put(out, "<d:getcontenttype>text/vcard; charset=utf-8</d:getcontenttype>");
  out += "<d:getcontenttype>text/calendar; charset=utf-8";
  using namespace collections::component;
  if (item.object->component == kEvent) out += "; component=VEVENT";
  if (item.object->component == kTodo) out += "; component=VTODO";
  if (item.object->component == kJournal) out += "; component=VJOURNAL";
  return put(out, "</d:getcontenttype>");
}

bool getcontentlength(const Item& item, const View&, const Arguments*, std::string& out) {
  out += "<d:getcontentlength>";
  wire::append_number(out, static_cast<std::uint64_t>(item.object->size_bytes));
  return put(out, "</d:getcontentlength>");
}

bool getlastmodified(const Item& item, const View&, const Arguments*, std::string& out) {
  const auto at = item.object != nullptr ? item.object->modified_at : item.collection->changed_at;
  out += "<d:getlastmodified>";
  wire::append_http_date(out, at);
  return put(out, "</d:getlastmodified>");
}

bool creationdate(const Item& item, const View&, const Arguments*, std::string& out) {
  const auto at = item.object != nullptr ? item.object->created_at : item.collection->created_at;
  out += "<d:creationdate>";
  wire::append_rfc3339(out, at);
  return put(out, "</d:creationdate>");
}

/// What of the object was asked for. nullopt: its series has more instances than anybody is told.
std::optional<std::string> rendered(std::string_view data, const View& view) {
  std::string out;
  try {
    wire::append_ical(out,
                      calendars::render_object(wire::parse_ical(data), *view.calendar_data, view.floating));
  } catch (const Error&) {
    return std::nullopt;
  }
  return out;
}

bool calendar_data(const Item& item, const View& view, const Arguments*, std::string& out) {
  const bool whole = view.calendar_data == nullptr || view.calendar_data->is_whole();
  const auto made = whole ? std::nullopt : rendered(item.object->data, view);
  if (!whole && !made) return false;
  out += "<C:calendar-data>";
  append_body(out, made ? std::string_view(*made) : item.object->data);
  return put(out, "</C:calendar-data>");
}

bool address_data(const Item& item, const View&, const Arguments* arguments, std::string& out) {
  const auto* version = arguments == nullptr ? nullptr : arguments->attribute("", "version");
  out += "<A:address-data content-type=\"text/vcard\" version=\"";
  out += version != nullptr && *version == "4.0" ? "4.0\">" : "3.0\">";
  append_body(out, render_card(item.object->data, arguments));
  return put(out, "</A:address-data>");
}

constexpr LiveProperty kCommon[] = {
    {kDav, "resourcetype", kAny, true, 0, true, resourcetype},
    {kDav, "displayname", kPrincipal | kCollection | kInbox, true, needs::kStored | needs::kAccount, false,
     displayname},
    {kDav, "getetag", kObject, true, 0, true, getetag},
    {kDav, "getcontenttype", kObject, true, 0, true, getcontenttype},
    {kDav, "getcontentlength", kObject, true, 0, true, getcontentlength},
    {kDav, "getlastmodified", kObject | kCollection | kInbox, true, needs::kTimes, true, getlastmodified},
    {kDav, "creationdate", kObject | kCollection | kInbox, true, needs::kTimes, true, creationdate},
    {kCaldav, "calendar-data", kCalendarObject, false, needs::kData, true, calendar_data},
    {kCarddav, "address-data", kCardObject, false, needs::kData, true, address_data},
};

}  // namespace

std::span<const LiveProperty> common_properties() { return kCommon; }

std::span<const std::span<const LiveProperty>> live_tables() {
  static const std::array tables{common_properties(), principal_properties(), collection_properties(),
                                 access_properties(), sharing_properties(),   scheduling_properties()};
  return tables;
}

const LiveProperty* find_live(std::string_view ns, std::string_view name) {
  const auto found = by_name().find(name);
  if (found == by_name().end()) return nullptr;
  for (const auto* live : found->second)
    if (live->ns == ns) return live;
  return nullptr;
}

bool put_stored(const Item& item, std::string_view ns, std::string_view name, std::string& out) {
  for (const auto& stored : item.stored)
    if (stored.name == name && stored.ns == ns) return put(out, stored.value);
  return false;
}

std::string stored_text(std::span<const collections::Property> stored, std::string_view ns,
                        std::string_view name) {
  for (const auto& one : stored)
    if (one.name == name && one.ns == ns) return wire::parse_xml(one.value).text;
  return "";
}

void append_body(std::string& out, std::string_view data) {
  for (std::size_t from = 0; from <= data.size();) {
    const auto at = std::min(data.find_first_of("&<>", from), data.size());
    out.append(data, from, at - from);
    if (at < data.size()) out += data[at] == '&' ? "&amp;" : data[at] == '<' ? "&lt;" : "&gt;";
    from = at + 1;
  }
}

}  // namespace welkin::dav::groupware
