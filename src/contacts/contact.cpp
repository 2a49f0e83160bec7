#include "welkin/contacts/contact.hpp"

#include <algorithm>

#include "contacts/card_text.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/vcard_facts.hpp"

namespace welkin::contacts {
namespace {

using wire::Card;
using wire::CardProperty;

constexpr std::string_view kUrn = "urn:uuid:";

std::string part(const std::vector<std::string_view>& parts, std::size_t at) {
  return at < parts.size() ? wire::ical_unescape(parts[at]) : std::string();
}

std::string date_of(const Card& card, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    const auto* property = card.property(name);
    if (property == nullptr) continue;
    const auto date = wire::card_date(*property);
    if (date) return date_text(*date);
  }
  return {};
}

PostalAddress address_of(const CardProperty& property) {
  const auto parts = wire::card_parts(property.value, ';');
  PostalAddress out;
  out.street = part(parts, 2);
  out.city = part(parts, 3);
  out.state = part(parts, 4);
  out.postal_code = part(parts, 5);
  out.country = part(parts, 6);
  out.type = type_of(property);
  out.is_primary = is_preferred(property);
  return out;
}

bool is_link(std::string_view value) { return value.starts_with("http://") || value.starts_with("https://"); }

}  // namespace

std::string date_text(const wire::CardDate& date) {
  const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  auto year = date.year ? std::to_string(*date.year) : std::string("-");
  if (date.year) year.insert(0, year.size() < 4 ? 4 - year.size() : 0, '0');
  return year + '-' + two(date.month) + '-' + two(date.day);
}

/// What the API calls the kind of an address: the first that says more than the form of it.
std::string type_of(const CardProperty& property) {
  for (const auto& type : property.types())
    if (type != "pref" && type != "internet" && type != "voice" && type != "x400") return type;
  return {};
}

bool is_preferred(const CardProperty& property) {
  return property.has_type("pref") || property.parameter_value("PREF") == "1";
}

std::string phone_text(const CardProperty& property) {
  auto value = wire::ical_unescape(property.value);
  if (text::iequals(value.substr(0, 4), "tel:")) value.erase(0, 4);
  return value;
}

Contact contact_of(const Card& card) {
  Contact out;
  const auto facts = wire::describe_card(card);
  out.uid = facts.uid;
  out.full_name = card.text("FN").empty() ? facts.display_name : card.text("FN");
  if (const auto* name = card.property("N")) {
    const auto parts = wire::card_parts(name->value, ';');
    out.last_name = part(parts, 0);
    out.first_name = part(parts, 1);
  }
  out.nickname = card.text("NICKNAME");
  if (const auto* organization = card.property("ORG")) {
    for (const auto unit : wire::card_parts(organization->value, ';')) {
      const auto said = wire::ical_unescape(unit);
      if (!said.empty()) (out.organization += out.organization.empty() ? "" : "; ") += said;
    }
  }
  out.title = card.text("TITLE");
  out.notes = card.text("NOTE");
  for (const auto& property : card.properties) {
    if (property.name == "EMAIL")
      out.emails.push_back({wire::ical_unescape(property.value), type_of(property), is_preferred(property)});
    if (property.name == "TEL")
      out.phones.push_back({phone_text(property), type_of(property), is_preferred(property)});
    if (property.name == "ADR") out.addresses.push_back(address_of(property));
  }
  if (const auto* photo = card.property("PHOTO")) {
    const auto value = wire::ical_unescape(photo->value);
    if (is_link(value)) out.photo_url = value;
    out.has_photo = out.photo_url.empty() && facts.has_photo;
  }
  out.birthday = date_of(card, {"BDAY"});
  out.anniversary = date_of(card, {"ANNIVERSARY", "X-ANNIVERSARY"});
  return out;
}

std::optional<Photo> photo_of(const Card& card) {
  const auto* property = card.property("PHOTO");
  if (property == nullptr) return std::nullopt;
  Photo out;
  std::string_view digits = property->value;
  std::string unescaped;
  if (text::iequals(digits.substr(0, 5), "data:")) {
    unescaped = wire::ical_unescape(digits);
    const std::string_view uri = unescaped;
    const auto comma = uri.find(',');
    if (comma == std::string_view::npos || !uri.substr(0, comma).ends_with(";base64")) return std::nullopt;
    out.mime_type = text::lower(uri.substr(5, uri.find_first_of(";,") - 5));
    digits = uri.substr(comma + 1);
  } else {
    if (property->parameter("ENCODING") == nullptr) return std::nullopt;
    const auto types = property->types();
    out.mime_type = types.empty() ? "image/jpeg" : types.front();
    if (out.mime_type.find('/') == std::string::npos) out.mime_type.insert(0, "image/");
  }
  std::string compact;
  for (const char c : digits)
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') compact += c;
  const auto bytes = text::from_base64(compact);
  if (!bytes || bytes->empty()) return std::nullopt;
  out.bytes = as_text(*bytes);
  return out;
}

std::vector<std::string> forms_of_uid(std::string_view uid) {
  const bool has_urn = text::iequals(uid.substr(0, kUrn.size()), kUrn);
  const auto bare = has_urn ? uid.substr(kUrn.size()) : uid;
  return {std::string(kUrn) + std::string(bare), std::string(bare)};
}

Group group_of(const Card& card) {
  auto facts = wire::describe_card(card);
  Group out{std::move(facts.uid), std::move(facts.display_name), {}};
  for (const auto& member : facts.members) out.members.push_back(forms_of_uid(member)[1]);
  return out;
}

}  // namespace welkin::contacts
