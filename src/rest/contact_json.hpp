#pragma once
#include <string_view>

#include "welkin/collections/collections.hpp"
#include "welkin/contacts/contact.hpp"
#include "welkin/core/id.hpp"
#include "welkin/wire/json.hpp"
#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {

/// Contact as JSON. A picture in the card has an address of ours.
void write_contact(const PublicIds& ids, wire::JsonWriter& json, std::string_view base_path,
                   const collections::Collection& in, const collections::Object& object);

/// The fields of Contact that can be set. @throws Error unprocessable `bad_field`
contacts::ContactEdit read_contact_edit(wire::JsonObject& fields);

}  // namespace welkin::rest
