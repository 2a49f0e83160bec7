#pragma once
#include <string>
#include <string_view>

#include "welkin/calendars/event.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {

/// In the form of EventView.
std::string time_text(const wire::IcalTime& time);
/// The same of a property; "" when there is none, or none that can be read.
std::string time_text(const wire::IcalComponent& component, std::string_view name);
/// The TZID of a property, "UTC" of an instant, "" of days and floating times.
std::string timezone_of(const wire::IcalProperty& property);

}  // namespace welkin::calendars
