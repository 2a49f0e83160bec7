#include "calendars/event_times.hpp"

#include <algorithm>

#include "welkin/calendars/timezone.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

bool are_digits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "2026-03-28" to "20260328".
std::string compact_day(std::string_view s) {
  if (s.size() != 10 || s[4] != '-' || s[7] != '-') return {};
  return std::string(s.substr(0, 4)).append(s.substr(5, 2)).append(s.substr(8, 2));
}

/// "09:30:00" or "09:30", with parts of a second that are passed over, to "093000".
std::string compact_clock(std::string_view s) {
  if (const auto dot = s.find('.'); dot != std::string_view::npos) {
    if (!are_digits(s.substr(dot + 1))) return {};
    s = s.substr(0, dot);
  }
  if ((s.size() != 8 && s.size() != 5) || s[2] != ':' || (s.size() == 8 && s[5] != ':')) return {};
  auto out = std::string(s.substr(0, 2)).append(s.substr(3, 2));
  return out.append(s.size() == 8 ? s.substr(6, 2) : std::string_view("00"));
}

/// "+01:00" in seconds.
std::optional<std::int64_t> offset_of(std::string_view s) {
  if (s.size() != 6 || s[3] != ':') return std::nullopt;
  return wire::parse_ical_offset(std::string(s.substr(0, 3)).append(s.substr(4, 2)));
}

struct ReadTime {
  wire::IcalTime time;
  bool is_instant = false;  // then time is UTC
};

std::optional<ReadTime> read_time(std::string_view s) {
  const auto day = compact_day(s.substr(0, 10));
  if (day.empty()) return std::nullopt;
  if (s.size() == 10) {
    const auto time = wire::parse_ical_time(day);
    if (!time) return std::nullopt;
    return ReadTime{*time, false};
  }
  if (s[10] != 'T' && s[10] != 't' && s[10] != ' ') return std::nullopt;
  auto clock = s.substr(11);
  std::optional<std::int64_t> offset;
  if (clock.ends_with('Z') || clock.ends_with('z')) {
    offset = 0;
    clock.remove_suffix(1);
  } else if (const auto sign = clock.find_first_of("+-"); sign != std::string_view::npos) {
    offset = offset_of(clock.substr(sign));
    if (!offset) return std::nullopt;
    clock = clock.substr(0, sign);
  }
  const auto compact = compact_clock(clock);
  if (compact.empty()) return std::nullopt;
  auto time = wire::parse_ical_time(day + 'T' + compact);
  if (!time) return std::nullopt;
  if (offset) {
    time->local_seconds -= *offset;
    time->is_utc = true;
  }
  return ReadTime{*time, offset.has_value()};
}

}  // namespace

std::string time_text(const wire::IcalTime& time) {
  auto out = wire::format_ical_time(time);
  out.insert(6, 1, '-');
  out.insert(4, 1, '-');
  if (time.is_date) return out;
  out.insert(15, 1, ':');
  out.insert(13, 1, ':');
  return out;
}

std::string time_text(const wire::IcalComponent& component, std::string_view name) {
  const auto time = wire::parse_ical_time(component.value(name));
  return time ? time_text(*time) : std::string();
}

std::string timezone_of(const wire::IcalProperty& property) {
  const auto time = wire::parse_ical_time(property.value);
  if (!time || time->is_date) return {};
  if (time->is_utc) return "UTC";
  return std::string(property.parameter_value("TZID"));
}

std::optional<wire::IcalProperty> time_property(std::string_view name, std::string_view text,
                                                std::string_view timezone) {
  auto read = read_time(text);
  if (!read) return std::nullopt;
  wire::IcalProperty out{std::string(name), {}, {}};
  auto& time = read->time;
  if (time.is_date) {
    out.set_parameter("VALUE", "DATE");
  } else if (timezone.empty() || timezone == "UTC") {
    time.is_utc = read->is_instant || timezone == "UTC";
  } else if (read->is_instant) {
    const auto zone = Zone::named(timezone);
    if (!zone) return std::nullopt;
    time.local_seconds = zone->to_local(time.local_seconds);
    time.is_utc = false;
    out.set_parameter("TZID", std::string(timezone));
  } else {
    out.set_parameter("TZID", std::string(timezone));
  }
  out.value = wire::format_ical_time(time);
  return out;
}

}  // namespace welkin::calendars
