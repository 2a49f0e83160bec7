#include "welkin/calendars/freebusy.hpp"

#include <algorithm>
#include <array>

#include "calendars/overlap.hpp"
#include "calendars/series.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

using wire::IcalComponent;

constexpr std::array<std::string_view, 3> kNames = {"BUSY-TENTATIVE", "BUSY-UNAVAILABLE", "BUSY"};

/// nullopt: free.
std::optional<Busy> busy_named(std::string_view type) {
  type = text::trim(type);
  if (text::iequals(type, "FREE")) return std::nullopt;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (text::iequals(type, kNames[i])) return static_cast<Busy>(i);
  return Busy::busy;  // what is unknown is busy (RFC 5545 §3.2.9)
}

bool has_value(const IcalComponent& component, std::string_view name, std::string_view value) {
  return text::iequals(text::trim(component.value(name)), value);
}

}  // namespace

BusyTimes::BusyTimes(const TimeRange& range, std::vector<std::string> own_addresses)
    : range_(range), own_addresses_(std::move(own_addresses)) {
  for (auto& address : own_addresses_) address = text::fold(address);
}

void BusyTimes::add_period(std::int64_t start, std::int64_t end, Busy kind) {
  start = std::max(start, range_.start);
  end = std::min(end, range_.end);
  if (start < end) periods_.push_back({start, end, kind});
}

void BusyTimes::add_event(const IcalComponent& component, std::int64_t start, std::int64_t end) {
  if (has_value(component, "TRANSP", "TRANSPARENT") || has_value(component, "STATUS", "CANCELLED")) return;
  Busy kind = has_value(component, "STATUS", "TENTATIVE") ? Busy::tentative : Busy::busy;
  const auto is_own = [&](std::string_view address) {
    return std::find(own_addresses_.begin(), own_addresses_.end(), text::fold(address)) !=
           own_addresses_.end();
  };
  if (!own_addresses_.empty() && !is_own(component.value("ORGANIZER"))) {
    for (const auto& property : component.properties) {
      if (property.name != "ATTENDEE" || !is_own(property.value)) continue;
      const auto answer = property.parameter_value("PARTSTAT");
      if (text::iequals(answer, "DECLINED")) return;
      if (answer.empty() || text::iequals(answer, "NEEDS-ACTION") || text::iequals(answer, "TENTATIVE"))
        kind = Busy::tentative;
    }
  }
  add_period(start, end, kind);
}

void BusyTimes::add_free_busy(const IcalComponent& component, const IcalComponent& calendar,
                              const Zone& floating) {
  const Clocks clocks(calendar, floating);
  for (const auto& period : free_busy_periods(component, clocks))
    if (const auto kind = busy_named(period.property->parameter_value("FBTYPE")))
      add_period(period.start, period.end, *kind);
}

/// Busy is what lies in the VAVAILABILITY and in none of its AVAILABLE (RFC 7953 §3.1).
void BusyTimes::add_availability(const IcalComponent& component, const IcalComponent& calendar,
                                 const Zone& floating) {
  const auto kind =
      component.property("BUSYTYPE") ? busy_named(component.value("BUSYTYPE")) : Busy::unavailable;
  if (!kind) return;
  IcalComponent available{calendar.name, {}, component.components};
  for (const auto& each : calendar.components)
    if (each.name == "VTIMEZONE") available.components.push_back(each);
  const Clocks clocks(calendar, floating);
  const auto start = clocks.stamp(component, "DTSTART"), end = clocks.stamp(component, "DTEND");
  const std::int64_t first = std::max(range_.start, start ? start->utc : INT64_MIN);
  std::int64_t last = std::min(range_.end, end ? end->utc : INT64_MAX);
  if (const auto length = wire::parse_ical_duration(component.value("DURATION")); start && !end && length)
    last =
        std::min(last, clocks.at(*start, start->time.local_seconds + length->days * wire::kDaySeconds).utc +
                           length->seconds);
  std::vector<std::pair<std::int64_t, std::int64_t>> free;
  const Series series(available, floating);
  series.walk(first, last, kWalkMax, [&](const Occurrence& each) {
    if (each.component->name == "AVAILABLE" && each.start && each.end)
      free.emplace_back(each.start->utc, each.end->utc);
    return true;
  });
  std::sort(free.begin(), free.end());
  std::int64_t at = first;
  for (const auto& [from, to] : free) {
    add_period(at, std::min(from, last), *kind);
    at = std::max(at, to);
  }
  add_period(at, last, *kind);
}

void BusyTimes::add(const IcalComponent& calendar, const Zone& floating) {
  bool has_events = false;
  for (const auto& component : calendar.components) {
    has_events = has_events || component.name == "VEVENT";
    if (component.name == "VFREEBUSY") add_free_busy(component, calendar, floating);
    if (component.name == "VAVAILABILITY") add_availability(component, calendar, floating);
  }
  if (!has_events) return;
  const Series series(calendar, floating);
  series.walk(range_.start, range_.end, kWalkMax, [&](const Occurrence& each) {
    if (each.component->name == "VEVENT" && each.start && each.end)
      add_event(*each.component, each.start->utc, each.end->utc);
    return true;
  });
}

std::vector<BusyPeriod> BusyTimes::periods() const {
  struct Edge {
    std::int64_t at;
    std::size_t kind;
    int change;
  };
  std::vector<Edge> edges;
  for (const auto& period : periods_) {
    edges.push_back({period.start, static_cast<std::size_t>(period.kind), 1});
    edges.push_back({period.end, static_cast<std::size_t>(period.kind), -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::vector<BusyPeriod> out;
  std::array<int, kNames.size()> open{};
  for (std::size_t i = 0; i < edges.size(); ++i) {
    open[edges[i].kind] += edges[i].change;
    if (i + 1 == edges.size() || edges[i + 1].at == edges[i].at) continue;
    const auto highest = std::find_if(open.rbegin(), open.rend(), [](int n) { return n > 0; });
    if (highest == open.rend()) continue;
    const auto kind = static_cast<Busy>(open.rend() - highest - 1);
    if (!out.empty() && out.back().end == edges[i].at && out.back().kind == kind) {
      out.back().end = edges[i + 1].at;
    } else {
      out.push_back({edges[i].at, edges[i + 1].at, kind});
    }
  }
  return out;
}

IcalComponent free_busy_calendar(const TimeRange& range, const std::vector<BusyPeriod>& periods,
                                 std::int64_t now, std::string_view prodid) {
  IcalComponent busy{"VFREEBUSY", {}, {}};
  busy.set("DTSTAMP", wire::format_ical_utc(now));
  busy.set("DTSTART", wire::format_ical_utc(range.start));
  busy.set("DTEND", wire::format_ical_utc(range.end));
  for (const auto& period : periods) {
    auto& made = busy.properties.emplace_back();
    made.name = "FREEBUSY";
    made.set_parameter("FBTYPE", std::string(kNames[static_cast<std::size_t>(period.kind)]));
    made.value = wire::format_ical_utc(period.start) + '/' + wire::format_ical_utc(period.end);
  }
  IcalComponent out{"VCALENDAR", {}, {std::move(busy)}};
  out.set("VERSION", "2.0");
  out.set("PRODID", std::string(prodid));
  return out;
}

}  // namespace welkin::calendars
