#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "welkin/calendars/filter.hpp"
#include "welkin/calendars/timezone.hpp"
#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

/// C:prop of C:comp (RFC 4791 §9.6.4).
struct PropSelection {
  std::string name;  // upper case
  bool no_value = false;
};

/// C:comp (§9.6.1): what of a component is given back.
struct CompSelection {
  std::string name;  // upper case; the outermost one is for VCALENDAR
  bool all_properties = false;
  bool all_components = false;
  std::vector<PropSelection> properties{};
  std::vector<CompSelection> components{};
};

/// C:calendar-data of a report (§9.6). Nothing set: the stored bytes are the answer, and render_object need
/// not be called.
struct DataRequest {
  std::optional<CompSelection> selection{};
  std::optional<TimeRange> expand{};             // both ends given; not with limit_recurrences
  std::optional<TimeRange> limit_recurrences{};  // C:limit-recurrence-set
  std::optional<TimeRange> limit_free_busy{};    // C:limit-freebusy-set

  bool is_whole() const { return !selection && !expand && !limit_recurrences && !limit_free_busy; }
};

inline constexpr std::size_t kInstancesMax = 10'000;  // of one object; C:max-instances

/// The object as a client wants to see it.
/// @throws Error forbidden `max_instances`: more than kInstancesMax instances in the range
wire::IcalComponent render_object(const wire::IcalComponent& calendar, const DataRequest& request,
                                  const Zone& floating);

/// Every instance that overlaps the range, as components with UTC times and no recurrence (§9.6.5), sorted by
/// their start. Dates stay dates, floating times stay floating. No instance: a VCALENDAR without components.
/// @throws Error as render_object
wire::IcalComponent expand_object(const wire::IcalComponent& calendar, const TimeRange& range,
                                  const Zone& floating, std::size_t instances_max = kInstancesMax);

/// An instance for lists: where it is in time, and the component that says what it is.
struct Instance {
  const wire::IcalComponent* component;  // in the calendar given
  std::int64_t start = 0, end = 0;       // UTC; a to-do without dates is left out
  std::string start_text, end_text;  // as on the wire: "20260302", "20260302T083000Z", floating without "Z"
  std::string recurrence_id;         // as on the wire, "" without a series
};
/// The instances that overlap the range, sorted by their start.
/// @throws Error as render_object
std::vector<Instance> instances_of(const wire::IcalComponent& calendar, const TimeRange& range,
                                   const Zone& floating, std::size_t instances_max = kInstancesMax);

}  // namespace welkin::calendars
