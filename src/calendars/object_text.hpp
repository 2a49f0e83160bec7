#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/wire/ical.hpp"
#include "welkin/wire/ical_edit.hpp"

namespace welkin::calendars {

/// An object read, and its text as it is edited; components have the same places in both.
struct ObjectText {
  /// @throws Error as parse_ical
  explicit ObjectText(std::string_view data);

  /// The place of the component that speaks for the object. @throws Error forbidden `valid_calendar_data`
  std::size_t lead() const;
  std::size_t last() const;
  std::size_t place_of(const wire::IcalComponent& component) const;
  const wire::IcalComponent* component_of(std::size_t place) const { return components_[place]; }

  /// The VTIMEZONE that a time names, unless it is there.
  void add_zone(const wire::IcalProperty& time);
  /// Those that go off so many minutes before the start.
  void remove_alarms(std::size_t place);

  wire::IcalComponent calendar;
  wire::LineEditor editor;

 private:
  void list(const wire::IcalComponent& component);
  std::vector<const wire::IcalComponent*> components_;  // in the order of their BEGIN
  std::vector<std::string> added_zones_;
};

}  // namespace welkin::calendars
