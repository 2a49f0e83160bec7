#include <algorithm>

#include "welkin/calendars/filter.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(Errc::forbidden, "valid_filter", why); }

template <class... Names>
bool is_one_of(std::string_view name, Names... names) {
  return ((name == names) || ...);
}

bool may_hold(std::string_view parent, std::string_view child) {
  if (child == "VCALENDAR") return false;
  const bool is_extra = child.starts_with("X-") || is_one_of(child, "PARTICIPANT", "VLOCATION", "VRESOURCE");
  if (parent == "VCALENDAR") return !is_one_of(child, "VALARM", "STANDARD", "DAYLIGHT", "AVAILABLE");
  if (is_one_of(parent, "VEVENT", "VTODO")) return child == "VALARM" || is_extra;
  if (parent == "VTIMEZONE") return is_one_of(child, "STANDARD", "DAYLIGHT");
  if (parent == "VAVAILABILITY") return child == "AVAILABLE" || is_extra;
  if (parent == "VALARM") return child == "VLOCATION";
  if (kind_named(parent)) return is_extra;
  return !kind_named(child);
}

bool has_time(std::string_view component) {
  return !is_one_of(component, "VCALENDAR", "VTIMEZONE", "STANDARD", "DAYLIGHT");
}

bool is_time(std::string_view property) {
  return property.starts_with("X-") ||
         is_one_of(property, "DTSTART", "DTEND", "DUE", "DTSTAMP", "COMPLETED", "CREATED", "LAST-MODIFIED",
                   "RECURRENCE-ID", "RDATE", "EXDATE", "ACKNOWLEDGED", "TRIGGER");
}

void check_range(const std::optional<TimeRange>& range) {
  if (range && range->start >= range->end) refuse("A time-range ends where it starts, or before");
}

void check_property(const PropFilter& filter) {
  const bool has_more = filter.range || !filter.matches.empty() || !filter.parameters.empty();
  if (filter.is_not_defined && has_more) refuse("Something stands beside is-not-defined");
  if (filter.range && !is_time(filter.name)) refuse("A time-range asks for a property that has no time");
  check_range(filter.range);
  for (const auto& parameter : filter.parameters)
    if (parameter.is_not_defined && parameter.match) refuse("Something stands beside is-not-defined");
}

void check_component(const CompFilter& filter) {
  const bool has_more = filter.range || !filter.properties.empty() || !filter.components.empty();
  if (filter.is_not_defined && has_more) refuse("Something stands beside is-not-defined");
  if (filter.range && !has_time(filter.name)) refuse("A time-range asks for a component that has no time");
  check_range(filter.range);
  for (const auto& property : filter.properties) check_property(property);
  for (const auto& below : filter.components) {
    if (!may_hold(filter.name, below.name)) refuse(below.name + " cannot stand in " + filter.name);
    check_component(below);
  }
}

/// Of a filter for VEVENT and the like: when the object must be, if it must.
std::optional<TimeRange> must_overlap(const CompFilter& filter) {
  const bool is_only_one = filter.properties.empty() && filter.components.empty();
  return filter.range && (!filter.any_of || is_only_one) ? filter.range : std::nullopt;
}

}  // namespace

void check_filter(const CompFilter& filter) {
  if (filter.name != "VCALENDAR") refuse("The outermost comp-filter is not for VCALENDAR");
  check_component(filter);
}

FilterBounds bounds_of(const CompFilter& filter) {
  FilterBounds out;
  if (filter.is_not_defined) return out.kinds = 0, out;
  const bool any_of = filter.any_of && filter.components.size() + filter.properties.size() > 1;
  if (any_of && !filter.properties.empty()) return out;
  if (any_of) out = {0, {INT64_MAX, INT64_MIN}};
  for (const auto& below : filter.components) {
    const auto kind = kind_named(below.name);
    const bool narrows = kind && !below.is_not_defined;
    const int kinds = narrows ? *kind : ~0;
    const auto range = narrows ? must_overlap(below).value_or(TimeRange{}) : TimeRange{};
    out.kinds = any_of ? out.kinds | kinds : out.kinds & kinds;
    out.range.start =
        any_of ? std::min(out.range.start, range.start) : std::max(out.range.start, range.start);
    out.range.end = any_of ? std::max(out.range.end, range.end) : std::min(out.range.end, range.end);
  }
  return out;
}

}  // namespace welkin::calendars
