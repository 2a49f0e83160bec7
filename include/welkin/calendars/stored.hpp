#pragma once
#include <cstdint>
#include <string_view>

#include "welkin/collections/objects.hpp"
#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

/// Whether these bytes may be stored in a calendar, and what is kept beside them.
/// @param components  of the calendar, bits of collections::component
/// @throws Error forbidden, as parse_ical and check_object
collections::Facts facts_of(std::string_view data, std::int16_t components);
/// The same of what needs no check, or is no object of a calendar (a scheduling message).
collections::Facts facts_of(const wire::IcalComponent& calendar);

}  // namespace welkin::calendars
