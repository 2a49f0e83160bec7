#include "rest/contact_json.hpp"

#include <nlohmann/json.hpp>

#include "rest/groupware.hpp"

namespace welkin::rest {
namespace {

using contacts::Contact;
using contacts::PostalAddress;
using contacts::Reach;

void write_reaches(wire::JsonWriter& json, const char* list, const char* value,
                   const std::vector<Reach>& all) {
  json.key(list);
  json.begin_array();
  for (const auto& each : all) {
    json.begin_object();
    json.field(value, each.value);
    json.field("type", each.type.empty() ? "other" : each.type);
    json.field("is_primary", each.is_primary);
    json.end_object();
  }
  json.end_array();
}

void write_addresses(wire::JsonWriter& json, const std::vector<PostalAddress>& all) {
  json.key("address");
  json.begin_array();
  for (const auto& each : all) {
    json.begin_object();
    nullable(json, "street", each.street);
    nullable(json, "city", each.city);
    nullable(json, "state", each.state);
    nullable(json, "postal_code", each.postal_code);
    nullable(json, "country", each.country);
    json.field("type", each.type.empty() ? "other" : each.type);
    json.field("is_primary", each.is_primary);
    json.end_object();
  }
  json.end_array();
}

const nlohmann::json* list_of(wire::JsonObject& fields, const char* name) {
  const auto* value = fields.raw(name);
  if (value == nullptr || value->is_null()) return nullptr;
  if (!value->is_array())
    throw Error(Errc::unprocessable, "bad_field", std::string("The field '") + name + "' must be an array");
  return value;
}

/// "other" is what we say where nothing is said.
std::string type_in(wire::JsonObject& item) {
  auto type = item.opt_string("type").value_or("");
  return type == "other" ? std::string() : type;
}

std::optional<std::vector<Reach>> read_reaches(wire::JsonObject& fields, const char* list,
                                               const char* value) {
  const auto* all = list_of(fields, list);
  if (all == nullptr) return std::nullopt;
  std::vector<Reach> out;
  for (const auto& each : *all) {
    wire::JsonObject item(each);
    Reach reach;
    reach.value = item.string(value);
    reach.type = type_in(item);
    reach.is_primary = item.opt_boolean("is_primary").value_or(false);
    item.done();
    out.push_back(std::move(reach));
  }
  return out;
}

std::optional<std::vector<PostalAddress>> read_addresses(wire::JsonObject& fields) {
  const auto* all = list_of(fields, "address");
  if (all == nullptr) return std::nullopt;
  std::vector<PostalAddress> out;
  for (const auto& each : *all) {
    wire::JsonObject item(each);
    PostalAddress address;
    address.street = item.opt_string("street").value_or("");
    address.city = item.opt_string("city").value_or("");
    address.state = item.opt_string("state").value_or("");
    address.postal_code = item.opt_string("postal_code").value_or("");
    address.country = item.opt_string("country").value_or("");
    address.type = type_in(item);
    address.is_primary = item.opt_boolean("is_primary").value_or(false);
    item.done();
    out.push_back(std::move(address));
  }
  return out;
}

}  // namespace

void write_contact(const PublicIds& ids, wire::JsonWriter& json, std::string_view base_path,
                   const collections::Collection& in, const collections::Object& object) {
  Contact contact;
  bool can_be_read = true;
  try {
    contact = contacts::contact_of(wire::parse_card(object.data));
  } catch (const Error&) {
    can_be_read = false;
  }
  const auto id = ids.encode(IdKind::contact, object.id);
  const auto book = ids.encode(IdKind::address_book, in.id.value);
  if (contact.has_photo)
    contact.photo_url = std::string(base_path) + "/api/address-books/" + book + "/contacts/" + id + "/photo";
  json.begin_object();
  json.field("id", id);
  json.field("address_book_id", book);
  json.field("uid", contact.uid.empty() ? object.name : contact.uid);
  json.field("readable", can_be_read);
  nullable(json, "full_name", contact.full_name);
  nullable(json, "first_name", contact.first_name);
  nullable(json, "last_name", contact.last_name);
  nullable(json, "nickname", contact.nickname);
  write_reaches(json, "email", "email", contact.emails);
  write_reaches(json, "phone", "number", contact.phones);
  write_addresses(json, contact.addresses);
  nullable(json, "organization", contact.organization);
  nullable(json, "title", contact.title);
  nullable(json, "notes", contact.notes);
  nullable(json, "photo_url", contact.photo_url);
  nullable(json, "birthday", contact.birthday);
  nullable(json, "anniversary", contact.anniversary);
  json.field("created_at", times::rfc3339(object.created_at));
  json.field("updated_at", times::rfc3339(object.modified_at));
  json.field("etag", collections::etag_text(object.etag));
  json.end_object();
}

contacts::ContactEdit read_contact_edit(wire::JsonObject& fields) {
  contacts::ContactEdit out;
  out.full_name = text_field(fields, "full_name");
  out.first_name = text_field(fields, "first_name");
  out.last_name = text_field(fields, "last_name");
  out.nickname = text_field(fields, "nickname");
  out.organization = text_field(fields, "organization");
  out.title = text_field(fields, "title");
  out.notes = text_field(fields, "notes");
  out.photo_url = text_field(fields, "photo_url");
  out.birthday = text_field(fields, "birthday");
  out.anniversary = text_field(fields, "anniversary");
  out.emails = read_reaches(fields, "email", "email");
  out.phones = read_reaches(fields, "phone", "number");
  out.addresses = read_addresses(fields);
  return out;
}

}  // namespace welkin::rest
