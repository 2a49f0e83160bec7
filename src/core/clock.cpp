#include "welkin/core/clock.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "welkin/core/text.hpp"

namespace welkin {

Micros SystemClock::now() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

namespace times {
namespace {

constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// In UTC, of the proleptic Gregorian calendar. Not gmtime_r: it takes the lock of the time zones.
struct Civil {
  int year, month, day, hour, minute, second, weekday;
};

Civil utc(Micros at) {
  constexpr std::int64_t year_0 = -62'167'219'200, year_10000 = 253'402'300'800;
  const std::int64_t since_epoch = seconds(at);
  if (since_epoch < year_0 || since_epoch >= year_10000) {  // std::chrono's years end at 32767
    const std::time_t t = static_cast<std::time_t>(since_epoch);
    std::tm tm{};
    ::gmtime_r(&t, &tm);
    return {tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, tm.tm_wday};
  }
  const std::chrono::sys_seconds t{std::chrono::seconds(since_epoch)};
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(day);
  const auto of_day = static_cast<int>((t - day).count());
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          of_day / 3600,
          of_day / 60 % 60,
          of_day % 60,
          static_cast<int>(std::chrono::weekday(day).c_encoding())};
}

void put_two(std::string& out, int value) {
  out.push_back(static_cast<char>('0' + value / 10));
  out.push_back(static_cast<char>('0' + value % 10));
}

void put_year(std::string& out, int year) {
  if (year >= 0 && year <= 9999) {
    put_two(out, year / 100);
    put_two(out, year % 100);
    return;
  }
  char digits[16];
  const int n = std::snprintf(digits, sizeof digits, "%04d", year);
  out.append(digits, static_cast<std::size_t>(n));
}

void put_clock(std::string& out, const Civil& t) {
  put_two(out, t.hour);
  out.push_back(':');
  put_two(out, t.minute);
  out.push_back(':');
  put_two(out, t.second);
}

/// Eats a fixed text; false when it is not there.
bool eat(std::string_view& s, std::string_view what) {
  if (!s.starts_with(what)) return false;
  s.remove_prefix(what.size());
  return true;
}

/// Eats exactly `digits` digits.
std::optional<int> eat_number(std::string_view& s, std::size_t digits) {
  if (s.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (s[i] < '0' || s[i] > '9') return std::nullopt;
    value = value * 10 + (s[i] - '0');
  }
  s.remove_prefix(digits);
  return value;
}

template <std::size_t N>
std::optional<int> eat_word(std::string_view& s, const std::array<std::string_view, N>& words) {
  for (std::size_t i = 0; i < N; ++i)
    if (eat(s, words[i])) return static_cast<int>(i);
  return std::nullopt;
}

struct Stamp {
  std::optional<int> year, month, day, hour, minute, second;
};

std::optional<Micros> micros(const Stamp& t) {
  if (!t.year || !t.month || !t.day || !t.hour || !t.minute || !t.second) return std::nullopt;
  if (*t.hour > 23 || *t.minute > 59 || *t.second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*t.year),
                                         std::chrono::month(static_cast<unsigned>(*t.month)),
                                         std::chrono::day(static_cast<unsigned>(*t.day))};
  if (!date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return (static_cast<Micros>(days) * 86'400 + *t.hour * 3600 + *t.minute * 60 + *t.second) * 1'000'000;
}

bool eat_clock(std::string_view& s, Stamp& t) {
  t.hour = eat_number(s, 2);
  if (!eat(s, ":")) return false;
  t.minute = eat_number(s, 2);
  if (!eat(s, ":")) return false;
  t.second = eat_number(s, 2);
  return true;
}

std::optional<int> month_number(std::optional<int> index) {
  if (index) return *index + 1;
  return std::nullopt;
}

std::optional<Micros> imf_fixdate(std::string_view s) {  // Sun, 06 Nov 1994 08:49:37 GMT
  Stamp t;
  if (!eat_word(s, kDays) || !eat(s, ", ")) return std::nullopt;
  t.day = eat_number(s, 2);
  if (!eat(s, " ")) return std::nullopt;
  t.month = month_number(eat_word(s, kMonths));
  if (!eat(s, " ")) return std::nullopt;
  t.year = eat_number(s, 4);
  if (!eat(s, " ") || !eat_clock(s, t) || s != " GMT") return std::nullopt;
  return micros(t);
}

std::optional<Micros> rfc850(std::string_view s) {  // Sunday, 06-Nov-94 08:49:37 GMT
  Stamp t;
  if (!eat_word(s, kLongDays) || !eat(s, ", ")) return std::nullopt;
  t.day = eat_number(s, 2);
  if (!eat(s, "-")) return std::nullopt;
  t.month = month_number(eat_word(s, kMonths));
  if (!eat(s, "-")) return std::nullopt;
  t.year = eat_number(s, 2);
  if (!t.year) return std::nullopt;
  *t.year += *t.year < 70 ? 2000 : 1900;
  if (!eat(s, " ") || !eat_clock(s, t) || s != " GMT") return std::nullopt;
  return micros(t);
}

std::optional<Micros> asctime_date(std::string_view s) {  // Sun Nov  6 08:49:37 1994
  Stamp t;
  if (!eat_word(s, kDays) || !eat(s, " ")) return std::nullopt;
  t.month = month_number(eat_word(s, kMonths));
  if (!eat(s, " ")) return std::nullopt;
  t.day = eat(s, " ") ? eat_number(s, 1) : eat_number(s, 2);
  if (!eat(s, " ") || !eat_clock(s, t) || !eat(s, " ")) return std::nullopt;
  t.year = eat_number(s, 4);
  if (!s.empty()) return std::nullopt;
  return micros(t);
}

}  // namespace

std::string http_date(Micros at) {
  const Civil t = utc(at);
  std::string out;
  out.reserve(29);
  out.append(kDays[static_cast<std::size_t>(t.weekday)]).append(", ");
  put_two(out, t.day);
  out.append(" ").append(kMonths[static_cast<std::size_t>(t.month - 1)]).append(" ");
  put_year(out, t.year);
  out.push_back(' ');
  put_clock(out, t);
  return out.append(" GMT");
}

std::optional<Micros> from_http_date(std::string_view s) {
  if (const auto t = imf_fixdate(s)) return t;
  if (const auto t = rfc850(s)) return t;
  return asctime_date(s);
}

std::string rfc3339(Micros at) {
  const Civil t = utc(at);
  std::string out;
  out.reserve(20);
  put_year(out, t.year);
  out.push_back('-');
  put_two(out, t.month);
  out.push_back('-');
  put_two(out, t.day);
  out.push_back('T');
  put_clock(out, t);
  out.push_back('Z');
  return out;
}

std::optional<Micros> from_rfc3339(std::string_view s) {
  Stamp t;
  t.year = eat_number(s, 4);
  if (!eat(s, "-")) return std::nullopt;
  t.month = eat_number(s, 2);
  if (!eat(s, "-")) return std::nullopt;
  t.day = eat_number(s, 2);
  if (!eat(s, "T") && !eat(s, "t") && !eat(s, " ")) return std::nullopt;
  if (!eat_clock(s, t)) return std::nullopt;
  auto out = micros(t);
  if (!out) return std::nullopt;
  if (eat(s, ".")) {
    Micros unit = 100'000;
    if (s.empty() || s.front() < '0' || s.front() > '9') return std::nullopt;
    for (; !s.empty() && s.front() >= '0' && s.front() <= '9'; s.remove_prefix(1), unit /= 10)
      *out += (s.front() - '0') * unit;
  }
  if (s == "Z" || s == "z") return out;
  if (s.empty() || (s.front() != '+' && s.front() != '-')) return std::nullopt;
  const Micros sign = s.front() == '+' ? 1 : -1;
  s.remove_prefix(1);
  const auto hours = eat_number(s, 2);
  if (!hours || !eat(s, ":")) return std::nullopt;
  const auto minutes = eat_number(s, 2);
  if (!minutes || !s.empty() || *hours > 23 || *minutes > 59) return std::nullopt;
  return *out - sign * (*hours * 3600 + *minutes * 60) * 1'000'000;
}

}  // namespace times
}  // namespace welkin
