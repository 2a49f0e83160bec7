#include <algorithm>
#include <set>

#include "calendars/series.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {
namespace {

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"VEVENT", kEvent},
    {"VTODO", kTodo},
    {"VJOURNAL", kJournal},
    {"VFREEBUSY", kFreeBusy},
    {"VAVAILABILITY", kAvailability},
    {"VPOLL", kPoll},
};
// How far a floating time may lie from what it is in UTC: zones are 14 hours east to 12 hours west of it.
constexpr std::int64_t kEastmost = 14 * 3600, kWestmost = 12 * 3600;

std::string upper_text(std::string_view s) {
  std::string out = text::lower(text::trim(s));
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

Status status_named(std::string_view value) {
  static constexpr std::pair<std::string_view, Status> kAll[] = {
      {"TENTATIVE", Status::tentative},   {"CONFIRMED", Status::confirmed},
      {"CANCELLED", Status::cancelled},   {"NEEDS-ACTION", Status::needs_action},
      {"IN-PROCESS", Status::in_process}, {"COMPLETED", Status::completed},
      {"DRAFT", Status::draft},           {"FINAL", Status::final},
  };
  for (const auto& [name, status] : kAll)
    if (text::iequals(text::trim(value), name)) return status;
  return Status::none;
}

/// What is unknown is private (RFC 5545 §3.8.1.3).
Classification classification_named(std::string_view value) {
  value = text::trim(value);
  if (value.empty() || text::iequals(value, "PUBLIC")) return Classification::is_public;
  return text::iequals(value, "CONFIDENTIAL") ? Classification::confidential : Classification::is_private;
}

std::string agent_of(const wire::IcalProperty& property) {
  const auto agent = upper_text(property.parameter_value("SCHEDULE-AGENT"));
  return agent.empty() || agent == "SERVER" ? "SERVER" : agent == "CLIENT" ? agent : "NONE";
}

using Seen = std::set<std::string>;

void add_attendee(ObjectFacts& facts, Seen& seen, const wire::IcalProperty& property) {
  if (!seen.insert(text::lower(property.value)).second) return;
  auto partstat = upper_text(property.parameter_value("PARTSTAT"));
  if (partstat.empty()) partstat = "NEEDS-ACTION";
  facts.attendees.push_back({property.value, std::move(partstat), agent_of(property)});
}

void add_search(std::string& out, std::string_view words) {
  const auto trimmed = text::trim(words);
  if (trimmed.empty()) return;
  out += text::fold(trimmed);
  out += '\n';
}

void read_texts(ObjectFacts& facts, Seen& seen, const wire::IcalComponent& component) {
  static const std::set<std::string, std::less<>> kTexts = {
      "SUMMARY", "LOCATION", "DESCRIPTION", "CATEGORIES", "COMMENT", "CONTACT", "UID"};
  for (const auto& property : component.properties) {
    const bool is_address = property.name == "ATTENDEE" || property.name == "ORGANIZER";
    if (property.name == "ATTENDEE") add_attendee(facts, seen, property);
    if (is_address) add_search(facts.search, property.parameter_value("CN"));
    if (is_address) {
      add_search(facts.search, property.value);
    } else if (kTexts.contains(property.name)) {
      add_search(facts.search, wire::ical_unescape(property.value));
    }
    if (property.name == "RRULE" || property.name == "RDATE") facts.recurring = true;
    if (property.name == "RECURRENCE-ID") facts.has_override = true;
  }
  for (const auto& below : component.components)
    if (below.name == "VALARM") facts.has_alarm = true;
}

void read_lead(ObjectFacts& facts, const wire::IcalComponent& lead) {
  facts.uid = lead.text("UID");
  facts.kind = kind_named(lead.name).value_or(kEvent);
  facts.summary = lead.text("SUMMARY");
  facts.is_transparent = text::iequals(text::trim(lead.value("TRANSP")), "TRANSPARENT");
  facts.status = status_named(lead.value("STATUS"));
  facts.classification = classification_named(lead.value("CLASS"));
  facts.sequence = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      text::signed_number(text::trim(lead.value("SEQUENCE"))).value_or(0), 0, INT32_MAX));
  if (const auto* organizer = lead.property("ORGANIZER")) {
    facts.organizer = organizer->value;
    facts.organizer_agent = agent_of(*organizer);
  }
}

void widen(std::optional<Span>& span, std::int64_t first, std::int64_t last) {
  if (!span) span = Span{first, last};
  span->first = std::min(span->first, first);
  span->last = std::max(span->last, last);
}

/// To-dos without dates are found by when they were made and done, or always (RFC 4791 §9.9).
void span_of_undated(std::optional<Span>& span, const Clocks& clocks, const wire::IcalComponent& todo) {
  const auto created = clocks.stamp(todo, "CREATED"), completed = clocks.stamp(todo, "COMPLETED");
  if (created && completed) {
    widen(span, std::min(created->utc, completed->utc), std::max(created->utc, completed->utc));
  } else if (completed) {
    widen(span, completed->utc, completed->utc);
  } else {
    widen(span, created ? created->utc : INT64_MIN, INT64_MAX);
  }
}

void span_of_free_busy(std::optional<Span>& span, const Clocks& clocks,
                       const wire::IcalComponent& component) {
  for (const auto& property : component.properties) {
    if (property.name != "FREEBUSY") continue;
    for (const auto value : wire::ical_list(property.value)) {
      const auto period = wire::parse_ical_period(value);
      if (!period) continue;
      const auto start = clocks.stamp(property, value.substr(0, value.find('/')));
      const auto end = period->end ? clocks.stamp(property, value.substr(value.find('/') + 1)) : std::nullopt;
      const auto& length = period->duration;
      widen(span, start->utc, end ? end->utc : start->utc + length.days * wire::kDaySeconds + length.seconds);
    }
  }
}

std::optional<Span> span_of(const wire::IcalComponent& calendar, Kind kind) {
  const Series series(calendar, Zone());
  std::optional<Span> span;
  bool has_floating = false;
  if (const auto bounds = series.bounds()) {
    span = Span{bounds->first, bounds->last};
    has_floating = bounds->has_floating;
  }
  for (const auto& component : calendar.components) {
    if (component.name == "VTODO" && !component.property("DTSTART") && !component.property("DUE"))
      span_of_undated(span, series.clocks(), component);
    if (component.name == "VFREEBUSY") span_of_free_busy(span, series.clocks(), component);
    if (component.name == "VAVAILABILITY" && !component.property("DTSTART"))
      widen(span, INT64_MIN, INT64_MIN);
    if (component.name == "VAVAILABILITY" && !component.property("DTEND") && !component.property("DURATION"))
      widen(span, INT64_MAX, INT64_MAX);
  }
  if (!span) return span;
  // To-dos touch a range that ends where they begin; everything without length one that begins there.
  const std::int64_t before = (has_floating ? kEastmost : 0) + (kind == kTodo ? 1 : 0);
  const std::int64_t behind = (has_floating ? kWestmost : 0) + 1;
  if (span->first != INT64_MIN) span->first -= before;
  if (span->last != INT64_MAX) span->last += behind;
  return span;
}

}  // namespace

std::optional<Kind> kind_named(std::string_view component) {
  for (const auto& [name, kind] : kKinds)
    if (text::iequals(component, name)) return kind;
  return std::nullopt;
}

std::string_view name_of(Kind kind) {
  for (const auto& [name, each] : kKinds)
    if (each == kind) return name;
  return {};
}

ObjectFacts describe_object(const wire::IcalComponent& calendar) {
  ObjectFacts out;
  Seen seen;
  const wire::IcalComponent* lead = nullptr;
  for (const auto& component : calendar.components) {
    if (!kind_named(component.name)) continue;
    const bool is_better = !lead || (lead->property("RECURRENCE-ID") && !component.property("RECURRENCE-ID"));
    if (is_better) lead = &component;
    read_texts(out, seen, component);
  }
  if (!lead) return out;
  read_lead(out, *lead);
  out.span = span_of(calendar, out.kind);
  out.is_scheduling = !out.organizer.empty() && !out.attendees.empty();
  return out;
}

}  // namespace welkin::calendars
