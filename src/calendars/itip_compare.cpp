// What of a component has changed, however clients spell it.
#include <algorithm>
#include <array>

#include "calendars/itip.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars::itip {
namespace {

std::string sorted_rule(std::string_view rule) {
  const auto whole = upper(rule);
  auto parts = text::split(whole, ';');
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const auto part : parts)
    if (part != "INTERVAL=1" && !part.empty()) (out += part) += ';';
  return out;
}

void append_instants(std::set<std::string>& out, const IcalProperty& property, const Clocks& clocks) {
  for (const auto value : wire::ical_list(property.value)) {
    const auto stamp = clocks.stamp(property, text::trim(value));
    out.insert(stamp ? (stamp->time.is_date ? "d" : "t") + std::to_string(stamp->utc)
                     : std::string(text::trim(value)));
  }
}

/// Seconds from the start to the end by the clocks; what it is without an end, for comparing.
std::string length_text(const IcalComponent& component, const Clocks& clocks,
                        const std::optional<Stamp>& start) {
  auto end = clocks.stamp(component, "DTEND");
  if (!end) end = clocks.stamp(component, "DUE");
  if (end && start) return std::to_string(end->utc - start->utc);
  if (end) return "due" + std::to_string(end->utc);
  if (const auto length = wire::parse_ical_duration(component.value("DURATION")))
    return std::to_string(length->days * wire::kDaySeconds + length->seconds);
  return start && start->time.is_date && component.name == "VEVENT" ? std::to_string(wire::kDaySeconds) : "0";
}

/// Escapes, blanks and line ends are what clients write anew.
std::string plain(std::string_view value) {
  std::string out;
  bool blank = false;
  for (const char c : wire::ical_unescape(value)) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      blank = true;
    } else {
      if (blank && !out.empty()) out += ' ';
      blank = false;
      out += c;
    }
  }
  return out;
}

std::string line_of(IcalProperty property) {
  std::sort(property.parameters.begin(), property.parameters.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string out;
  wire::append_ical(out, property);
  return out;
}

std::vector<std::string> lines_of(const IcalComponent& component) {
  std::vector<std::string> out;
  for (const auto& property : component.properties) out.push_back(line_of(property));
  std::sort(out.begin(), out.end());
  for (const auto& below : component.components) {
    auto inner = lines_of(below);
    std::string whole = "<" + below.name + ">";
    for (const auto& line : inner) whole += line;
    out.push_back(std::move(whole));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string timing_of(const IcalComponent& component, const Clocks& clocks) {
  const auto start = clocks.stamp(component, "DTSTART");
  std::string out = "start=";
  if (start) out += (start->time.is_date ? "d" : "t") + std::to_string(start->utc);
  out += ";length=" + length_text(component, clocks, start);
  std::set<std::string> dates, rules;
  for (const auto& property : component.properties) {
    if (property.name == "RRULE") rules.insert(sorted_rule(property.value));
    if (property.name == "RDATE") append_instants(dates, property, clocks);
  }
  // By which clock it recurs makes other instants half a year later.
  if (start && start->zone != nullptr && !(rules.empty() && dates.empty()))
    out += ";zone=" + start->zone->name();
  for (const auto& rule : rules) out += ";rule=" + rule;
  for (const auto& date : dates) out += ";date=" + date;
  return out;
}

std::set<std::string> exdates_of(const IcalComponent& component, const Clocks& clocks) {
  std::set<std::string> out;
  for (const auto& property : component.properties)
    if (property.name == "EXDATE") append_instants(out, property, clocks);
  return out;
}

std::string matter_of(const IcalComponent& component) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "SUMMARY",   "LOCATION", "DESCRIPTION", "URL",        "GEO",
      "RESOURCES", "CONTACT",  "ATTACH",      "CONFERENCE", "CLASS"};
  std::set<std::string> lines;
  for (const auto& property : component.properties)
    if (std::find(kNames.begin(), kNames.end(), property.name) != kNames.end())
      if (auto value = plain(property.value); !value.empty()) lines.insert(property.name + ':' + value);
  // A to-do's state is the attendee's own affair.
  auto status = component.name == "VTODO" ? std::string() : upper(component.value("STATUS"));
  if (status == "CONFIRMED") status.clear();
  if (component.name == "VTODO" && upper(component.value("STATUS")) == "CANCELLED") status = "CANCELLED";
  std::string out = "STATUS:" + status;
  for (const auto& line : lines) (out += '\n') += line;
  return out;
}

bool is_shifted(const IcalComponent& override_, const IcalComponent& master, const Clocks& clocks) {
  const auto slot = clocks.stamp(override_, "RECURRENCE-ID"), start = clocks.stamp(override_, "DTSTART");
  if (!slot || !start) return slot.has_value() != start.has_value();
  if (slot->utc != start->utc) return true;
  return length_text(override_, clocks, start) !=
         length_text(master, clocks, clocks.stamp(master, "DTSTART"));
}

bool same_content(const IcalComponent& a, const IcalComponent& b) {
  return a.name == b.name && lines_of(a) == lines_of(b);
}

IcalComponent instance_of(const IcalComponent& master, const IcalProperty& slot, const Clocks& clocks) {
  IcalComponent out = master;
  for (const auto* name : {"RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID"}) out.remove(name);
  const auto start = clocks.stamp(master, "DTSTART"), at = clocks.stamp(slot, slot.value);
  IcalProperty id = slot;
  id.name = "RECURRENCE-ID";
  id.set_parameter("RANGE", "");
  if (start && at) {
    const auto local = start->zone          ? start->zone->to_local(at->utc)
                       : start->time.is_utc ? at->utc
                                            : at->time.local_seconds;
    const auto moved = local - start->time.local_seconds;
    const auto move = [&](const char* name) {
      auto* property = out.property(name);
      auto time = property ? wire::parse_ical_time(property->value) : std::nullopt;
      if (!time) return;
      time->local_seconds += moved;
      property->value = wire::format_ical_time(*time);
    };
    for (const auto* name : {"DTSTART", "DTEND", "DUE"}) move(name);
    id = *out.property("DTSTART");
    id.name = "RECURRENCE-ID";
  }
  out.properties.push_back(std::move(id));
  return out;
}

}  // namespace welkin::calendars::itip
