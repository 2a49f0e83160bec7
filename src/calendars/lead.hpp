#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

/// The component that speaks for the object: its master, else the first one; nullptr when it has none.
const wire::IcalComponent* lead_of(const wire::IcalComponent& calendar);

/// How many minutes before the start a VALARM goes off. nullopt: it is none, or goes by something else.
std::optional<std::int64_t> alarm_minutes(const wire::IcalComponent& alarm);
std::vector<std::int64_t> alarms_of(const wire::IcalComponent& component);
/// Of all CATEGORIES, unescaped.
std::vector<std::string> categories_of(const wire::IcalComponent& component);

}  // namespace welkin::calendars
