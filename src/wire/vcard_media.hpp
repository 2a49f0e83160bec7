#pragma once
#include <string>
#include <string_view>

#include "welkin/wire/vcard.hpp"
#include "welkin/wire/vcard_facts.hpp"

namespace welkin::wire {

/// PHOTO, LOGO, SOUND and KEY: bytes as `ENCODING=b` in 3.0 (RFC 2426 §2.4.1), as a data URI in 4.0 (RFC 6350
/// §5.7). The base64 itself is passed on as it is.
bool is_media(std::string_view name);
void media_to_4(CardProperty& property);
void media_to_3(CardProperty& property);
/// From 2.1: ENCODING=BASE64 is spelled "b", VALUE=URL "uri".
void media_as_3(CardProperty& property);

/// With `dash` between: "1996-04-15", "--0415"; without a year never with one between month and day.
std::string format_card_date(const CardDate& date, std::string_view dash);

}  // namespace welkin::wire
