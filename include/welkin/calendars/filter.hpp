#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/calendars/timezone.hpp"
#include "welkin/core/collation.hpp"
#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

/// C:time-range (RFC 4791 §9.9): UTC seconds, the end not in it; the ends of std::int64_t are open.
struct TimeRange {
  std::int64_t start = INT64_MIN;
  std::int64_t end = INT64_MAX;
};

/// C:text-match (§9.7.5): a substring. Default collation of the element: i;ascii-casemap.
struct TextMatch {
  text::Matcher wanted;
  bool negate = false;  // of one value, not "no value"
};

/// C:param-filter (§9.7.3): exists, does not, or has a value that matches.
struct ParamFilter {
  std::string name;  // upper case
  bool is_not_defined = false;
  std::optional<TextMatch> match{};
};

/// C:prop-filter (§9.7.2): one property of the name passes all children, or with `any_of` one of them
/// (`test="anyof"`, an extension); none at all: it exists.
struct PropFilter {
  std::string name;  // upper case
  bool is_not_defined = false;
  bool any_of = false;
  std::optional<TimeRange> range{};
  std::vector<TextMatch> matches{};
  std::vector<ParamFilter> parameters{};
};

/// C:comp-filter (§9.7.1): one component of the name passes all children, or with `any_of` one of them. The
/// outermost one is for VCALENDAR.
struct CompFilter {
  std::string name;  // upper case
  bool is_not_defined = false;
  bool any_of = false;
  std::optional<TimeRange> range{};
  std::vector<PropFilter> properties{};
  std::vector<CompFilter> components{};
};

/// Whether the elements may stand as they do (RFC 4791 §7.8, §9.7): VCALENDAR outermost and only there,
/// ranges where there is time, alarms in events and to-dos, nothing beside is-not-defined, no range that ends
/// where it starts.
/// @throws Error forbidden `valid_filter`
void check_filter(const CompFilter& filter);

/// Whether an object passes. Times without a zone are read in `floating`: the zone of the request, else of
/// the calendar, else UTC. Every instance of a recurrence counts, and an override in place of the one it
/// stands for.
///
/// Never takes more than some thousand instances; a series that needs more is let pass, for a client rather
/// sees too much than misses something.
bool passes(const CompFilter& filter, const wire::IcalComponent& calendar, const Zone& floating);

/// What an index can narrow by: a superset of what passes.
struct FilterBounds {
  int kinds = ~0;  // bits of Kind; 0: nothing passes
  TimeRange range;
};
FilterBounds bounds_of(const CompFilter& filter);

}  // namespace welkin::calendars
