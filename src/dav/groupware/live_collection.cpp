#include "dav/groupware/limits.hpp"
#include "dav/groupware/live.hpp"
#include "dav/groupware/sync_state.hpp"

namespace welkin::dav::groupware {
namespace {

bool getctag(const Item& item, const View&, const Arguments*, std::string& out) {
  if (item.collection == nullptr) {
    ((out += "<CS:getctag>") += item.token) += "</CS:getctag>";
    return true;
  }
  ((out += "<CS:getctag>") += write_token(*item.collection)) += "</CS:getctag>";
  return true;
}

bool sync_token(const Item& item, const View&, const Arguments*, std::string& out) {
  if (item.collection == nullptr) {
    ((out += "<d:sync-token>") += item.token) += "</d:sync-token>";
    return true;
  }
  ((out += "<d:sync-token>") += write_token(*item.collection)) += "</d:sync-token>";
  return true;
}

bool resource_id(const Item& item, const View&, const Arguments*, std::string& out) {
  ((out += "<d:resource-id><d:href>urn:uuid:") += item.collection->uid) += "</d:href></d:resource-id>";
  return true;
}

void append_components(std::string& out, std::int16_t components) {
  using namespace collections::component;
  if ((components & kEvent) != 0) out += "<C:comp name=\"VEVENT\"/>";
  if ((components & kTodo) != 0) out += "<C:comp name=\"VTODO\"/>";
  if ((components & kJournal) != 0) out += "<C:comp name=\"VJOURNAL\"/>";
}

bool component_set(const Item& item, const View&, const Arguments*, std::string& out) {
  out += "<C:supported-calendar-component-set>";
  append_components(out, item.collection->components);
  return put(out, "</C:supported-calendar-component-set>");
}

/// Every combination that MKCALENDAR takes.
bool component_sets(const Item&, const View&, const Arguments*, std::string& out) {
  out += "<C:supported-calendar-component-sets>";
  for (std::int16_t set = 1; set <= collections::component::kAll; ++set) {
    out += "<C:supported-calendar-component-set>";
    append_components(out, set);
    out += "</C:supported-calendar-component-set>";
  }
  return put(out, "</C:supported-calendar-component-sets>");
}

bool calendar_data_set(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out,
             "<C:supported-calendar-data><C:calendar-data content-type=\"text/calendar\" version=\"2.0\"/>"
             "</C:supported-calendar-data>");
}

bool address_data_set(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out,
             "<A:supported-address-data><A:address-data-type content-type=\"text/vcard\" version=\"3.0\"/>"
             "<A:address-data-type content-type=\"text/vcard\" version=\"4.0\"/></A:supported-address-data>");
}

bool calendar_size_max(const Item&, const View&, const Arguments*, std::string& out) {
  out += "<C:max-resource-size>";
  wire::append_number(out, kObjectBytesMax);
  return put(out, "</C:max-resource-size>");
}

bool card_size_max(const Item&, const View&, const Arguments*, std::string& out) {
  out += "<A:max-resource-size>";
  wire::append_number(out, kObjectBytesMax);
  return put(out, "</A:max-resource-size>");
}

bool min_date(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<C:min-date-time>18000101T000000Z</C:min-date-time>");
}

bool max_date(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<C:max-date-time>22000101T000000Z</C:max-date-time>");
}

bool max_instances(const Item&, const View&, const Arguments*, std::string& out) {
  out += "<C:max-instances>";
  wire::append_number(out, kInstancesMax);
  return put(out, "</C:max-instances>");
}

bool max_attendees(const Item&, const View&, const Arguments*, std::string& out) {
  out += "<C:max-attendees-per-instance>";
  wire::append_number(out, kAttendeesMax);
  return put(out, "</C:max-attendees-per-instance>");
}

bool collations(const Item& item, const View&, const Arguments*, std::string& out) {
  const std::string prefix = item.kind == kBook ? "A:" : "C:";
  const auto one = [&](std::string_view name) {
    (((((out += "<" + prefix) += "supported-collation>") += name) += "</") += prefix) +=
        "supported-collation>";
  };
  (out += "<" + prefix) += "supported-collation-set>";
  one("i;ascii-casemap");
  one("i;octet");
  one("i;unicode-casemap");
  return put(out, "</" + prefix + "supported-collation-set>");
}

template <const std::string_view& kNs>
bool stored_only(const Item& item, std::string_view name, std::string& out) {
  return put_stored(item, kNs, name, out);
}

bool description(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kCaldav>(item, "calendar-description", out);
}
bool book_description(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kCarddav>(item, "addressbook-description", out);
}
bool timezone(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kCaldav>(item, "calendar-timezone", out);
}
bool timezone_id(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kCaldav>(item, "calendar-timezone-id", out);
}
bool color(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kApple>(item, "calendar-color", out);
}
bool order(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kApple>(item, "calendar-order", out);
}
bool alarm_date(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kCaldav>(item, "default-alarm-vevent-date", out);
}
bool alarm_datetime(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kCaldav>(item, "default-alarm-vevent-datetime", out);
}

/// Where a subscription comes from is the owner's: the address may hold a secret.
bool source(const Item& item, const View&, const Arguments*, std::string& out) {
  const bool is_hidden =
      item.collection->origin == collections::Origin::subscription && !item.collection->is_own;
  return !is_hidden && stored_only<kServer>(item, "source", out);
}
bool refreshrate(const Item& item, const View&, const Arguments*, std::string& out) {
  return stored_only<kApple>(item, "refreshrate", out);
}

bool transp(const Item& item, const View&, const Arguments*, std::string& out) {
  if (stored_only<kCaldav>(item, "schedule-calendar-transp", out)) return true;
  return put(out, "<C:schedule-calendar-transp><C:opaque/></C:schedule-calendar-transp>");
}

constexpr LiveProperty kCollections[] = {
    {kServer, "getctag", kCollection | kInbox | kHome, true, needs::kHomeState, true, getctag},
    {kDav, "sync-token", kCollection | kInbox | kHome, false, needs::kHomeState, true, sync_token},
    {kDav, "resource-id", kCollection | kInbox, false, 0, true, resource_id},
    {kCaldav, "supported-calendar-component-set", kCalendar, false, 0, true, component_set},
    {kCaldav, "supported-calendar-component-sets", kCalendarHome, false, 0, true, component_sets},
    {kCaldav, "supported-calendar-data", kCalendar | kInbox, false, 0, true, calendar_data_set},
    {kCarddav, "supported-address-data", kBook, false, 0, true, address_data_set},
    {kCaldav, "max-resource-size", kCalendar, false, 0, true, calendar_size_max},
    {kCarddav, "max-resource-size", kBook, false, 0, true, card_size_max},
    {kCaldav, "min-date-time", kCalendar, false, 0, true, min_date},
    {kCaldav, "max-date-time", kCalendar, false, 0, true, max_date},
    {kCaldav, "max-instances", kCalendar, false, 0, true, max_instances},
    {kCaldav, "max-attendees-per-instance", kCalendar, false, 0, true, max_attendees},
    {kCaldav, "supported-collation-set", kCalendar | kInbox, false, 0, true, collations},
    {kCarddav, "supported-collation-set", kBook, false, 0, true, collations},
    {kCaldav, "calendar-description", kCalendar, false, needs::kStored, false, description},
    {kCarddav, "addressbook-description", kBook, false, needs::kStored, false, book_description},
    {kCaldav, "calendar-timezone", kCalendar, false, needs::kStored, false, timezone},
    {kCaldav, "calendar-timezone-id", kCalendar, false, needs::kStored, false, timezone_id},
    {kApple, "calendar-color", kCalendar, true, needs::kStored, false, color},
    {kApple, "calendar-order", kCalendar, false, needs::kStored, false, order},
    {kServer, "source", kCalendar, false, needs::kStored, false, source},
    {kApple, "refreshrate", kCalendar, false, needs::kStored, false, refreshrate},
    {kCaldav, "schedule-calendar-transp", kCalendar, false, needs::kStored, false, transp},
    {kCaldav, "default-alarm-vevent-date", kCalendar | kCalendarHome, false, needs::kStored, false,
     alarm_date},
    {kCaldav, "default-alarm-vevent-datetime", kCalendar | kCalendarHome, false, needs::kStored, false,
     alarm_datetime},
};

}  // namespace

std::span<const LiveProperty> collection_properties() { return kCollections; }

}  // namespace welkin::dav::groupware
