#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

/// A change of a zone's offset.
struct Transition {
  std::int64_t utc;
  std::int64_t local_from;  // the local time from which it is read with `offset`; set by ZoneTable
  std::int64_t offset;      // from here on, seconds east of UTC
};

/// A zone as the list of its changes: finding the offset is one binary search, whoever told the rules.
struct ZoneTable {
  ZoneTable(std::string named, bool iana, std::int64_t first, std::vector<Transition> changes);

  std::int64_t to_utc(std::int64_t local_seconds) const;
  std::int64_t to_local(std::int64_t utc_seconds) const;

  std::string name;
  bool is_iana;
  std::int64_t first_offset;  // before the first change
  std::vector<Transition> transitions;
};

/// The changes that a VTIMEZONE describes, to the year 2200; nullptr: it has no usable observance.
std::shared_ptr<const ZoneTable> table_of(const wire::IcalComponent& vtimezone);

}  // namespace welkin::calendars
