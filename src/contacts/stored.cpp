#include "welkin/contacts/stored.hpp"

#include "welkin/wire/vcard_facts.hpp"

namespace welkin::contacts {

collections::Facts facts_of(std::string_view data, std::string_view name) {
  const auto card = wire::parse_card(data);
  wire::check_card(card);
  auto described = wire::describe_card(card);
  collections::Facts facts;
  facts.uid = described.uid.empty() ? std::string(name) : std::move(described.uid);
  if (described.kind == wire::CardKind::group) facts.flags = collections::object_flags::kGroup;
  facts.title = std::move(described.display_name);
  facts.search = std::move(described.search);
  facts.emails = std::move(described.emails);
  facts.phones = std::move(described.phones);
  return facts;
}

}  // namespace welkin::contacts
