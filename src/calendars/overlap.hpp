#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calendars/series.hpp"
#include "welkin/calendars/filter.hpp"

namespace welkin::calendars {

/// Whether an instance overlaps the range, by the table of its kind (RFC 4791 §9.9, RFC 7953 §7.2.2).
bool overlaps(const Occurrence& occurrence, const TimeRange& range, const Clocks& clocks);

/// When an alarm of an instance goes off: the first time and every REPEAT (RFC 5545 §3.8.6). Empty: it cannot
/// be told.
std::vector<std::int64_t> trigger_times(const wire::IcalComponent& alarm, const Occurrence& occurrence,
                                        const Clocks& clocks);
/// How long before and behind its instance an alarm may go off, in seconds, both at least 0.
std::pair<std::int64_t, std::int64_t> trigger_reach(const wire::IcalComponent& alarm);

/// The periods of the FREEBUSY properties (RFC 5545 §3.8.2.6) of a component.
struct FreeBusyPeriod {
  std::int64_t start, end;
  const wire::IcalProperty* property;
};
std::vector<FreeBusyPeriod> free_busy_periods(const wire::IcalComponent& component, const Clocks& clocks);

/// Instances that a walk looks at before it gives up.
inline constexpr std::size_t kWalkMax = 10'000;

}  // namespace welkin::calendars
