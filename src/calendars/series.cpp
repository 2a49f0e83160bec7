#include "calendars/series.hpp"

#include <algorithm>
#include <set>

namespace welkin::calendars {
namespace {

constexpr std::size_t kRulesMax = 4;         // of a kind; more than one is rare and deprecated
constexpr std::int64_t kStepsMax = 250'000;  // of all rules of a component
constexpr std::size_t kDatesMax = 20'000;    // RDATE and EXDATE values of one component

std::int64_t day_of(std::int64_t local) {
  return (local >= 0 ? local : local - (wire::kDaySeconds - 1)) / wire::kDaySeconds;
}

/// For sums with the ends of std::int64_t, which stand for "open".
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

bool is_floating(const Stamp& stamp) { return !stamp.zone && !stamp.time.is_utc; }

/// The local time behind which a rule gives nothing, at most a day too late where UNTIL is UTC.
std::int64_t until_local(const Rule& rule, const Stamp& anchor) {
  if (!rule.until) return INT64_MAX;
  const auto& until = *rule.until;
  if (until.is_date && !anchor.time.is_date) return until.local_seconds + wire::kDaySeconds - 1;
  if (until.is_utc && anchor.zone) return anchor.zone->to_local(until.local_seconds) + wire::kDaySeconds;
  return until.local_seconds;
}

bool is_behind_until(const Rule& rule, const Stamp& anchor, std::int64_t utc) {
  return rule.until && rule.until->is_utc && anchor.zone && utc > rule.until->local_seconds;
}

std::int64_t local_of(const Clocks& clocks, const Stamp& like, std::int64_t utc) {
  if (utc == INT64_MIN || utc == INT64_MAX || like.time.is_utc) return utc;
  return (like.zone ? *like.zone : clocks.floating()).to_local(utc);
}

}  // namespace

void Series::Except::add(const Stamp& stamp, bool series_has_dates) {
  if (series_has_dates || stamp.time.is_date) {
    days.push_back(day_of(stamp.time.local_seconds));
  } else if (is_floating(stamp)) {
    locals.push_back(stamp.time.local_seconds);
  } else {
    instants.push_back(stamp.utc);
  }
}

void Series::Except::sort() {
  for (auto* list : {&instants, &locals, &days}) std::sort(list->begin(), list->end());
}

bool Series::Except::holds(const Stamp& stamp) const {
  return std::binary_search(instants.begin(), instants.end(), stamp.utc) ||
         std::binary_search(locals.begin(), locals.end(), stamp.time.local_seconds) ||
         std::binary_search(days.begin(), days.end(), day_of(stamp.time.local_seconds));
}

Series::Series(const wire::IcalComponent& calendar, const Zone& floating) : clocks_(calendar, floating) {
  for (const auto& component : calendar.components) {
    if (component.name == "VTIMEZONE" || component.name.starts_with("X-")) continue;
    if (component.property("RECURRENCE-ID")) {
      overrides_.push_back(place_of(component));
    } else {
      masters_.push_back(master_of(component));
    }
  }
  for (auto& master : masters_) {
    for (const auto& each : overrides_) {
      if (!master.recurs || !each.slot || each.component->name != master.place.component->name ||
          each.component->value("UID") != master.place.component->value("UID"))
        continue;
      master.except.add(*each.slot, master.place.anchor->time.is_date);
    }
    master.except.sort();
  }
}

Length Series::length_of(const wire::IcalComponent& component, const Stamp& anchor,
                         const std::optional<Stamp>& end) const {
  if (end) {
    if (anchor.time.is_date && end->time.is_date)
      return {std::max<std::int64_t>(0, day_of(end->time.local_seconds) - day_of(anchor.time.local_seconds)),
              0};
    return {0, std::max<std::int64_t>(0, end->utc - anchor.utc)};
  }
  if (const auto* property = component.property("DURATION"); property && component.name != "VJOURNAL") {
    const auto duration = wire::parse_ical_duration(property->value);
    if (duration && duration->days >= 0 && duration->seconds >= 0) return {duration->days, duration->seconds};
  }
  return {anchor.time.is_date && component.name != "VTODO" ? 1 : 0, 0};
}

Series::Place Series::place_of(const wire::IcalComponent& component) const {
  Place out{&component, {}, {}, {}, {}, {}};
  const bool is_todo = component.name == "VTODO";
  out.start = clocks_.stamp(component, "DTSTART");
  auto end =
      component.name == "VJOURNAL" ? std::nullopt : clocks_.stamp(component, is_todo ? "DUE" : "DTEND");
  out.slot = clocks_.stamp(component, "RECURRENCE-ID");
  out.anchor = out.start ? out.start : is_todo ? end : std::nullopt;
  if (!out.anchor) return out;
  if (out.start) out.length = length_of(component, *out.start, end);
  if (!is_todo || end || (out.start && component.property("DURATION"))) out.end = end_of(out, *out.anchor);
  return out;
}

Stamp Series::end_of(const Place& place, const Stamp& anchor) const {
  const auto& length = place.length;
  if (length.seconds == 0)
    return clocks_.at(anchor, anchor.time.local_seconds + length.days * wire::kDaySeconds);
  Stamp out = anchor;
  out.utc =
      clocks_.at(anchor, anchor.time.local_seconds + length.days * wire::kDaySeconds).utc + length.seconds;
  out.time.is_date = false;
  out.time.local_seconds = local_of(clocks_, out, out.utc);
  return out;
}

void Series::read_dates(Master& master, const wire::IcalProperty& property) const {
  for (const auto value : wire::ical_list(property.value)) {
    if (master.dates.size() + master.except.days.size() + master.except.locals.size() +
            master.except.instants.size() >=
        kDatesMax)
      return;
    const auto slash = value.find('/');
    auto at = clocks_.stamp(property, value.substr(0, slash));
    if (!at) continue;
    const bool series_has_dates = master.place.anchor->time.is_date;
    if (property.name == "EXDATE") {
      master.except.add(*at, series_has_dates);
      continue;
    }
    Occurrence out{master.place.component, at, end_of(master.place, *at), at};
    if (const auto period = wire::parse_ical_period(value)) {
      out.has_own_end = true;
      if (period->end) {
        if (auto end = clocks_.stamp(property, value.substr(slash + 1)); end && end->utc >= at->utc)
          out.end = end;
      } else {
        Place one = master.place;
        one.length = {period->duration.days, period->duration.seconds};
        out.end = end_of(one, *at);
      }
    }
    master.dates.push_back(std::move(out));
  }
}

Series::Master Series::master_of(const wire::IcalComponent& component) const {
  Master out{place_of(component), {}, {}, {}, {}, false};
  if (!out.place.anchor) return out;
  for (const auto& property : component.properties) {
    if (property.name == "RRULE" || property.name == "EXRULE") {
      auto read = parse_rule(property.value);
      auto& rules = property.name == "RRULE" ? out.rules : out.exrules;
      if (auto* rule = std::get_if<Rule>(&read); rule && rules.size() < kRulesMax)
        rules.push_back(std::move(*rule));
    } else if (property.name == "RDATE" || property.name == "EXDATE") {
      read_dates(out, property);
    }
  }
  out.recurs = !out.rules.empty() || !out.dates.empty();
  const auto earlier = [](const Occurrence& a, const Occurrence& b) { return a.start->utc < b.start->utc; };
  std::sort(out.dates.begin(), out.dates.end(), earlier);
  out.dates.erase(std::unique(out.dates.begin(), out.dates.end(),
                              [](const auto& a, const auto& b) { return a.start->utc == b.start->utc; }),
                  out.dates.end());
  return out;
}

Occurrence Series::occurrence_at(const Master& master, std::int64_t local) const {
  const auto& place = master.place;
  const Stamp anchor = clocks_.at(*place.anchor, local);
  Occurrence out{place.component, {}, {}, {}};
  if (place.start) out.start = anchor;
  if (place.end) out.end = place.start ? end_of(place, anchor) : anchor;
  if (master.recurs) out.slot = anchor;
  return out;
}

std::optional<Occurrence> Series::original_of(const Occurrence& override_) const {
  if (!override_.slot) return std::nullopt;
  Occurrence out{override_.component, override_.slot, override_.slot, override_.slot};
  for (const auto& master : masters_)
    if (master.place.anchor && master.place.component->name == override_.component->name &&
        master.place.component->value("UID") == override_.component->value("UID"))
      out.end = end_of(master.place, *override_.slot);
  return out;
}

bool Series::recurs() const {
  return !overrides_.empty() ||
         std::any_of(masters_.begin(), masters_.end(), [](const auto& m) { return m.recurs; });
}

Walk Series::walk_rule(const Master& master, const Rule& rule, bool first_rule, std::int64_t first,
                       std::int64_t last, std::size_t& left,
                       const std::function<bool(const Occurrence&)>& visit) const {
  const auto& anchor = *master.place.anchor;
  const auto& length = master.place.length;
  const std::int64_t whole = length.days * wire::kDaySeconds + length.seconds;
  // A clock may be put back: by an hour or two, which is what the slack is for.
  constexpr std::int64_t kSlack = 3 * 3600;
  const std::int64_t from = plus(local_of(clocks_, anchor, plus(first, -whole)), -kSlack);
  const std::int64_t to = std::min(plus(local_of(clocks_, anchor, last), kSlack), until_local(rule, anchor));
  const auto steps = kStepsMax / static_cast<std::int64_t>(master.rules.size() + master.exrules.size());
  std::vector<std::int64_t> out_of_rules;
  for (const auto& exrule : master.exrules) {
    RuleIterator each(exrule, anchor.time.local_seconds, steps);
    each.skip_to(from);
    while (const auto local = each.next(std::min(to, until_local(exrule, anchor)))) {
      if (out_of_rules.size() >= kDatesMax) return Walk::used_up;
      out_of_rules.push_back(*local);
    }
  }
  std::sort(out_of_rules.begin(), out_of_rules.end());
  RuleIterator each(rule, anchor.time.local_seconds, steps);
  each.skip_to(from);
  std::int64_t before = INT64_MIN;
  while (const auto local = each.next(to)) {
    const Stamp at = clocks_.at(anchor, *local);
    if (at.utc == before || at.utc > last || plus(at.utc, whole + kSlack) < first) continue;
    if (plus(at.utc, whole - kSlack) < first && end_of(master.place, at).utc < first) continue;
    before = at.utc;
    if (is_behind_until(rule, anchor, at.utc) && *local != anchor.time.local_seconds) break;
    if (!first_rule && *local == anchor.time.local_seconds) continue;
    if (std::binary_search(out_of_rules.begin(), out_of_rules.end(), *local) || master.except.holds(at))
      continue;
    if (std::binary_search(master.dates.begin(), master.dates.end(), Occurrence{nullptr, at, {}, {}},
                           [](const auto& a, const auto& b) { return a.start->utc < b.start->utc; }))
      continue;
    if (left-- == 0) return left = 0, Walk::used_up;
    if (!visit(occurrence_at(master, *local))) return Walk::stopped;
  }
  return each.used_up() ? Walk::used_up : Walk::complete;
}

Walk Series::walk_master(const Master& master, std::int64_t first, std::int64_t last, std::size_t& left,
                         const std::function<bool(const Occurrence&)>& visit) const {
  const auto& place = master.place;
  if (!place.anchor) return visit({place.component, {}, {}, {}}) ? Walk::complete : Walk::stopped;
  bool has_start = !master.rules.empty();
  for (const auto& date : master.dates) {
    has_start = has_start || date.start->utc == place.anchor->utc;
    if (master.except.holds(*date.start) || date.end->utc < first || date.start->utc > last) continue;
    if (left-- == 0) return left = 0, Walk::used_up;
    if (!visit(date)) return Walk::stopped;
  }
  if (!has_start && !(master.recurs && master.except.holds(*place.anchor)) &&
      !visit(occurrence_at(master, place.anchor->time.local_seconds)))
    return Walk::stopped;
  std::set<std::int64_t> seen;
  const bool several = master.rules.size() > 1;
  const auto once = [&](const Occurrence& each) {
    return !seen.insert(each.slot->utc).second || visit(each);
  };
  for (std::size_t i = 0; i < master.rules.size(); ++i) {
    const auto walked = several ? walk_rule(master, master.rules[i], i == 0, first, last, left, once)
                                : walk_rule(master, master.rules[i], i == 0, first, last, left, visit);
    if (walked != Walk::complete) return walked;
  }
  return Walk::complete;
}

Walk Series::walk(std::int64_t first, std::int64_t last, std::size_t instances_max,
                  const std::function<bool(const Occurrence&)>& visit) const {
  for (const auto& each : overrides_)
    if (!visit({each.component, each.start, each.end, each.slot, true})) return Walk::stopped;
  std::size_t left = instances_max;
  for (const auto& master : masters_)
    if (const auto walked = walk_master(master, first, last, left, visit); walked != Walk::complete)
      return walked;
  return Walk::complete;
}

std::int64_t Series::last_end(const Master& master) const {
  const auto& place = master.place;
  std::int64_t last = place.end ? std::max(place.end->utc, place.anchor->utc) : place.anchor->utc;
  const auto end_at = [&](std::int64_t local) { return end_of(place, clocks_.at(*place.anchor, local)).utc; };
  for (const auto& rule : master.rules) {
    std::optional<std::int64_t> local;
    if (rule.count) local = last_of_counted(rule, place.anchor->time.local_seconds);
    if (rule.until) local = std::min(until_local(rule, *place.anchor), local.value_or(INT64_MAX));
    if (!local) return INT64_MAX;
    last = std::max(last, end_at(*local));
  }
  for (const auto& date : master.dates) last = std::max(last, date.end->utc);
  return last;
}

std::optional<Series::Bounds> Series::bounds() const {
  std::optional<Bounds> out;
  const auto add = [&](std::int64_t first, std::int64_t last, bool floating) {
    if (!out) out = Bounds{first, last, false};
    out->first = std::min(out->first, first);
    out->last = std::max(out->last, last);
    out->has_floating = out->has_floating || floating;
  };
  for (const auto& master : masters_) {
    if (!master.place.anchor) continue;
    add(master.place.anchor->utc, last_end(master), is_floating(*master.place.anchor));
    for (const auto& date : master.dates) add(date.start->utc, date.end->utc, is_floating(*date.start));
  }
  for (const auto& each : overrides_)
    if (each.anchor)
      add(each.anchor->utc, each.end ? std::max(each.end->utc, each.anchor->utc) : each.anchor->utc,
          is_floating(*each.anchor));
  return out;
}

}  // namespace welkin::calendars
