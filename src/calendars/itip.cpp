// Who is who in an object, and which component stands for what.
#include "calendars/itip.hpp"

#include <algorithm>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars::itip {
namespace {

constexpr std::string_view kMailto = "mailto:", kPrincipals = "/principals/users/";

/// "bob" in "/dav/principals/users/bob/"; "" for other paths.
std::string user_in_path(std::string_view path) {
  const auto at = path.find(kPrincipals);
  if (!path.starts_with('/') || at == path.npos) return "";
  auto name = path.substr(at + kPrincipals.size());
  if (name.ends_with('/')) name.remove_suffix(1);
  if (name.empty() || name.find('/') != name.npos) return "";
  return text::percent_decode(name).value_or("");
}

}  // namespace

std::string upper(std::string_view words) {
  std::string out(text::trim(words));
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

std::string canonical_address(std::string_view address) {
  address = text::trim(address);
  if (address.size() > kMailto.size() && text::iequals(address.substr(0, kMailto.size()), kMailto)) {
    const auto mail = address.substr(kMailto.size());
    return std::string(kMailto) + text::fold(text::percent_decode(mail).value_or(std::string(mail)));
  }
  if (const auto name = user_in_path(address); !name.empty()) return "user:" + text::fold(name);
  // Not to be mistaken for what we make of paths.
  return "uri:" + text::fold(address);
}

Addresses addresses_of(std::string_view user_name, std::string_view email) {
  Addresses out{"user:" + text::fold(user_name)};
  if (!email.empty()) out.insert(std::string(kMailto) + text::fold(email));
  return out;
}

std::optional<IcalComponent> read_stored(std::string_view data) {
  try {
    return wire::parse_ical(data);
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is_item(const IcalComponent& component) {
  return component.name == "VEVENT" || component.name == "VTODO" || component.name == "VJOURNAL";
}

bool is_served(const IcalProperty& property) {
  const auto agent = property.parameter_value("SCHEDULE-AGENT");
  return agent.empty() || text::iequals(agent, "SERVER");
}

std::string partstat_of(const IcalProperty& attendee) {
  const auto said = upper(attendee.parameter_value("PARTSTAT"));
  return said.empty() ? "NEEDS-ACTION" : said;
}

const IcalProperty* attendee_in(const IcalComponent& component, const std::string& canonical) {
  for (const auto& property : component.properties)
    if (property.name == "ATTENDEE" && canonical_address(property.value) == canonical) return &property;
  return nullptr;
}

IcalProperty* attendee_in(IcalComponent& component, const std::string& canonical) {
  return const_cast<IcalProperty*>(attendee_in(std::as_const(component), canonical));
}

const IcalProperty* own_attendee(const IcalComponent& component, const Addresses& own) {
  for (const auto& property : component.properties)
    if (property.name == "ATTENDEE" && own.contains(canonical_address(property.value))) return &property;
  return nullptr;
}

IcalProperty* own_attendee(IcalComponent& component, const Addresses& own) {
  return const_cast<IcalProperty*>(own_attendee(std::as_const(component), own));
}

std::string organizer_of(const IcalComponent& calendar) {
  for (const auto& component : calendar.components)
    if (const auto* organizer = is_item(component) ? component.property("ORGANIZER") : nullptr)
      return canonical_address(organizer->value);
  return "";
}

Role role_of(const IcalComponent& calendar, const Addresses& own) {
  const auto organizer = organizer_of(calendar);
  if (organizer.empty()) return Role::none;
  const bool is_organizer = own.contains(organizer);
  for (const auto& component : calendar.components) {
    if (!is_item(component)) continue;
    if (is_organizer ? component.property("ATTENDEE") != nullptr : own_attendee(component, own) != nullptr)
      return is_organizer ? Role::organizer : Role::attendee;
  }
  return Role::none;
}

std::set<std::string> served_attendees(const IcalComponent& calendar, const Addresses& own) {
  std::set<std::string> out;
  for (const auto& component : calendar.components) {
    if (!is_item(component)) continue;
    for (const auto& property : component.properties) {
      if (property.name != "ATTENDEE" || !is_served(property)) continue;
      auto canonical = canonical_address(property.value);
      if (!own.contains(canonical)) out.insert(std::move(canonical));
    }
  }
  return out;
}

void require_one_organizer(const IcalComponent& calendar) {
  const auto wanted = organizer_of(calendar);
  for (const auto& component : calendar.components) {
    if (!is_item(component)) continue;
    const auto* organizer = component.property("ORGANIZER");
    if (organizer != nullptr && canonical_address(organizer->value) != wanted)
      throw Error(Errc::forbidden, "same_organizer_in_all_components",
                  "All components of an object have the same organizer");
  }
}

void strip_scheduling(IcalComponent& component) {
  for (auto& property : component.properties) {
    if (property.name != "ATTENDEE" && property.name != "ORGANIZER") continue;
    for (const auto* name : {"SCHEDULE-STATUS", "SCHEDULE-AGENT", "SCHEDULE-FORCE-SEND"})
      property.set_parameter(name, "");
  }
}

void set_status(IcalComponent& calendar, const std::string& canonical, const std::string& status) {
  for (auto& component : calendar.components) {
    if (!is_item(component)) continue;
    for (auto& property : component.properties)
      if ((property.name == "ATTENDEE" || property.name == "ORGANIZER") && is_served(property) &&
          canonical_address(property.value) == canonical)
        property.set_parameter("SCHEDULE-STATUS", status);
  }
}

Parts::Parts(const IcalComponent& calendar) : clocks(calendar, Zone()), calendar_(calendar) {
  for (const auto& component : calendar.components) {
    if (!is_item(component)) continue;
    if (component.property("RECURRENCE-ID") == nullptr) {
      if (master == nullptr) master = &component;
    } else {
      overrides.emplace(slot_of(component), &component);
    }
  }
}

std::string Parts::slot_of(const IcalComponent& component) const {
  const auto* property = component.property("RECURRENCE-ID");
  if (property == nullptr) return "";
  const auto stamp = clocks.stamp(*property, property->value);
  if (!stamp) return property->value;
  // A series of dates is by days wherever somebody is.
  return (stamp->time.is_date ? "d" : "t") + std::to_string(stamp->utc);
}

const IcalComponent* Parts::at(const std::string& slot) const {
  if (slot.empty()) return master;
  const auto found = overrides.find(slot);
  return found == overrides.end() ? nullptr : found->second;
}

bool Parts::has_instance(const IcalComponent& override_) const {
  const auto wanted = clocks.stamp(override_, "RECURRENCE-ID");
  if (master == nullptr || !wanted) return false;
  IcalComponent alone{calendar_.name, {}, {}};
  for (const auto& component : calendar_.components)
    if (component.name == "VTIMEZONE" || &component == master) alone.components.push_back(component);
  const Series series(alone, Zone());
  bool found = false;
  constexpr std::size_t kLook = 1000;
  // A day of slack: an all-day series may be looked for by an instant.
  series.walk(
      wanted->utc - wire::kDaySeconds, wanted->utc + wire::kDaySeconds, kLook, [&](const Occurrence& each) {
        const auto& slot = each.slot ? each.slot : each.start;
        found = slot && (slot->utc == wanted->utc ||
                         (slot->time.is_date && slot->time.local_seconds == wanted->time.local_seconds));
        return !found;
      });
  return found;
}

}  // namespace welkin::calendars::itip
