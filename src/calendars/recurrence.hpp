#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {

enum class Freq : std::uint8_t { secondly, minutely, hourly, daily, weekly, monthly, yearly };

/// What becomes of a day that its month does not have (RFC 7529 §4.1).
enum class Skip : std::uint8_t { omit, backward, forward };

struct NthDay {
  int nth = 0;      // 0: every one; negative: from the end
  int weekday = 0;  // 0 is Monday
};

/// RECUR (RFC 5545 §3.3.10). Lists are sorted and without doubles, in the range the standard gives them.
struct Rule {
  Freq freq = Freq::daily;
  std::int64_t interval = 1;
  std::optional<std::int64_t> count;
  std::optional<wire::IcalTime> until;
  std::vector<int> by_second, by_minute, by_hour, by_month_day, by_year_day, by_week_no, by_month, by_set_pos;
  std::vector<NthDay> by_day;
  int week_start = 0;  // 0 is Monday
  Skip skip = Skip::omit;

  /// No BY part: one instance a period, but for days that a month does not have.
  bool is_plain() const;
  /// Whether any day at all passes the BY parts that filter days.
  bool has_a_day() const;
};

/// Why a rule is not taken.
struct RuleFault {
  enum class Kind : std::uint8_t { syntax, rscale } kind;
  std::string why;
};

/// Reads untrusted text. Taken beyond the standard: any case, blanks around parts, a ";" at the end, unknown
/// X- parts, COUNT beside UNTIL (the first to be reached ends the series), ordinals in BYDAY where they mean
/// nothing (they are dropped).
std::variant<Rule, RuleFault> parse_rule(std::string_view value);

/// The instances of a rule, in order, in the local time of its DTSTART, which is always the first of them and
/// counts (RFC 5545 §3.8.5.3). Never takes more than about `steps_max` steps, each of a microsecond or less:
/// the days it looks at and the instants it puts together count too.
class RuleIterator {
 public:
  /// `rule` must outlive the iterator.
  RuleIterator(const Rule& rule, std::int64_t start_local, std::int64_t steps_max = 250'000);

  /// Passes over instances before `local`, in no time where that can be computed: not for COUNT with BY
  /// parts, or with months and years. Call before next().
  void skip_to(std::int64_t local);

  /// The next instance that is not behind `end_local`; nullopt: there is none, or the steps are used up.
  std::optional<std::int64_t> next(std::int64_t end_local);
  bool used_up() const { return steps_left_ <= 0; }

 private:
  void expand_period();
  std::int64_t period_start() const;
  void expand_days(std::int64_t first_day, std::int64_t day_count);
  void expand_month(std::int64_t year, int month);
  void expand_times();
  void step_sub_daily();
  bool day_passes(std::int64_t day);
  bool by_day_passes(std::int64_t day, std::int64_t year, int month, int month_day) const;

  const Rule& rule_;
  const std::int64_t start_;
  std::int64_t steps_left_;
  std::int64_t day_cost_ = 1, work_ = 0;  // in numbers compared, kWorkOfStep of which are a step
  std::int64_t period_ = 0;               // how many intervals behind the first period
  std::int64_t given_ = 0;                // instances so far, those passed over included
  std::int64_t not_before_;
  std::int64_t last_ = INT64_MIN;
  bool start_given_ = false;
  std::vector<int> hours_, minutes_, seconds_, month_days_, months_;
  std::vector<NthDay> week_days_;
  std::vector<std::int64_t> days_, set_;  // of the period: days, then instants, sorted
  std::size_t at_ = 0;
};

/// The last instance of a rule with COUNT; nullopt: endless for all that matters (behind the year 9999, or
/// too many steps away).
std::optional<std::int64_t> last_of_counted(const Rule& rule, std::int64_t start_local);

}  // namespace welkin::calendars
