#pragma once
#include <string>

#include "welkin/wire/vcard.hpp"
#include "welkin/wire/vcard_facts.hpp"

namespace welkin::contacts {

/// As the API tells what stands in a card.
std::string date_text(const wire::CardDate& date);
std::string type_of(const wire::CardProperty& property);
bool is_preferred(const wire::CardProperty& property);
std::string phone_text(const wire::CardProperty& property);

}  // namespace welkin::contacts
