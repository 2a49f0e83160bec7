#include "welkin/calendars/filter.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "calendars/overlap.hpp"
#include "calendars/series.hpp"

namespace welkin::calendars {
namespace {

using wire::IcalComponent;
using wire::IcalProperty;

bool has_list_value(std::string_view name) { return name == "CATEGORIES" || name == "RESOURCES"; }

bool passes(const TextMatch& match, const IcalProperty& property) {
  bool found = match.wanted.matches(wire::ical_unescape(property.value));
  if (!found && has_list_value(property.name))
    for (const auto value : wire::ical_list(property.value))
      found = found || match.wanted.matches(wire::ical_unescape(value));
  return found != match.negate;
}

bool passes(const ParamFilter& filter, const IcalProperty& property) {
  const auto* parameter = property.parameter(filter.name);
  if (filter.is_not_defined) return !parameter;
  if (!parameter || !filter.match) return parameter != nullptr;
  const auto& values = parameter->values;
  return std::any_of(values.begin(), values.end(), [&](const auto& value) {
    return filter.match->wanted.matches(value) != filter.match->negate;
  });
}

/// One evaluation: ranges are walked once a filter, not once a component.
class Evaluation {
 public:
  Evaluation(const IcalComponent& calendar, const Zone& floating)
      : calendar_(calendar), floating_(floating) {}

  bool passes_calendar(const CompFilter& filter) {
    if (filter.name != calendar_.name) return filter.is_not_defined;
    return !filter.is_not_defined && component(filter, calendar_);
  }

 private:
  using Components = std::set<const IcalComponent*>;

  const Series& series() {
    if (!series_) series_ = std::make_unique<Series>(calendar_, floating_);
    return *series_;
  }

  bool below(const CompFilter& filter, const IcalComponent& parent) {
    bool exists = false;
    for (const auto& each : parent.components) {
      if (each.name != filter.name) continue;
      exists = true;
      if (!filter.is_not_defined && component(filter, each)) return true;
    }
    return filter.is_not_defined && !exists;
  }

  bool component(const CompFilter& filter, const IcalComponent& component) {
    if (!filter.range && filter.properties.empty() && filter.components.empty()) return true;
    if (filter.range && in_range(filter).contains(&component) == filter.any_of) return filter.any_of;
    for (const auto& each : filter.properties)
      if (property(each, component) == filter.any_of) return filter.any_of;
    for (const auto& each : filter.components)
      if (below(each, component) == filter.any_of) return filter.any_of;
    return !filter.any_of;
  }

  bool property(const PropFilter& filter, const IcalComponent& component) {
    bool exists = false;
    for (const auto& each : component.properties) {
      if (each.name != filter.name) continue;
      exists = true;
      if (!filter.is_not_defined && property(filter, each)) return true;
    }
    return filter.is_not_defined && !exists;
  }

  bool property(const PropFilter& filter, const IcalProperty& property) {
    if (!filter.range && filter.matches.empty() && filter.parameters.empty()) return true;
    if (filter.range && in_range(*filter.range, property) == filter.any_of) return filter.any_of;
    for (const auto& match : filter.matches)
      if (passes(match, property) == filter.any_of) return filter.any_of;
    for (const auto& parameter : filter.parameters)
      if (passes(parameter, property) == filter.any_of) return filter.any_of;
    return !filter.any_of;
  }

  bool in_range(const TimeRange& range, const IcalProperty& property) {
    for (const auto value : wire::ical_list(property.value)) {
      const auto stamp = series().clocks().stamp(property, value.substr(0, value.find('/')));
      if (stamp && range.start <= stamp->utc && stamp->utc < range.end) return true;
    }
    return false;
  }

  const Components& in_range(const CompFilter& filter) {
    const auto [at, is_new] = found_.try_emplace(&filter);
    if (is_new)
      at->second =
          filter.name == "VALARM" ? alarms_in(*filter.range) : components_in(*filter.range, filter.name);
    return at->second;
  }

  Components components_in(const TimeRange& range, const std::string& name) {
    Components out;
    std::size_t candidates = 0;
    for (const auto& each : calendar_.components) candidates += each.name == name;
    const auto walked = series().walk(range.start, range.end, kWalkMax, [&](const Occurrence& each) {
      if (each.component->name == name && overlaps(each, range, series().clocks()))
        out.insert(each.component);
      return out.size() < candidates;
    });
    if (walked == Walk::used_up)
      for (const auto& each : calendar_.components) out.insert(&each);
    return out;
  }

  Components alarms_in(const TimeRange& range) {
    Components out;
    TimeRange around = range;
    for (const auto& each : calendar_.components)
      for (const auto& alarm : each.components) {
        if (alarm.name != "VALARM") continue;
        const auto [before, behind] = trigger_reach(alarm);
        if (range.start != INT64_MIN) around.start = std::min(around.start, range.start - behind);
        if (range.end != INT64_MAX) around.end = std::max(around.end, range.end + before);
      }
    const auto goes_off = [&](const IcalComponent& alarm, const Occurrence& each) {
      const auto times = trigger_times(alarm, each, series().clocks());
      return std::any_of(times.begin(), times.end(),
                         [&](auto at) { return range.start <= at && range.end > at; });
    };
    const auto walked = series().walk(around.start, around.end, kWalkMax, [&](const Occurrence& each) {
      for (const auto& alarm : each.component->components)
        if (alarm.name == "VALARM" && !out.contains(&alarm) && goes_off(alarm, each)) out.insert(&alarm);
      return true;
    });
    if (walked == Walk::used_up)
      for (const auto& each : calendar_.components)
        for (const auto& alarm : each.components) out.insert(&alarm);
    return out;
  }

  const IcalComponent& calendar_;
  const Zone& floating_;
  std::unique_ptr<Series> series_;
  std::map<const CompFilter*, Components> found_;
};

}  // namespace

bool passes(const CompFilter& filter, const IcalComponent& calendar, const Zone& floating) {
  return Evaluation(calendar, floating).passes_calendar(filter);
}

}  // namespace welkin::calendars
