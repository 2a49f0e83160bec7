#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/calendars/filter.hpp"
#include "welkin/calendars/timezone.hpp"
#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

/// Kinds of FBTYPE (RFC 5545 §3.2.9), the more telling one last: it wins where two overlap.
enum class Busy : std::uint8_t { tentative, unavailable, busy };

struct BusyPeriod {
  std::int64_t start = 0, end = 0;  // UTC
  Busy kind = Busy::busy;
  bool operator==(const BusyPeriod&) const = default;
};

/// When somebody is busy in a range (RFC 4791 §7.10). Feed it objects; a series gives at most some thousand
/// periods.
class BusyTimes {
 public:
  /// @param own_addresses  calendar user addresses of whose time it is ("mailto:..."): where such an attendee
  /// has declined,
  ///                       the event does not count; where there is no answer yet, it is tentative
  BusyTimes(const TimeRange& range, std::vector<std::string> own_addresses = {});

  /// Events that are not transparent and not cancelled, VFREEBUSY, and what VAVAILABILITY leaves out (RFC
  /// 7953).
  void add(const wire::IcalComponent& calendar, const Zone& floating);

  /// Merged, sorted, none overlapping, clipped to the range.
  std::vector<BusyPeriod> periods() const;

 private:
  void add_period(std::int64_t start, std::int64_t end, Busy kind);
  void add_event(const wire::IcalComponent& component, std::int64_t start, std::int64_t end);
  void add_free_busy(const wire::IcalComponent& component, const wire::IcalComponent& calendar,
                     const Zone& floating);
  void add_availability(const wire::IcalComponent& component, const wire::IcalComponent& calendar,
                        const Zone& floating);

  TimeRange range_;
  std::vector<std::string> own_addresses_;  // folded
  std::vector<BusyPeriod> periods_;
};

/// A VCALENDAR with one VFREEBUSY for the range (RFC 4791 §7.10). `now` is its DTSTAMP.
wire::IcalComponent free_busy_calendar(const TimeRange& range, const std::vector<BusyPeriod>& periods,
                                       std::int64_t now, std::string_view prodid);

}  // namespace welkin::calendars
