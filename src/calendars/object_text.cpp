#include "calendars/object_text.hpp"

#include <algorithm>

#include "calendars/lead.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/calendars/timezone.hpp"
#include "welkin/core/error.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {

ObjectText::ObjectText(std::string_view data) : calendar(wire::parse_ical(data)), editor(data) {
  list(calendar);
}

void ObjectText::list(const wire::IcalComponent& component) {
  components_.push_back(&component);
  for (const auto& below : component.components) list(below);
}

std::size_t ObjectText::place_of(const wire::IcalComponent& component) const {
  return static_cast<std::size_t>(std::find(components_.begin(), components_.end(), &component) -
                                  components_.begin());
}

std::size_t ObjectText::lead() const {
  const auto* found = lead_of(calendar);
  if (found == nullptr)
    throw Error(Errc::forbidden, "valid_calendar_data",
                "There is no event, no to-do and no journal entry in it");
  return place_of(*found);
}

std::size_t ObjectText::last() const { return place_of(calendar.components.back()); }

void ObjectText::add_zone(const wire::IcalProperty& time) {
  const auto tzid = time.parameter_value("TZID");
  if (tzid.empty()) return;
  if (std::find(added_zones_.begin(), added_zones_.end(), tzid) != added_zones_.end()) return;
  for (const auto& component : calendar.components)
    if (component.name == "VTIMEZONE" && component.text("TZID") == tzid) return;
  const auto parsed = wire::parse_ical_time(time.value);
  const auto made =
      parsed ? vtimezone_of(tzid, parsed->local_seconds - 366 * wire::kDaySeconds) : std::nullopt;
  if (!made) return;
  const auto first = std::find_if(calendar.components.begin(), calendar.components.end(),
                                  [](const auto& c) { return kind_named(c.name).has_value(); });
  editor.insert_before(place_of(*first), *made);
  added_zones_.push_back(std::string(tzid));
}

void ObjectText::remove_alarms(std::size_t place) {
  for (const auto& below : components_[place]->components)
    if (alarm_minutes(below)) editor.remove_component(place_of(below));
}

}  // namespace welkin::calendars
