#pragma once
#include <string_view>

#include "welkin/collections/objects.hpp"

namespace welkin::contacts {

/// Whether these bytes may be stored in an address book, and what is kept beside them. A card without a UID
/// is known by its name.
/// @throws Error forbidden, as parse_card and check_card
collections::Facts facts_of(std::string_view data, std::string_view name);

}  // namespace welkin::contacts
