#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calendars/recurrence.hpp"
#include "welkin/calendars/timezone.hpp"
#include "welkin/wire/ical.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {

/// A time of a component, with the clock it is told by.
struct Stamp {
  wire::IcalTime time;         // as written
  const Zone* zone = nullptr;  // nullptr: UTC, when time.is_utc; else floating
  std::int64_t utc = 0;        // floating times and dates by the clock that was given for them
};

/// The clocks of an object: its zones by their TZID, and the one for floating times.
class Clocks {
 public:
  Clocks(const wire::IcalComponent& calendar, const Zone& floating);
  Clocks(const Clocks&) = delete;
  Clocks& operator=(const Clocks&) = delete;

  /// `value` as a DATE or DATE-TIME of `property`. nullopt: it is neither.
  std::optional<Stamp> stamp(const wire::IcalProperty& property, std::string_view value) const;
  /// The value of the first such property. nullopt: there is none, or it cannot be read.
  std::optional<Stamp> stamp(const wire::IcalComponent& component, std::string_view called) const;
  /// Another time by the same clock.
  Stamp at(const Stamp& like, std::int64_t local_seconds) const;
  const Zone& floating() const { return floating_; }

 private:
  const Zone* zone_of(const std::string& tzid) const;

  const wire::IcalComponent& calendar_;
  Zone floating_;
  mutable std::map<std::string, std::optional<Zone>, std::less<>> zones_;
  mutable int described_ = 0;
};

/// How long a component takes: exact, or so many days by its clock and then exact (RFC 5545 §3.8.5.3).
struct Length {
  std::int64_t days = 0, seconds = 0;
};

/// One instance of a component.
struct Occurrence {
  const wire::IcalComponent* component = nullptr;
  std::optional<Stamp> start;  // DTSTART; with to-dos also none
  std::optional<Stamp> end;    // DTEND, DUE or start + DURATION, or what stands for them
  std::optional<Stamp> slot;   // RECURRENCE-ID: where the series has it; none without a series
  bool is_override = false;
  bool has_own_end = false;  // a PERIOD of RDATE says the end
};

/// Whether the walk came to its end.
enum class Walk : std::uint8_t { complete, stopped, used_up };

/// The components of one object of one kind and UID, and their instances (RFC 5545 §3.8.5, RFC 4791 §9.9).
/// Refers into the calendar, which must outlive it.
class Series {
 public:
  Series(const wire::IcalComponent& calendar, const Zone& floating);

  /// Calls `visit` for every instance that could overlap [first, last): all that do, and some more; in no
  /// order. Stops when it returns false, or after `instances_max`.
  Walk walk(std::int64_t first, std::int64_t last, std::size_t instances_max,
            const std::function<bool(const Occurrence&)>& visit) const;

  /// From the first start to the last end of all instances, by the clocks; INT64_MAX: without end. nullopt:
  /// no component has a time.
  struct Bounds {
    std::int64_t first, last;
    bool has_floating;
  };
  std::optional<Bounds> bounds() const;

  bool recurs() const;
  /// The instance that an override stands for, as its series has it. nullopt: it says of none.
  std::optional<Occurrence> original_of(const Occurrence& override_) const;
  const Clocks& clocks() const { return clocks_; }

 private:
  /// Where a component stands in time.
  struct Place {
    const wire::IcalComponent* component;
    std::optional<Stamp> start, end, slot;  // as in Occurrence
    std::optional<Stamp> anchor;            // what recurs: the start, else DUE
    Length length;                          // from the anchor to the end
  };
  /// Instants that are taken out of a series, by what their values say.
  struct Except {
    std::vector<std::int64_t> instants, locals, days;
    void add(const Stamp& stamp, bool series_has_dates);
    void sort();
    bool holds(const Stamp& stamp) const;
  };
  struct Master {
    Place place;
    std::vector<Rule> rules, exrules;
    std::vector<Occurrence> dates;  // RDATE, each once, sorted by start
    Except except;
    bool recurs = false;
  };

  Place place_of(const wire::IcalComponent& component) const;
  Length length_of(const wire::IcalComponent& component, const Stamp& anchor,
                   const std::optional<Stamp>& end) const;
  Master master_of(const wire::IcalComponent& component) const;
  void read_dates(Master& master, const wire::IcalProperty& property) const;
  Stamp end_of(const Place& place, const Stamp& anchor) const;
  Occurrence occurrence_at(const Master& master, std::int64_t local) const;
  Walk walk_master(const Master& master, std::int64_t first, std::int64_t last, std::size_t& left,
                   const std::function<bool(const Occurrence&)>& visit) const;
  Walk walk_rule(const Master& master, const Rule& rule, bool first_rule, std::int64_t first,
                 std::int64_t last, std::size_t& left,
                 const std::function<bool(const Occurrence&)>& visit) const;
  std::int64_t last_end(const Master& master) const;

  Clocks clocks_;
  std::vector<Master> masters_;
  std::vector<Place> overrides_;
};

}  // namespace welkin::calendars
