#include <algorithm>
#include <set>

#include "calendars/recurrence.hpp"
#include "calendars/series.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/core/error.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {
namespace {

constexpr std::size_t kRulesMax = 4;  // as many as are looked at

[[noreturn]] void refuse(const char* precondition, const std::string& why) {
  throw Error(Errc::forbidden, precondition, why);
}

[[noreturn]] void bad_value(const wire::IcalComponent& component, const wire::IcalProperty& property,
                            const std::string& why) {
  refuse("valid_calendar_data", property.name + " of " + component.name + " " + why);
}

bool is_one_time(std::string_view name) {
  return name == "DTSTART" || name == "DTEND" || name == "DUE" || name == "RECURRENCE-ID";
}

void check_rule(const wire::IcalComponent& component, const wire::IcalProperty& property) {
  const auto read = parse_rule(property.value);
  if (const auto* fault = std::get_if<RuleFault>(&read)) {
    if (fault->kind == RuleFault::Kind::rscale) refuse("supported_rscale", fault->why);
    bad_value(component, property, "cannot be read: " + fault->why);
  }
}

void check_list(const wire::IcalComponent& component, const wire::IcalProperty& property) {
  if (property.value.empty()) return;  // some writers leave an empty EXDATE
  for (const auto value : wire::ical_list(property.value))
    if (!wire::parse_ical_time(value) && !wire::parse_ical_period(value))
      bad_value(component, property, "holds something that is no time");
}

void check_values(const wire::IcalComponent& component) {
  for (const auto& property : component.properties) {
    if (is_one_time(property.name)) {
      if (!wire::parse_ical_time(property.value)) bad_value(component, property, "is no such date or time");
    } else if (property.name == "DURATION") {
      if (!wire::parse_ical_duration(property.value)) bad_value(component, property, "is no duration");
    } else if (property.name == "RRULE" || property.name == "EXRULE") {
      check_rule(component, property);
    } else if (property.name == "RDATE" || property.name == "EXDATE") {
      check_list(component, property);
    } else if (property.name == "TRIGGER" && component.name == "VALARM") {
      if (!wire::parse_ical_duration(property.value) && !wire::parse_ical_time(property.value))
        bad_value(component, property, "is no duration and no time");
    }
  }
  if (component.count("RRULE") > kRulesMax || component.count("EXRULE") > kRulesMax)
    refuse("valid_calendar_data", "A component has too many recurrence rules");
  if (component.name == "VEVENT" && !component.property("DTSTART"))
    refuse("valid_calendar_data", "An event has no DTSTART");
  for (const auto& below : component.components)
    if (below.name == "VALARM") check_values(below);
}

using Components = std::vector<const wire::IcalComponent*>;

/// Kinds, UIDs, masters and overrides: what makes the components one object (RFC 4791 §4.1).
Kind check_shape(const wire::IcalComponent& calendar, const Components& components) {
  constexpr auto kShape = "valid_calendar_object_resource";
  if (calendar.property("METHOD")) refuse(kShape, "An object of a calendar has no METHOD");
  if (components.empty()) refuse(kShape, "There is no event, no to-do and no journal entry in it");
  const Clocks clocks(calendar, Zone());
  std::size_t masters = 0;
  std::set<std::pair<std::int64_t, bool>> slots;
  for (const auto* component : components) {
    if (component->name != components.front()->name) refuse(kShape, "It holds components of several kinds");
    const auto uid = component->value("UID");
    if (uid.empty()) refuse(kShape, "A component has no UID");
    if (uid != components.front()->value("UID")) refuse(kShape, "It holds components with several UIDs");
    const auto slot = clocks.stamp(*component, "RECURRENCE-ID");
    if (!slot) {
      if (++masters > 1) refuse(kShape, "It holds the same component twice");
    } else if (!slots.emplace(slot->utc, slot->time.is_date).second) {
      refuse(kShape, "It holds the same RECURRENCE-ID twice");
    }
  }
  return *kind_named(components.front()->name);
}

void check_year(const wire::IcalTime& time, const ObjectRules& rules) {
  const std::int64_t days =
      (time.local_seconds - (time.local_seconds < 0 ? wire::kDaySeconds - 1 : 0)) / wire::kDaySeconds;
  const auto year = wire::civil_from_days(days).year;
  if (year < rules.year_min) refuse("min_date_time", "A date lies before the earliest one that is kept");
  if (year > rules.year_max) refuse("max_date_time", "A date lies behind the latest one that is kept");
}

void check_limits(const wire::IcalComponent& component, const ObjectRules& rules) {
  for (const auto& property : component.properties) {
    if (is_one_time(property.name)) {
      check_year(*wire::parse_ical_time(property.value), rules);
    } else if (property.name == "RDATE" && !property.value.empty()) {
      for (const auto value : wire::ical_list(property.value))
        check_year(*wire::parse_ical_time(value.substr(0, value.find('/'))), rules);
    } else if (property.name == "RRULE") {
      const auto read = parse_rule(property.value);
      const auto& rule = std::get<Rule>(read);
      if (rule.freq < Freq::daily && !rule.has_a_day())
        refuse("max_instances", "A recurrence rule looks for a day that no year has");
    }
  }
  if (component.count("ATTENDEE") > rules.attendees_max)
    refuse("max_attendees_per_instance", "A component has too many attendees");
}

}  // namespace

void check_object(const wire::IcalComponent& calendar, const ObjectRules& rules) {
  Components components;
  for (const auto& component : calendar.components)
    if (kind_named(component.name)) components.push_back(&component);
  for (const auto* component : components) check_values(*component);
  const Kind kind = check_shape(calendar, components);
  if ((rules.kinds & kind) == 0)
    refuse("supported_calendar_component", "The calendar takes no " + std::string(name_of(kind)));
  for (const auto* component : components) check_limits(*component, rules);
}

std::vector<wire::IcalComponent> split_objects(const std::vector<wire::IcalComponent>& calendars,
                                               std::string (*make_uid)()) {
  std::vector<wire::IcalComponent> out;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // by kind and UID
  const auto is_zone = [](const wire::IcalComponent& c) { return c.name == "VTIMEZONE"; };
  for (const auto& calendar : calendars) {
    for (const auto& component : calendar.components) {
      if (!kind_named(component.name)) continue;
      wire::IcalComponent copy = component;
      if (copy.value("UID").empty()) copy.set("UID", wire::ical_escape(make_uid()));
      const auto [at, is_new] =
          places.emplace(std::pair(copy.name, std::string(copy.value("UID"))), out.size());
      if (is_new) {
        auto& made = out.emplace_back();
        made.name = "VCALENDAR";
        for (const auto& property : calendar.properties)
          if (property.name != "METHOD" && !property.name.starts_with("X-WR-"))
            made.properties.push_back(property);
      }
      auto& object = out[at->second];
      std::set<std::string_view> wanted;
      for (const auto& property : component.properties)
        if (const auto tzid = property.parameter_value("TZID"); !tzid.empty()) wanted.insert(tzid);
      for (const auto& zone : calendar.components) {
        const auto tzid = zone.text("TZID");
        const auto same = [&](const auto& c) { return is_zone(c) && c.text("TZID") == tzid; };
        if (is_zone(zone) && wanted.contains(tzid) &&
            std::none_of(object.components.begin(), object.components.end(), same))
          object.components.insert(
              std::find_if_not(object.components.begin(), object.components.end(), is_zone), zone);
      }
      object.components.push_back(std::move(copy));
    }
  }
  return out;
}

}  // namespace welkin::calendars
