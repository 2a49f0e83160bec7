#pragma once
#include "dav/groupware/target.hpp"
#include "welkin/calendars/expand.hpp"
#include "welkin/calendars/filter.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav::groupware {

/// C:time-range, C:expand and their kin: UTC, and at least one of start and end.
/// @param both  must be given. @throws Error invalid `bad_report`; Refusal C:valid-filter: times that are not
/// UTC
calendars::TimeRange read_range(const wire::XmlElement& element, bool both);

/// C:filter of a calendar-query (RFC 4791 §9.7), checked.
/// @throws Error invalid `bad_report`, forbidden `valid_filter`; Refusal
calendars::CompFilter read_filter(const wire::XmlElement& query);

/// C:calendar-data (§9.6). @throws Error invalid `bad_report`; Refusal C:supported-calendar-data
calendars::DataRequest read_calendar_data(const wire::XmlElement& element);

/// The zone of C:timezone-id or C:timezone in a request, else of the calendar as the caller has set it, else
/// UTC.
/// @param body  nullptr: only the calendar is looked at. @throws Refusal C:valid-calendar-data,
/// C:valid-timezone
Task<calendars::Zone> floating_zone(const Services& services, const Caller& caller,
                                    const collections::Collection& calendar, const wire::XmlElement* body);

/// The zone of iCalendar text with just one VTIMEZONE; nullopt: it is no such thing.
std::optional<calendars::Zone> zone_in(std::string_view icalendar);

}  // namespace welkin::dav::groupware
