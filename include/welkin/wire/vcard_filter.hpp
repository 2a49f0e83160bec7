#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/collation.hpp"
#include "welkin/wire/vcard.hpp"

namespace welkin::wire {

/// A:text-match (RFC 6352 §10.5.4). Defaults of the element: i;unicode-casemap, contains.
struct CardTextMatch {
  text::Matcher wanted;
  bool negate = false;  // of one value, not "no value"
};

/// A:param-filter (§10.5.2): exists, does not, or has a value that matches.
struct CardParamFilter {
  std::string name;  // upper case
  bool is_not_defined = false;
  std::optional<CardTextMatch> match{};
};

/// A:prop-filter (§10.5.1): some property of the name passes any or all of the children; none at all: it
/// exists.
struct CardPropFilter {
  std::string name;  // upper case; "ITEM1.EMAIL" asks for the group too
  bool is_not_defined = false;
  bool all_of = false;
  std::vector<CardTextMatch> matches{};
  std::vector<CardParamFilter> parameters{};
};

/// A:filter (§10.5). Without children it passes every card.
struct CardFilter {
  bool all_of = false;
  std::vector<CardPropFilter> properties{};
};

/// Texts are compared with the unescaped value as a whole, with each component of N, ADR and ORG, with each
/// word of CATEGORIES and NICKNAME, and with TEL also digits only.
bool passes(const CardFilter& filter, const Card& card);

/// A:prop of A:address-data (§10.4.2).
struct CardPropRequest {
  std::string name;  // upper case, with a group or without
  bool no_value = false;
};

/// The card with these properties only; UID, FN and N always stay.
Card select_properties(const Card& card, const std::vector<CardPropRequest>& wanted);

}  // namespace welkin::wire
