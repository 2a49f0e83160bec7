#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

/// Kinds of components an object may hold, as bits of a set.
enum Kind : std::int16_t {
  kEvent = 1,
  kTodo = 2,
  kJournal = 4,
  kFreeBusy = 8,
  kAvailability = 16,
  kPoll = 32,
};
/// "VEVENT" and the like, in any case; nullopt for anything else.
std::optional<Kind> kind_named(std::string_view component);
std::string_view name_of(Kind kind);

/// What a calendar asks of an object beside its form.
struct ObjectRules {
  int kinds = kEvent | kTodo | kJournal;  // those the calendar takes
  std::size_t attendees_max = 300;        // of one component
  int year_min = 1, year_max = 9999;      // of starts, ends, RDATE and RECURRENCE-ID
};

/// Seconds since 1970, both ends widened so that [first, last) is a superset of what time-range tests find
/// whatever the zone of floating times is; the ends of std::int64_t are open.
struct Span {
  std::int64_t first = 0, last = 0;
  bool operator==(const Span&) const = default;
};

struct Attendee {
  std::string address;   // as written: "mailto:bob@example.org"
  std::string partstat;  // upper case; "NEEDS-ACTION" when it is not said
  std::string
      schedule_agent;  // upper case; "SERVER" when it is not said, "NONE" for unknown ones (RFC 6638 §7.1)
};

enum class Status : std::int16_t {
  none,
  tentative,
  confirmed,
  cancelled,
  needs_action,
  in_process,
  completed,
  draft,
  final
};
enum class Classification : std::int16_t {
  is_public,
  is_private,
  confidential
};  // CLASS (RFC 5545 §3.8.1.3)

/// What the index keeps of an object. Where components differ, those of the master count, or of the first one
/// when there is none, but for `span`, `search`, `has_alarm` and `attendees`.
struct ObjectFacts {
  std::string uid;
  Kind kind = kEvent;
  std::optional<Span> span;   // nullopt: no time-range ever finds it (VJOURNAL without DTSTART)
  bool recurring = false;     // RRULE or RDATE
  bool has_override = false;  // RECURRENCE-ID
  bool has_alarm = false;
  bool is_transparent = false;
  Status status = Status::none;
  Classification classification = Classification::is_public;
  std::int32_t sequence = 0;
  std::string summary;  // unescaped
  /// SUMMARY, LOCATION, DESCRIPTION, CATEGORIES, COMMENT, CONTACT, UID, ORGANIZER and ATTENDEE (with CN) of
  /// all components, unescaped, case folded, one a line: what contains a text has it in here.
  std::string search;
  std::string organizer;            // as written, "" without
  std::string organizer_agent;      // SCHEDULE-AGENT of the organizer, as in Attendee
  std::vector<Attendee> attendees;  // of all components, each address once
  bool is_scheduling =
      false;  // an organizer and attendees; whether they are ours is for others to say (RFC 6638 §3.1)

  bool endless() const { return span && span->last == INT64_MAX; }
};

/// Reads what the index keeps; takes what it finds, whatever check_object would say of it.
ObjectFacts describe_object(const wire::IcalComponent& calendar);

/// Whether the object may be stored (RFC 4791 §4.1, §5.3.2.1).
///
/// Refused are values that no reader could use: dates that do not exist, a recurrence rule that cannot be
/// read, an event without DTSTART. Accepted is what clients write and others read: no VERSION, PRODID or
/// DTSTAMP, an end that is not behind its start, DTEND beside DURATION, dates mixed with times, overrides
/// without a master or outside of the series, unknown components.
///
/// @throws Error forbidden with the precondition of CalDAV as its slug: `valid_calendar_data`,
/// `valid_calendar_object_resource` (METHOD, no or several kinds, no or several UIDs, two masters, one
/// RECURRENCE-ID twice), `supported_calendar_component`, `max_instances` (a rule of seconds, minutes or hours
/// that never occurs), `supported_rscale` (RFC 7529 §7), `max_attendees_per_instance`, `min_date_time`,
/// `max_date_time`
void check_object(const wire::IcalComponent& calendar, const ObjectRules& rules = {});

/// The objects in a file that may hold many: one VCALENDAR a UID, with the time zones it names, the
/// VCALENDAR's own properties but METHOD, in the order of the file. Components without UID get one from
/// `make_uid`.
std::vector<wire::IcalComponent> split_objects(const std::vector<wire::IcalComponent>& calendars,
                                               std::string (*make_uid)());

}  // namespace welkin::calendars
