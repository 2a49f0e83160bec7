#include <algorithm>

#include "calendars/event_times.hpp"
#include "calendars/lead.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

std::optional<std::int64_t> number_of(const wire::IcalComponent& component, std::string_view name) {
  if (component.property(name) == nullptr) return std::nullopt;
  return text::signed_number(text::trim(component.value(name)));
}

std::string end_text(const wire::IcalComponent& component, const char* end_name) {
  if (component.property(end_name) != nullptr) return time_text(component, end_name);
  const auto start = wire::parse_ical_time(component.value("DTSTART"));
  const auto length = wire::parse_ical_duration(component.value("DURATION"));
  if (!start || component.property("DURATION") == nullptr || !length) return {};
  auto end = *start;
  end.local_seconds += length->days * wire::kDaySeconds + length->seconds;
  return time_text(end);
}

}  // namespace

const wire::IcalComponent* lead_of(const wire::IcalComponent& calendar) {
  const wire::IcalComponent* lead = nullptr;
  for (const auto& component : calendar.components) {
    if (!kind_named(component.name)) continue;
    if (lead == nullptr ||
        (lead->property("RECURRENCE-ID") != nullptr && component.property("RECURRENCE-ID") == nullptr))
      lead = &component;
  }
  return lead;
}

std::vector<std::int64_t> alarms_of(const wire::IcalComponent& component) {
  std::vector<std::int64_t> out;
  for (const auto& alarm : component.components) {
    if (const auto minutes = alarm_minutes(alarm)) out.push_back(*minutes);
  }
  return out;
}

std::optional<std::int64_t> alarm_minutes(const wire::IcalComponent& alarm) {
  if (alarm.name != "VALARM") return std::nullopt;
  const auto* trigger = alarm.property("TRIGGER");
  if (trigger == nullptr || text::iequals(trigger->parameter_value("RELATED"), "END")) return std::nullopt;
  const auto length = wire::parse_ical_duration(trigger->value);
  if (!length) return std::nullopt;
  return -(length->days * wire::kDaySeconds + length->seconds) / 60;
}

std::vector<std::string> categories_of(const wire::IcalComponent& component) {
  std::vector<std::string> out;
  for (const auto& property : component.properties) {
    if (property.name != "CATEGORIES") continue;
    for (const auto value : wire::ical_list(property.value))
      if (auto word = wire::ical_unescape(value); !text::trim(word).empty()) out.push_back(std::move(word));
  }
  return out;
}

EventView view_of(const wire::IcalComponent& calendar) {
  EventView out;
  const auto* lead = lead_of(calendar);
  if (lead == nullptr) return out;
  const auto facts = describe_object(calendar);
  out.uid = facts.uid;
  out.kind = facts.kind;
  out.summary = lead->text("SUMMARY");
  out.description = lead->text("DESCRIPTION");
  out.location = lead->text("LOCATION");
  out.url = lead->value("URL");
  out.start = time_text(*lead, "DTSTART");
  if (const auto* start = lead->property("DTSTART")) {
    out.timezone = timezone_of(*start);
    out.is_all_day = out.start.size() == 10;
  }
  if (out.kind == kEvent) out.end = end_text(*lead, "DTEND");
  if (out.kind == kTodo) out.due = end_text(*lead, "DUE");
  out.completed = time_text(*lead, "COMPLETED");
  out.rrule = lead->value("RRULE");
  out.status = text::lower(text::trim(lead->value("STATUS")));
  out.classification = text::lower(text::trim(lead->value("CLASS")));
  out.is_transparent = facts.is_transparent;
  out.categories = categories_of(*lead);
  out.priority = number_of(*lead, "PRIORITY");
  out.percent = number_of(*lead, "PERCENT-COMPLETE");
  out.alarms = alarms_of(*lead);
  out.organizer = facts.organizer;
  out.attendees = facts.attendees;
  for (const auto& component : calendar.components) {
    if (&component == lead || !kind_named(component.name)) continue;
    const auto* end_name = component.name == "VTODO" ? "DUE" : "DTEND";
    out.overrides.push_back({std::string(component.value("RECURRENCE-ID")), component.text("SUMMARY"),
                             time_text(component, "DTSTART"), end_text(component, end_name),
                             text::iequals(text::trim(component.value("STATUS")), "CANCELLED")});
  }
  for (const auto& property : lead->properties)
    if (property.name == "EXDATE")
      for (const auto value : wire::ical_list(property.value)) out.exdates.emplace_back(value);
  return out;
}

}  // namespace welkin::calendars
