#include "calendars/overlap.hpp"

#include <algorithm>

#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

constexpr std::int64_t kRepeatsMax = 1000;

bool todo_overlaps(const Occurrence& each, const TimeRange& range, const Clocks& clocks) {
  const std::int64_t s = range.start, e = range.end;
  if (each.start && each.end) {
    const std::int64_t start = each.start->utc, end = each.end->utc;
    if (each.component->property("DUE")) return (s < end || s <= start) && (e > start || e >= end);
    return s <= end && (e > start || e >= end);
  }
  if (each.start) return s <= each.start->utc && e > each.start->utc;
  if (each.end) return s < each.end->utc && e >= each.end->utc;
  const auto created = clocks.stamp(*each.component, "CREATED"),
             completed = clocks.stamp(*each.component, "COMPLETED");
  if (created && completed)
    return (s <= created->utc || s <= completed->utc) && (e >= created->utc || e >= completed->utc);
  if (completed) return s <= completed->utc && e >= completed->utc;
  return !created || e > created->utc;
}

bool free_busy_overlaps(const Occurrence& each, const TimeRange& range, const Clocks& clocks) {
  if (each.start && each.end && each.component->property("DTEND"))
    return range.start <= each.end->utc && range.end > each.start->utc;
  const auto periods = free_busy_periods(*each.component, clocks);
  return std::any_of(periods.begin(), periods.end(), [&](const auto& period) {
    return range.start < period.end && range.end > period.start;
  });
}

}  // namespace

bool overlaps(const Occurrence& occurrence, const TimeRange& range, const Clocks& clocks) {
  const auto& name = occurrence.component->name;
  if (name == "VTODO") return todo_overlaps(occurrence, range, clocks);
  if (name == "VFREEBUSY") return free_busy_overlaps(occurrence, range, clocks);
  if (name == "VAVAILABILITY") {
    const bool has_end =
        occurrence.component->property("DTEND") || occurrence.component->property("DURATION");
    const auto end = occurrence.start ? occurrence.end : clocks.stamp(*occurrence.component, "DTEND");
    return (!has_end || !end || range.start < end->utc) &&
           (!occurrence.start || range.end > occurrence.start->utc);
  }
  if (!occurrence.start) return false;
  const std::int64_t start = occurrence.start->utc, end = occurrence.end ? occurrence.end->utc : start;
  return range.end > start && (end > start ? range.start < end : range.start <= start);
}

std::vector<std::int64_t> trigger_times(const wire::IcalComponent& alarm, const Occurrence& occurrence,
                                        const Clocks& clocks) {
  const auto* trigger = alarm.property("TRIGGER");
  if (!trigger) return {};
  std::int64_t first = 0;
  if (const auto offset = wire::parse_ical_duration(trigger->value)) {
    const bool from_end = text::iequals(trigger->parameter_value("RELATED"), "END");
    const auto& base = (from_end && occurrence.end) || !occurrence.start ? occurrence.end : occurrence.start;
    if (!base) return {};
    first =
        clocks.at(*base, base->time.local_seconds + offset->days * wire::kDaySeconds).utc + offset->seconds;
  } else if (const auto absolute = clocks.stamp(*trigger, trigger->value)) {
    first = absolute->utc;
  } else {
    return {};
  }
  std::vector<std::int64_t> out{first};
  const auto repeats = text::number(text::trim(alarm.value("REPEAT"))).value_or(0);
  const auto between = wire::parse_ical_duration(alarm.value("DURATION"));
  if (!between) return out;
  for (std::int64_t i = 1; i <= static_cast<std::int64_t>(std::min<std::uint64_t>(repeats, kRepeatsMax)); ++i)
    out.push_back(first + i * (between->days * wire::kDaySeconds + between->seconds));
  return out;
}

std::pair<std::int64_t, std::int64_t> trigger_reach(const wire::IcalComponent& alarm) {
  const auto offset = wire::parse_ical_duration(alarm.value("TRIGGER"));
  const auto seconds = [](const wire::IcalDuration& d) { return d.days * wire::kDaySeconds + d.seconds; };
  const std::int64_t first = offset ? seconds(*offset) : 0;
  const auto between = wire::parse_ical_duration(alarm.value("DURATION"));
  const auto repeats =
      std::min<std::uint64_t>(text::number(text::trim(alarm.value("REPEAT"))).value_or(0), kRepeatsMax);
  const std::int64_t last = first + (between ? seconds(*between) * static_cast<std::int64_t>(repeats) : 0);
  // A day more, for days that are not 24 hours long.
  return {std::max<std::int64_t>(0, -std::min(first, last)) + wire::kDaySeconds,
          std::max<std::int64_t>(0, std::max(first, last)) + wire::kDaySeconds};
}

std::vector<FreeBusyPeriod> free_busy_periods(const wire::IcalComponent& component, const Clocks& clocks) {
  std::vector<FreeBusyPeriod> out;
  for (const auto& property : component.properties) {
    if (property.name != "FREEBUSY") continue;
    for (const auto value : wire::ical_list(property.value)) {
      const auto period = wire::parse_ical_period(text::trim(value));
      if (!period) continue;
      const auto trimmed = text::trim(value);
      const auto slash = trimmed.find('/');
      const auto start = clocks.stamp(property, trimmed.substr(0, slash));
      const auto end = period->end ? clocks.stamp(property, trimmed.substr(slash + 1)) : std::nullopt;
      const auto& length = period->duration;
      out.push_back({start->utc,
                     end ? end->utc : start->utc + length.days * wire::kDaySeconds + length.seconds,
                     &property});
    }
  }
  return out;
}

}  // namespace welkin::calendars
