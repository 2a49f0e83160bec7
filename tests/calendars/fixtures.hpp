#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "welkin/wire/ical.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars::fixtures {

/// "DTSTART:... / SUMMARY:..." to lines.
inline std::string lines(std::string_view joined) {
  std::string out;
  while (!joined.empty()) {
    const auto end = joined.find(" / ");
    out += joined.substr(0, end);
    out += "\r\n";
    joined.remove_prefix(end == std::string_view::npos ? joined.size() : end + 3);
  }
  return out;
}

/// A component of the fixtures: UID, DTSTAMP and what is said.
inline std::string component(std::string_view kind, std::string_view uid, std::string_view joined) {
  return lines("BEGIN:" + std::string(kind)) +
         lines("UID:" + std::string(uid) + " / DTSTAMP:20260101T000000Z") + lines(joined) +
         lines("END:" + std::string(kind));
}

inline std::string calendar(std::string_view components) {
  return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\n" + std::string(components) +
         "END:VCALENDAR\r\n";
}

inline wire::IcalComponent event(std::string_view joined, std::string_view uid = "F") {
  return wire::parse_ical(calendar(component("VEVENT", uid, joined)));
}
inline wire::IcalComponent todo(std::string_view joined, std::string_view uid = "T") {
  return wire::parse_ical(calendar(component("VTODO", uid, joined)));
}

/// "20260302T083000" in seconds of whatever clock.
inline std::int64_t at(std::string_view time) { return wire::parse_ical_time(time)->local_seconds; }

inline constexpr std::string_view kF2Master =
    "DTSTART;TZID=Europe/Berlin:20260302T093000 / DURATION:PT1H / RRULE:FREQ=WEEKLY;COUNT=8 / "
    "EXDATE;TZID=Europe/Berlin:20260316T093000 / RDATE;TZID=Europe/Berlin:20260401T093000";
inline constexpr std::string_view kF2Override =
    "RECURRENCE-ID;TZID=Europe/Berlin:20260330T093000 / DTSTART;TZID=Europe/Berlin:20260331T150000 / "
    "DURATION:PT1H / "
    "SUMMARY:moved";

inline wire::IcalComponent f2() {
  return wire::parse_ical(
      calendar(component("VEVENT", "F2", kF2Master) + component("VEVENT", "F2", kF2Override)));
}

}  // namespace welkin::calendars::fixtures
