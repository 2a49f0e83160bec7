#pragma once
#include "welkin/wire/vcard.hpp"

namespace welkin::wire {

/// Undoes quoted-printable, charsets and the escapes of vCard 2.1 in a property just read, whose value then
/// is what a 3.0 would have. Quoted-printable is undone in every version: some phones write it under any.
void decode_legacy(CardProperty& property, CardVersion version);

}  // namespace welkin::wire
