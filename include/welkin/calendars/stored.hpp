#pragma once
#include <cstdint>
#include <string_view>

#include "welkin/collections/objects.hpp"

namespace welkin::calendars {

/// Whether these bytes may be stored in a calendar, and what is kept beside them.
/// @param components  of the calendar, bits of collections::component
/// @throws Error forbidden, as parse_ical and check_object
collections::Facts facts_of(std::string_view data, std::int16_t components);

}  // namespace welkin::calendars
