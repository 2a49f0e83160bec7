#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/wire/vcard.hpp"

namespace welkin::wire {

enum class CardKind : std::int16_t { individual = 1, group, org, location, other };

/// A day of every year, or of one.
struct CardDate {
  std::optional<int> year;
  int month = 0, day = 0;  // from 1

  bool operator==(const CardDate&) const = default;
};

/// What the index keeps of a card.
struct CardFacts {
  std::string uid;           // as written, "" without: then the caller names it after the resource
  std::string display_name;  // FN, else made of N, NICKNAME, ORG, an address or a number
  std::string sort_name;     // case folded: family name first, SORT-STRING or SORT-AS if there is one
  CardKind kind = CardKind::individual;
  bool has_photo = false;
  std::vector<std::string> emails;   // case folded, each once
  std::vector<std::string> phones;   // digits only, each once
  std::vector<std::string> members;  // of a group: as written, "urn:uuid:..."
  /// FN, N, NICKNAME, ORG, TITLE, ROLE, EMAIL, TEL (as written and digits), ADR, NOTE, URL, CATEGORIES, IMPP
  /// and labels, unescaped, case folded, one a line: what contains a text has it in here.
  std::string search;
  std::optional<CardDate> birthday, anniversary;
};

CardFacts describe_card(const Card& card);

/// BDAY, ANNIVERSARY and their kin of any version: "1996-04-15", "19960415T1000Z", "--0415", "--04-15"; the
/// year of X-APPLE-OMIT-YEAR is none. nullopt: there is no day in it, or it is text.
std::optional<CardDate> card_date(const CardProperty& property);

}  // namespace welkin::wire
