#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/calendars/object.hpp"

namespace welkin::calendars {

/// An instance that differs from its series.
struct OverrideView {
  std::string recurrence_id;  // as on the wire
  std::string summary, start, end;
  bool is_cancelled = false;
};

/// What people see of an object: of the master, or of the first component when there is none.
///
/// Times are "2026-03-28" (a day), "2026-03-02T09:30:00Z" (an instant) or "2026-03-02T09:30:00" by the clock
/// of `timezone`, or by everybody's own when that is "". The end of days is the day after the last.
struct EventView {
  std::string uid;
  Kind kind = kEvent;
  std::string summary, description, location, url;
  std::string start, end, due, completed;  // "" without
  std::string timezone;                    // TZID of the start, "UTC", or ""
  bool is_all_day = false;
  std::string rrule;   // as on the wire
  std::string status;  // lower case: "confirmed", "needs-action"
  std::string classification;
  bool is_transparent = false;
  std::vector<std::string> categories;
  std::optional<std::int64_t> priority, percent;
  std::vector<std::int64_t> alarms;  // minutes before the start
  std::string organizer;
  std::vector<Attendee> attendees;
  std::vector<OverrideView> overrides;
  std::vector<std::string> exdates;  // as on the wire
};
EventView view_of(const wire::IcalComponent& calendar);

/// A day, an instant or a local time in the form of EventView. nullopt: none of these.
/// With a zone, instants (offsets too) are told by its clock.
std::optional<wire::IcalProperty> time_property(std::string_view name, std::string_view text,
                                                std::string_view timezone);

/// What an edit says; what it does not say stays. An inner nullopt or "" takes the property away.
struct EventEdit {
  using Text = std::optional<std::optional<std::string>>;
  Text summary, description, location, url, status, classification, rrule;
  Text start, end, due, completed;  // as in EventView
  Text timezone;                    // an IANA name; of the times in this edit, and of the start and end kept
  std::optional<bool> is_transparent;
  std::optional<std::vector<std::string>> categories;
  std::optional<std::optional<std::int64_t>> priority, percent;
  std::optional<std::vector<std::int64_t>> alarms;
};

/// A new object. @param now  seconds. @throws Error invalid `bad_field`
std::string make_event(Kind kind, std::string_view uid, const EventEdit& edit, std::int64_t now);
/// The object with the edit done to its master (or only component). What the edit does not speak of keeps its
/// octets. @throws Error invalid `bad_field`
std::string edit_event(std::string_view data, const EventEdit& edit, std::int64_t now);

/// The same for one instance of a series: it becomes an override, or its override is changed.
/// @param recurrence_id  as told by instances_of
/// @throws Error invalid `bad_field`, not_found `no_such_instance`
std::string edit_instance(std::string_view data, std::string_view recurrence_id, const EventEdit& edit,
                          std::int64_t now);
/// Takes one instance out of its series. @throws Error not_found `no_such_instance`
std::string remove_instance(std::string_view data, std::string_view recurrence_id, std::int64_t now);

}  // namespace welkin::calendars
