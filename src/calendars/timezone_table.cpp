#include "calendars/timezone_table.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "calendars/recurrence.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {
namespace {

constexpr std::int64_t kLast = wire::days_from_civil(2200, 1, 1) * wire::kDaySeconds;
constexpr std::int64_t kFirstOfRules = wire::days_from_civil(1900, 1, 1) * wire::kDaySeconds;
constexpr std::size_t kChangesMax = 4000;
constexpr int kRulesMax = 20;              // nobody's law changed more often since rules are written down
constexpr std::int64_t kStepsMax = 2'000;  // of a rule: twice what three hundred years take

/// The onsets of a STANDARD or DAYLIGHT; local times of theirs are told in the offset before them.
void append_onsets(std::vector<Transition>& out, const wire::IcalComponent& observance, std::int64_t from,
                   std::int64_t to, int& rules) {
  const auto start = wire::parse_ical_time(observance.value("DTSTART"));
  if (!start) return;
  const auto add = [&](std::int64_t local) {
    if (out.size() < kChangesMax) out.push_back({local - from, 0, to});
  };
  bool has_rule = false;
  for (const auto& property : observance.properties) {
    if (property.name == "RDATE") {
      for (const auto value : wire::ical_list(property.value))
        if (const auto time = wire::parse_ical_time(value.substr(0, value.find('/'))))
          add(time->local_seconds);
    } else if (property.name == "RRULE") {
      const auto read = parse_rule(property.value);
      const auto* rule = std::get_if<Rule>(&read);
      if (!rule || rule->freq < Freq::daily || ++rules > kRulesMax) continue;
      has_rule = true;
      std::int64_t end = kLast;
      if (rule->until) end = std::min(end, rule->until->local_seconds + (rule->until->is_utc ? from : 0));
      add(start->local_seconds);
      RuleIterator each(*rule, start->local_seconds, kStepsMax);
      each.skip_to(kFirstOfRules);
      while (const auto local = each.next(end))
        if (*local != start->local_seconds) add(*local);
    }
  }
  if (!has_rule) add(start->local_seconds);
}

}  // namespace

ZoneTable::ZoneTable(std::string named, bool iana, std::int64_t first, std::vector<Transition> changes)
    : name(std::move(named)), is_iana(iana), first_offset(first), transitions(std::move(changes)) {
  std::int64_t before = first_offset, from = INT64_MIN;
  for (auto& each : transitions) {
    // In a gap and in a repeated hour alike, the offset before the change is the one to be used (§3.3.5).
    from = std::max(from, each.utc + std::max(before, each.offset));
    each.local_from = from;
    before = each.offset;
  }
}

std::int64_t ZoneTable::to_utc(std::int64_t local_seconds) const {
  const auto behind =
      std::upper_bound(transitions.begin(), transitions.end(), local_seconds,
                       [](std::int64_t at, const Transition& t) { return at < t.local_from; });
  return local_seconds - (behind == transitions.begin() ? first_offset : (behind - 1)->offset);
}

std::int64_t ZoneTable::to_local(std::int64_t utc_seconds) const {
  const auto behind = std::upper_bound(transitions.begin(), transitions.end(), utc_seconds,
                                       [](std::int64_t at, const Transition& t) { return at < t.utc; });
  return utc_seconds + (behind == transitions.begin() ? first_offset : (behind - 1)->offset);
}

std::shared_ptr<const ZoneTable> table_of(const wire::IcalComponent& vtimezone) {
  std::vector<Transition> changes;
  std::optional<std::pair<std::int64_t, std::int64_t>> earliest;  // when, and the offset before it
  int rules = 0;
  for (const auto& observance : vtimezone.components) {
    if (observance.name != "STANDARD" && observance.name != "DAYLIGHT") continue;
    const auto to = wire::parse_ical_offset(observance.value("TZOFFSETTO"));
    auto from = wire::parse_ical_offset(observance.value("TZOFFSETFROM"));
    if (!to) continue;
    if (!from) from = to;
    const std::size_t had = changes.size();
    append_onsets(changes, observance, *from, *to, rules);
    for (std::size_t i = had; i < changes.size(); ++i)
      if (!earliest || changes[i].utc < earliest->first) earliest.emplace(changes[i].utc, *from);
  }
  if (!earliest) return nullptr;
  std::sort(changes.begin(), changes.end(), [](auto& a, auto& b) { return a.utc < b.utc; });
  return std::make_shared<const ZoneTable>(vtimezone.text("TZID"), false, earliest->second,
                                           std::move(changes));
}

}  // namespace welkin::calendars
