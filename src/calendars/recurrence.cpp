#include "calendars/recurrence.hpp"

#include <algorithm>

namespace welkin::calendars {
namespace {

using wire::civil_from_days;
using wire::days_from_civil;
using wire::days_in_month;
using wire::is_leap_year;
using wire::kDaySeconds;

constexpr std::int64_t kYearMax = 9999;
constexpr std::int64_t kWorkOfStep = 256;
constexpr std::int64_t kLocalMax = days_from_civil(kYearMax, 12, 31) * kDaySeconds + kDaySeconds - 1;

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/// 0 is Monday; 1970-01-01 was a Thursday.
int weekday_of(std::int64_t day) { return static_cast<int>(((day + 3) % 7 + 7) % 7); }

bool holds(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

struct Week {
  int number, of;  // `of`: how many its year has
};

/// ISO 8601 weeks, but beginning on `week_start`: the first has at least four days of the year.
Week week_of(std::int64_t day, int week_start) {
  const auto first_week = [&](std::int64_t year) {
    const std::int64_t january_1 = days_from_civil(year, 1, 1);
    const int into = (weekday_of(january_1) - week_start + 7) % 7;
    return january_1 - into + (into > 3 ? 7 : 0);
  };
  std::int64_t year = civil_from_days(day).year;
  std::int64_t first = first_week(year);
  if (day < first) first = first_week(--year);
  std::int64_t next = first_week(year + 1);
  if (day >= next) {
    first = next;
    next = first_week(year + 2);
  }
  return {static_cast<int>((day - first) / 7) + 1, static_cast<int>((next - first) / 7)};
}

std::int64_t unit_seconds(Freq freq) {
  switch (freq) {
    case Freq::secondly:
      return 1;
    case Freq::minutely:
      return 60;
    case Freq::hourly:
      return 3600;
    case Freq::weekly:
      return 7 * kDaySeconds;
    default:
      return kDaySeconds;
  }
}

}  // namespace

RuleIterator::RuleIterator(const Rule& rule, std::int64_t start_local, std::int64_t steps_max)
    : rule_(rule), start_(start_local), steps_left_(steps_max), not_before_(start_local) {
  const std::int64_t day = floor_div(start_, kDaySeconds);
  const auto second = static_cast<int>(start_ - day * kDaySeconds);
  const auto [year, month, month_day] = civil_from_days(day);
  const auto or_own = [](const std::vector<int>& list, int own) {
    return list.empty() ? std::vector<int>{own} : list;
  };
  hours_ = or_own(rule.by_hour, second / 3600);
  minutes_ = or_own(rule.by_minute, second / 60 % 60);
  seconds_ = or_own(rule.by_second, second % 60);
  months_ = rule.by_month;
  month_days_ = rule.by_month_day;
  week_days_ = rule.by_day;
  day_cost_ += static_cast<std::int64_t>(rule.by_month.size() + 2 * rule.by_month_day.size() +
                                         2 * rule.by_year_day.size() + 2 * rule.by_week_no.size() +
                                         rule.by_day.size());
  // What the rule does not say of the day is said by DTSTART (§3.3.10).
  if (rule.by_day.empty()) {
    const bool no_day = rule.by_month_day.empty() && rule.by_year_day.empty();
    if (rule.freq == Freq::weekly || (rule.freq == Freq::yearly && no_day && !rule.by_week_no.empty())) {
      week_days_ = {{0, weekday_of(day)}};
    } else if (rule.freq == Freq::monthly && no_day) {
      month_days_ = {month_day};
    } else if (rule.freq == Freq::yearly && no_day) {
      month_days_ = {month_day};
      if (months_.empty()) months_ = {month};
    }
  }
}

/// Of the period before BY parts: its first second. INT64_MAX: behind all that can be said.
std::int64_t RuleIterator::period_start() const {
  const std::int64_t day = floor_div(start_, kDaySeconds);
  const std::int64_t offset = period_ * rule_.interval;  // both below 2^31
  switch (rule_.freq) {
    case Freq::yearly: {
      const std::int64_t year = civil_from_days(day).year + offset;
      return year > kYearMax ? INT64_MAX : days_from_civil(year, 1, 1) * kDaySeconds;
    }
    case Freq::monthly: {
      const auto civil = civil_from_days(day);
      const std::int64_t month = civil.year * 12 + civil.month - 1 + offset;
      return month / 12 > kYearMax
                 ? INT64_MAX
                 : days_from_civil(month / 12, static_cast<int>(month % 12) + 1, 1) * kDaySeconds;
    }
    default: {
      std::int64_t first = start_;
      if (rule_.freq == Freq::weekly)
        first = (day - (weekday_of(day) - rule_.week_start + 7) % 7) * kDaySeconds;
      else if (rule_.freq == Freq::daily)
        first = day * kDaySeconds;
      else
        first = floor_div(start_, unit_seconds(rule_.freq)) * unit_seconds(rule_.freq);
      const std::int64_t unit = unit_seconds(rule_.freq);
      if (offset > (kLocalMax - first) / unit) return INT64_MAX;
      return first + offset * unit;
    }
  }
}

void RuleIterator::skip_to(std::int64_t local) {
  if (local <= start_) return;
  local = std::min(local, kLocalMax);
  const bool one_each = rule_.is_plain() && rule_.freq <= Freq::weekly;
  if (rule_.count && !one_each) {
    not_before_ = local;  // they must be counted
    return;
  }
  const std::int64_t day = floor_div(start_, kDaySeconds), to_day = floor_div(local, kDaySeconds);
  std::int64_t units;
  if (rule_.freq == Freq::yearly) {
    units = civil_from_days(to_day).year - civil_from_days(day).year;
  } else if (rule_.freq == Freq::monthly) {
    const auto from = civil_from_days(day), to = civil_from_days(to_day);
    units = (to.year - from.year) * 12 + to.month - from.month;
  } else {
    units = (local - period_start()) / unit_seconds(rule_.freq);
  }
  // One period more: what SKIP=FORWARD moves into the wanted one began before it.
  period_ = std::max<std::int64_t>(0, units / rule_.interval - 1);
  not_before_ = local;
  if (period_ == 0) return;
  start_given_ = true;
  given_ = one_each ? period_ : 1;
}

bool RuleIterator::by_day_passes(std::int64_t day, std::int64_t year, int month, int month_day) const {
  if (week_days_.empty()) return true;
  const int weekday = weekday_of(day);
  for (const auto& wanted : week_days_) {
    if (wanted.weekday != weekday) continue;
    if (wanted.nth == 0) return true;
    const bool in_month = rule_.freq == Freq::monthly || !rule_.by_month.empty();
    const auto into = in_month ? month_day - 1 : static_cast<int>(day - days_from_civil(year, 1, 1));
    const int all = in_month ? days_in_month(year, month) : 365 + is_leap_year(year);
    if (wanted.nth > 0 ? into / 7 + 1 == wanted.nth : (all - 1 - into) / 7 + 1 == -wanted.nth) return true;
  }
  return false;
}

bool RuleIterator::day_passes(std::int64_t day) {
  work_ += day_cost_;
  const auto [year, month, month_day] = civil_from_days(day);
  if (!months_.empty() && !holds(months_, month)) return false;
  if (!month_days_.empty() && !holds(month_days_, month_day) &&
      !holds(month_days_, month_day - days_in_month(year, month) - 1))
    return false;
  if (!rule_.by_year_day.empty()) {
    const auto into = static_cast<int>(day - days_from_civil(year, 1, 1)) + 1;
    if (!holds(rule_.by_year_day, into) && !holds(rule_.by_year_day, into - 366 - is_leap_year(year)))
      return false;
  }
  if (!rule_.by_week_no.empty()) {
    const auto week = week_of(day, rule_.week_start);
    if (!holds(rule_.by_week_no, week.number) && !holds(rule_.by_week_no, week.number - week.of - 1))
      return false;
  }
  return by_day_passes(day, year, month, month_day);
}

void RuleIterator::expand_days(std::int64_t first_day, std::int64_t day_count) {
  for (std::int64_t day = first_day; day < first_day + day_count; ++day)
    if (day_passes(day)) days_.push_back(day);
}

void RuleIterator::expand_month(std::int64_t year, int month) {
  if (!months_.empty() && !holds(months_, month)) return;
  const std::int64_t first = days_from_civil(year, month, 1);
  const int count = days_in_month(year, month);
  if (month_days_.empty()) return expand_days(first, count);
  for (const int wanted : month_days_) {
    const int month_day = wanted > 0 ? wanted : count + 1 + wanted;
    if (month_day >= 1 && month_day <= count) {
      if (day_passes(first + month_day - 1)) days_.push_back(first + month_day - 1);
    } else if (rule_.skip != Skip::omit && wanted > 0) {
      days_.push_back(rule_.skip == Skip::backward ? first + count - 1 : first + count);
    }
  }
}

/// From the days of the period to its instants, sorted, BYSETPOS applied.
void RuleIterator::expand_times() {
  std::sort(days_.begin(), days_.end());
  days_.erase(std::unique(days_.begin(), days_.end()), days_.end());
  // "Every second of the year" is legal, and a quarter of a gigabyte.
  const auto instants =
      static_cast<std::int64_t>(days_.size() * hours_.size() * minutes_.size() * seconds_.size());
  work_ += 16 * instants;
  if (work_ / kWorkOfStep >= steps_left_) return;  // expand_period ends it
  for (const auto day : days_)
    for (const int hour : hours_)
      for (const int minute : minutes_)
        for (const int second : seconds_)
          set_.push_back(day * kDaySeconds + hour * 3600 + minute * 60 + second);
}

/// A period of seconds, minutes or hours; where its day, hour or minute does not pass, on to the next that
/// may.
void RuleIterator::step_sub_daily() {
  const std::int64_t at = period_start();
  const std::int64_t unit = unit_seconds(rule_.freq) * rule_.interval;
  const std::int64_t day = floor_div(at, kDaySeconds);
  const auto second = static_cast<int>(at - day * kDaySeconds);
  const auto go_on_at = [&](std::int64_t next) {
    period_ += std::max<std::int64_t>(1, (next - at + unit - 1) / unit);
  };
  if (!day_passes(day)) return go_on_at((day + 1) * kDaySeconds);
  if (!rule_.by_hour.empty() && !holds(hours_, second / 3600))
    return go_on_at(floor_div(at, 3600) * 3600 + 3600);
  if (rule_.freq < Freq::hourly && !rule_.by_minute.empty() && !holds(minutes_, second / 60 % 60))
    return go_on_at(floor_div(at, 60) * 60 + 60);
  if (rule_.freq == Freq::secondly && !rule_.by_second.empty() && !holds(seconds_, second % 60))
    return go_on_at(at + 1);
  if (rule_.freq == Freq::secondly) {
    set_.push_back(at);
  } else if (rule_.freq == Freq::minutely) {
    for (const int s : seconds_) set_.push_back(at + s);
  } else {
    for (const int m : minutes_)
      for (const int s : seconds_) set_.push_back(at + m * 60 + s);
  }
  ++period_;
}

void RuleIterator::expand_period() {
  set_.clear();
  days_.clear();
  at_ = 0;
  if (rule_.freq < Freq::daily) {
    step_sub_daily();
  } else {
    const std::int64_t day = floor_div(period_start(), kDaySeconds);
    const auto [year, month, month_day] = civil_from_days(day);
    if (rule_.freq == Freq::daily) {
      expand_days(day, 1);
    } else if (rule_.freq == Freq::weekly) {
      expand_days(day, 7);
    } else if (rule_.freq == Freq::monthly) {
      expand_month(year, month);
    } else {
      for (int each = 1; each <= 12; ++each) expand_month(year, each);
    }
    expand_times();
    ++period_;
  }
  work_ += 4 * static_cast<std::int64_t>(set_.size());
  steps_left_ -= work_ / kWorkOfStep;
  work_ %= kWorkOfStep;
  if (rule_.by_set_pos.empty()) return;
  std::vector<std::int64_t> chosen;
  const auto size = static_cast<std::int64_t>(set_.size());
  for (const int position : rule_.by_set_pos) {
    const std::int64_t index = position > 0 ? position - 1 : size + position;
    if (index >= 0 && index < size) chosen.push_back(set_[static_cast<std::size_t>(index)]);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  set_.swap(chosen);
}

std::optional<std::int64_t> RuleIterator::next(std::int64_t end_local) {
  end_local = std::min(end_local, kLocalMax);
  if (rule_.count && given_ >= *rule_.count) return std::nullopt;
  if (!start_given_) {
    start_given_ = true;
    ++given_;
    last_ = start_;
    if (start_ > end_local) return std::nullopt;
    if (start_ >= not_before_) return start_;
  }
  while (true) {
    while (at_ < set_.size()) {
      const std::int64_t found = set_[at_];
      if (found > end_local || (rule_.count && given_ >= *rule_.count)) return std::nullopt;
      ++at_;
      if (found <= start_ || found <= last_) continue;
      last_ = found;
      ++given_;
      if (--steps_left_ <= 0) return std::nullopt;
      if (found >= not_before_) return found;
    }
    if (--steps_left_ <= 0) return std::nullopt;
    if (period_start() > end_local) return std::nullopt;
    expand_period();
  }
}

std::optional<std::int64_t> last_of_counted(const Rule& rule, std::int64_t start_local) {
  if (rule.is_plain() && rule.freq <= Freq::weekly) {
    const std::int64_t unit = unit_seconds(rule.freq) * rule.interval;
    if (*rule.count - 1 > (kLocalMax - start_local) / unit) return std::nullopt;
    return start_local + (*rule.count - 1) * unit;
  }
  RuleIterator each(rule, start_local, 50'000);
  std::optional<std::int64_t> last;
  while (const auto found = each.next(kLocalMax)) last = *found;
  return each.used_up() ? std::nullopt : last;
}

}  // namespace welkin::calendars
