#include <algorithm>

#include "calendars/recurrence.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

constexpr std::int64_t kIntervalMax = 1'000'000'000;
constexpr std::int64_t kCountMax = 1'000'000'000'000;

struct Fault {
  RuleFault::Kind kind;
  std::string why;
};
[[noreturn]] void bad(std::string why) { throw Fault{RuleFault::Kind::syntax, std::move(why)}; }

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

std::int64_t signed_value(std::string_view s, const std::string& part) {
  s = text::trim(s);
  if (s.starts_with('+')) s.remove_prefix(1);
  const auto value = text::signed_number(s);
  if (!value) bad(part + " holds something that is no number");
  return *value;
}

/// A list of numbers from `lowest` to `highest`; with `negative` also their negatives, and never 0.
std::vector<int> numbers(std::string_view list, const std::string& part, int lowest, int highest,
                         bool negative) {
  std::vector<int> out;
  for (const auto word : text::split(list, ',')) {
    const auto value = signed_value(word, part);
    if (value > highest || value < (negative ? -highest : lowest) || (negative && value == 0))
      bad(part + " holds a number out of its range");
    out.push_back(static_cast<int>(value));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<int> weekday(std::string_view name) {
  static constexpr std::string_view kNames[] = {"MO", "TU", "WE", "TH", "FR", "SA", "SU"};
  for (int i = 0; i < 7; ++i)
    if (kNames[i] == name) return i;
  return std::nullopt;
}

std::vector<NthDay> nth_days(std::string_view list) {
  std::vector<NthDay> out;
  for (const auto raw : text::split(list, ',')) {
    const auto word = text::trim(raw);
    if (word.size() < 2) bad("BYDAY holds something that is no day");
    const auto day = weekday(word.substr(word.size() - 2));
    if (!day) bad("BYDAY holds something that is no day");
    const auto ordinal = word.substr(0, word.size() - 2);
    const auto nth = ordinal.empty() ? 0 : signed_value(ordinal, "BYDAY");
    if (nth < -53 || nth > 53 || (nth == 0 && !ordinal.empty()))
      bad("BYDAY holds an ordinal out of its range");
    out.push_back({static_cast<int>(nth), *day});
    if (out.size() > 1000) bad("BYDAY is too long");
  }
  return out;
}

Freq freq_named(std::string_view name) {
  static constexpr std::string_view kNames[] = {"SECONDLY", "MINUTELY", "HOURLY", "DAILY",
                                                "WEEKLY",   "MONTHLY",  "YEARLY"};
  for (int i = 0; i < 7; ++i)
    if (kNames[i] == name) return static_cast<Freq>(i);
  bad("FREQ is unknown");
}

struct Reading {
  Rule rule;
  bool has_freq = false;
  bool has_rscale = false, has_skip = false;
  std::vector<std::string> seen;

  void part(const std::string& name, std::string_view value) {
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) bad(name + " stands there twice");
    seen.push_back(name);
    if (seen.size() > 64) bad("it has too many parts");
    if (name == "FREQ") {
      rule.freq = freq_named(value);
      has_freq = true;
    } else if (name == "INTERVAL") {
      rule.interval = signed_value(value, name);
      if (rule.interval < 1) bad("INTERVAL is below 1");
      rule.interval = std::min(rule.interval, kIntervalMax);
    } else if (name == "COUNT") {
      rule.count = signed_value(value, name);
      if (*rule.count < 1) bad("COUNT is below 1");
      rule.count = std::min(*rule.count, kCountMax);
    } else if (name == "UNTIL") {
      rule.until = wire::parse_ical_time(value);
      if (!rule.until) bad("UNTIL is no date and no time");
    } else if (name == "WKST") {
      const auto day = weekday(value);
      if (!day) bad("WKST is no day");
      rule.week_start = *day;
    } else if (!by_part(name, value) && !rscale_part(name, value) && !name.starts_with("X-")) {
      bad("the part " + name.substr(0, 40) + " is unknown");
    }
  }

  bool by_part(const std::string& name, std::string_view value) {
    if (name == "BYSECOND") return rule.by_second = numbers(value, name, 0, 60, false), true;
    if (name == "BYMINUTE") return rule.by_minute = numbers(value, name, 0, 59, false), true;
    if (name == "BYHOUR") return rule.by_hour = numbers(value, name, 0, 23, false), true;
    if (name == "BYMONTHDAY") return rule.by_month_day = numbers(value, name, 1, 31, true), true;
    if (name == "BYYEARDAY") return rule.by_year_day = numbers(value, name, 1, 366, true), true;
    if (name == "BYWEEKNO") return rule.by_week_no = numbers(value, name, 1, 53, true), true;
    if (name == "BYMONTH") return rule.by_month = numbers(value, name, 1, 12, false), true;
    if (name == "BYSETPOS") return rule.by_set_pos = numbers(value, name, 1, 366, true), true;
    if (name == "BYDAY") return rule.by_day = nth_days(value), true;
    return false;
  }

  bool rscale_part(const std::string& name, std::string_view value) {
    if (name == "RSCALE") {
      if (value != "GREGORIAN")
        throw Fault{RuleFault::Kind::rscale, "RSCALE names a calendar other than GREGORIAN"};
      return has_rscale = true;
    }
    if (name == "SKIP") {
      if (value != "OMIT" && value != "BACKWARD" && value != "FORWARD") bad("SKIP is unknown");
      rule.skip = value == "BACKWARD" ? Skip::backward : value == "FORWARD" ? Skip::forward : Skip::omit;
      return has_skip = true;
    }
    return false;
  }

  Rule finish() {
    if (!has_freq) bad("FREQ is missing");
    if (has_skip && !has_rscale) bad("SKIP without RSCALE");
    // Ordinals mean something in months and years only (§3.3.10); elsewhere every such day is meant.
    if (rule.freq < Freq::monthly || !rule.by_week_no.empty())
      for (auto& day : rule.by_day) day.nth = 0;
    // A minute has no second 60 but when one is put in; then the next minute begins.
    std::erase_if(rule.by_second, [](int s) { return s > 59; });
    if (std::find(seen.begin(), seen.end(), "BYSECOND") != seen.end() && rule.by_second.empty())
      rule.by_second.push_back(59);
    return std::move(rule);
  }
};

}  // namespace

bool Rule::is_plain() const {
  return by_second.empty() && by_minute.empty() && by_hour.empty() && by_month_day.empty() &&
         by_year_day.empty() && by_week_no.empty() && by_month.empty() && by_set_pos.empty() &&
         by_day.empty();
}

bool Rule::has_a_day() const {
  if (by_month.empty() || by_month_day.empty()) return true;
  for (const int month : by_month)
    for (const int day : by_month_day)
      if (std::abs(day) <= wire::days_in_month(2024, month)) return true;
  return false;
}

std::variant<Rule, RuleFault> parse_rule(std::string_view value) {
  if (value.size() > 8192) return RuleFault{RuleFault::Kind::syntax, "it is too long"};
  try {
    Reading reading;
    for (const auto raw : text::split(value, ';')) {
      const auto part = text::trim(raw);
      if (part.empty()) continue;
      const auto equals = part.find('=');
      if (equals == std::string_view::npos) bad("a part has no '='");
      reading.part(upper(text::trim(part.substr(0, equals))), upper(text::trim(part.substr(equals + 1))));
    }
    return reading.finish();
  } catch (Fault& fault) {
    return RuleFault{fault.kind, std::move(fault.why)};
  }
}

}  // namespace welkin::calendars
