#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace welkin::wire {

/// DATE or DATE-TIME (RFC 5545 §3.3.4, §3.3.5) as read from a clock on a wall; which zone that clock stands
/// in is said by the property's TZID, or by nobody (floating).
struct IcalTime {
  std::int64_t local_seconds = 0;  // of that clock, since 1970-01-01T00:00:00 of it; a DATE is its midnight
  bool is_date = false;
  bool is_utc = false;  // ended by "Z"

  bool operator==(const IcalTime&) const = default;
};

/// DURATION (RFC 5545 §3.3.6): weeks and days are days of the calendar, the rest exact time. Both carry the
/// sign.
struct IcalDuration {
  std::int64_t days = 0;
  std::int64_t seconds = 0;

  bool operator==(const IcalDuration&) const = default;
};

/// PERIOD (RFC 5545 §3.3.9): `end` or `duration`.
struct IcalPeriod {
  IcalTime start;
  std::optional<IcalTime> end;
  IcalDuration duration;
};

inline constexpr std::int64_t kDaySeconds = 86'400;

/// Days since 1970-01-01 of a day of the proleptic Gregorian calendar, years 0 to 9999.
constexpr std::int64_t days_from_civil(std::int64_t year, int month, int day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<int>(year - era * 400);
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

struct CivilDate {
  std::int64_t year;
  int month, day;
};
constexpr CivilDate civil_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const auto day_of_era = static_cast<int>(days - era * 146'097);
  const int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int shifted = (5 * day_of_year + 2) / 153;
  const int month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1};
}

constexpr bool is_leap_year(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}
constexpr int days_in_month(std::int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : kDays[month - 1];
}

/// "20260228", "20260228T090000" or "20260228T090000Z". nullopt: another form, or no such day or hour. The
/// second 60 is the next minute.
std::optional<IcalTime> parse_ical_time(std::string_view value);
/// "-P1DT2H30M" and the like, at most a thousand years. nullopt: another form.
std::optional<IcalDuration> parse_ical_duration(std::string_view value);
/// "start/end" or "start/duration". nullopt: another form.
std::optional<IcalPeriod> parse_ical_period(std::string_view value);
/// UTC-OFFSET (RFC 5545 §3.3.14) in seconds: "+0100", "-013015".
std::optional<std::int64_t> parse_ical_offset(std::string_view value);

/// As on the wire. Years below 0 are printed as 0000, above 9999 as 9999.
std::string format_ical_time(const IcalTime& time);
/// A UTC instant: "20260228T090000Z".
std::string format_ical_utc(std::int64_t utc_seconds);

}  // namespace welkin::wire
