#include "welkin/calendars/expand.hpp"

#include <algorithm>

#include "calendars/overlap.hpp"
#include "calendars/select.hpp"
#include "calendars/series.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars {
namespace {

using wire::IcalComponent;

/// In UTC where the zone is known; dates stay dates, floating times stay floating.
wire::IcalTime shown(const Stamp& stamp) {
  if (!stamp.zone && !stamp.time.is_utc) return {stamp.time.local_seconds, stamp.time.is_date, false};
  return {stamp.utc, false, true};
}

std::string shown_text(const Stamp& stamp) { return wire::format_ical_time(shown(stamp)); }

/// In place of the property, so that the order stays.
void set_time(IcalComponent& component, std::string_view name, const Stamp& stamp) {
  component.set(name, shown_text(stamp));
  if (stamp.time.is_date) component.property(name)->set_parameter("VALUE", "DATE");
}

/// The instance as a component of its own.
IcalComponent component_of(const Occurrence& each) {
  IcalComponent out = *each.component;
  for (const auto* name : {"RRULE", "RDATE", "EXDATE", "EXRULE"}) out.remove(name);
  const bool is_todo = out.name == "VTODO";
  const auto* end_name = is_todo ? "DUE" : "DTEND";
  if (each.start) set_time(out, "DTSTART", *each.start);
  if (each.has_own_end) out.remove("DURATION");
  if (each.end && (each.has_own_end || out.property(end_name))) set_time(out, end_name, *each.end);
  if (each.slot) set_time(out, "RECURRENCE-ID", *each.slot);
  return out;
}

std::int64_t start_of(const Occurrence& each) {
  return each.start ? each.start->utc : each.end ? each.end->utc : INT64_MIN;
}

/// All instances that overlap the range, sorted.
std::vector<Occurrence> collect(const Series& series, const TimeRange& range, std::size_t instances_max) {
  std::vector<Occurrence> out;
  const auto walked = series.walk(range.start, range.end, instances_max + 1, [&](const Occurrence& each) {
    if (!overlaps(each, range, series.clocks())) return true;
    out.push_back(each);
    return out.size() <= instances_max;
  });
  if (walked != Walk::complete)
    throw Error(Errc::forbidden, "max_instances", "The series has too many instances in this range");
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::pair(start_of(a), a.component) < std::pair(start_of(b), b.component);
  });
  return out;
}

/// The master, and the overrides that stand, or stood, in the range (RFC 4791 §9.6.6).
IcalComponent limit_recurrences(const IcalComponent& calendar, const TimeRange& range, const Zone& floating) {
  const Series series(calendar, floating);
  std::vector<const IcalComponent*> far;
  series.walk(0, 0, 0, [&](const Occurrence& each) {
    if (!each.is_override) return false;  // overrides come first
    const auto original = series.original_of(each);
    if (!overlaps(each, range, series.clocks()) && !(original && overlaps(*original, range, series.clocks())))
      far.push_back(each.component);
    return true;
  });
  std::sort(far.begin(), far.end());
  IcalComponent out{calendar.name, calendar.properties, {}};
  for (const auto& component : calendar.components)
    if (!std::binary_search(far.begin(), far.end(), &component)) out.components.push_back(component);
  return out;
}

/// The FREEBUSY values that overlap the range (RFC 4791 §9.6.7).
void limit_free_busy(IcalComponent& calendar, const TimeRange& range, const Zone& floating) {
  const Clocks clocks(calendar, floating);
  for (auto& component : calendar.components) {
    if (component.name != "VFREEBUSY") continue;
    std::erase_if(component.properties, [&](wire::IcalProperty& property) {
      if (property.name != "FREEBUSY") return false;
      std::string kept;
      for (const auto value : wire::ical_list(property.value)) {
        IcalComponent one{"VFREEBUSY", {property}, {}};
        one.properties.front().value = value;
        const auto periods = free_busy_periods(one, clocks);
        if (periods.empty() || range.start >= periods[0].end || range.end <= periods[0].start) continue;
        kept += kept.empty() ? "" : ",";
        kept += value;
      }
      property.value = std::move(kept);
      return property.value.empty();
    });
  }
}

}  // namespace

IcalComponent expand_object(const IcalComponent& calendar, const TimeRange& range, const Zone& floating,
                            std::size_t instances_max) {
  const Series series(calendar, floating);
  IcalComponent out{calendar.name, calendar.properties, {}};
  for (const auto& each : collect(series, range, instances_max)) out.components.push_back(component_of(each));
  return out;
}

std::vector<Instance> instances_of(const IcalComponent& calendar, const TimeRange& range,
                                   const Zone& floating, std::size_t instances_max) {
  const Series series(calendar, floating);
  std::vector<Instance> out;
  for (const auto& each : collect(series, range, instances_max)) {
    if (!each.start && !each.end) continue;
    const auto& start = each.start ? each.start : each.end;
    const auto& end = each.end ? each.end : each.start;
    out.push_back({each.component, start->utc, end->utc, shown_text(*start), shown_text(*end),
                   each.slot ? shown_text(*each.slot) : std::string()});
  }
  return out;
}

IcalComponent render_object(const IcalComponent& calendar, const DataRequest& request, const Zone& floating) {
  IcalComponent out = request.expand ? expand_object(calendar, *request.expand, floating)
                      : request.limit_recurrences
                          ? limit_recurrences(calendar, *request.limit_recurrences, floating)
                          : calendar;
  if (request.limit_free_busy) limit_free_busy(out, *request.limit_free_busy, floating);
  return request.selection ? select(out, *request.selection) : out;
}

}  // namespace welkin::calendars
