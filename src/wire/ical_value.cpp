#include "welkin/wire/ical_value.hpp"

#include <cstdio>

#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

constexpr std::int64_t kDaysMax = 366'000;  // a thousand years

std::optional<int> digits(std::string_view s) {
  int out = 0;
  for (const char c : s) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out;
}

}  // namespace

std::optional<IcalTime> parse_ical_time(std::string_view value) {
  const bool is_date = value.size() == 8;
  if (!is_date && (value.size() < 15 || value.size() > 16 || (value[8] != 'T' && value[8] != 't')))
    return std::nullopt;
  IcalTime out;
  out.is_date = is_date;
  if (value.size() == 16) {
    if (value[15] != 'Z' && value[15] != 'z') return std::nullopt;
    out.is_utc = true;
  }
  const auto year = digits(value.substr(0, 4)), month = digits(value.substr(4, 2)),
             day = digits(value.substr(6, 2));
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1 || *day > days_in_month(*year, *month))
    return std::nullopt;
  out.local_seconds = days_from_civil(*year, *month, *day) * kDaySeconds;
  if (is_date) return out;
  const auto hour = digits(value.substr(9, 2)), minute = digits(value.substr(11, 2)),
             second = digits(value.substr(13, 2));
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  out.local_seconds += *hour * 3600 + *minute * 60 + *second;
  return out;
}

std::optional<IcalDuration> parse_ical_duration(std::string_view value) {
  std::int64_t sign = 1;
  if (!value.empty() && (value[0] == '+' || value[0] == '-')) {
    if (value[0] == '-') sign = -1;
    value.remove_prefix(1);
  }
  if (value.size() < 2 || (value[0] != 'P' && value[0] != 'p')) return std::nullopt;
  value.remove_prefix(1);
  IcalDuration out;
  bool in_time = false, any = false;
  while (!value.empty()) {
    if (value[0] == 'T' || value[0] == 't') {
      if (in_time) return std::nullopt;
      in_time = true;
      value.remove_prefix(1);
      continue;
    }
    const auto end = value.find_first_not_of("0123456789");
    if (end == 0 || end == std::string_view::npos || end > 11) return std::nullopt;
    const auto count = static_cast<std::int64_t>(*text::number(value.substr(0, end)));
    const char unit = static_cast<char>(value[end] & ~0x20);
    if (!in_time && unit == 'W') {
      out.days += count * 7;
    } else if (!in_time && unit == 'D') {
      out.days += count;
    } else if (in_time && unit == 'H') {
      out.seconds += count * 3600;
    } else if (in_time && unit == 'M') {
      out.seconds += count * 60;
    } else if (in_time && unit == 'S') {
      out.seconds += count;
    } else {
      return std::nullopt;
    }
    any = true;
    value.remove_prefix(end + 1);
    if (out.days > kDaysMax || out.seconds > kDaysMax * kDaySeconds) return std::nullopt;
  }
  if (!any) return std::nullopt;
  out.days *= sign;
  out.seconds *= sign;
  return out;
}

std::optional<IcalPeriod> parse_ical_period(std::string_view value) {
  const auto slash = value.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto start = parse_ical_time(value.substr(0, slash));
  const auto rest = value.substr(slash + 1);
  if (!start || start->is_date) return std::nullopt;
  IcalPeriod out;
  out.start = *start;
  if (const auto end = parse_ical_time(rest)) {
    out.end = *end;
  } else if (const auto duration = parse_ical_duration(rest)) {
    out.duration = *duration;
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<std::int64_t> parse_ical_offset(std::string_view value) {
  if ((value.size() != 5 && value.size() != 7) || (value[0] != '+' && value[0] != '-')) return std::nullopt;
  const auto hours = digits(value.substr(1, 2)), minutes = digits(value.substr(3, 2));
  const auto seconds = value.size() == 7 ? digits(value.substr(5, 2)) : std::optional<int>(0);
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 59) return std::nullopt;
  const std::int64_t offset = *hours * 3600 + *minutes * 60 + *seconds;
  return value[0] == '-' ? -offset : offset;
}

std::string format_ical_time(const IcalTime& time) {
  const std::int64_t days =
      (time.local_seconds >= 0 ? time.local_seconds : time.local_seconds - (kDaySeconds - 1)) / kDaySeconds;
  const auto second = static_cast<int>(time.local_seconds - days * kDaySeconds);
  const auto [year, month, day] = civil_from_days(days);
  const int shown = year < 0 ? 0 : year > 9999 ? 9999 : static_cast<int>(year);
  char out[40];
  const int size = time.is_date
                       ? std::snprintf(out, sizeof out, "%04d%02d%02d", shown, month, day)
                       : std::snprintf(out, sizeof out, "%04d%02d%02dT%02d%02d%02d%s", shown, month, day,
                                       second / 3600, second / 60 % 60, second % 60, time.is_utc ? "Z" : "");
  return {out, static_cast<std::size_t>(size)};
}

std::string format_ical_utc(std::int64_t utc_seconds) {
  return format_ical_time({.local_seconds = utc_seconds, .is_date = false, .is_utc = true});
}

}  // namespace welkin::wire
