#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/wire/ical.hpp"

namespace welkin::wire {

enum class CardVersion : std::uint8_t { v2_1, v3_0, v4_0 };
/// "2.1", "3.0" or "4.0"; nullopt for anything else.
std::optional<CardVersion> card_version(std::string_view name);
std::string_view name_of(CardVersion version);

/// A content line of a vCard. Parameters without "=" have become TYPE, ENCODING or VALUE (vCard 2.1).
struct CardProperty {
  std::string group;  // as written: "item1"; "" without
  std::string name;   // upper case, without the group
  std::vector<IcalParameter> parameters;
  std::string value;  // escaped as in vCard 3.0 and 4.0: "\n", "\,", "\;", "\\"

  const IcalParameter* parameter(std::string_view called) const;
  /// Its first value, "" when there is none.
  std::string_view parameter_value(std::string_view called) const;
  /// Replaces all of that name, or adds it; "" removes.
  void set_parameter(std::string_view called, std::string value_text);
  /// Lower-case values of all TYPE parameters, comma lists in quotes taken apart.
  std::vector<std::string> types() const;
  bool has_type(std::string_view lower_case) const;

  bool operator==(const CardProperty&) const = default;
};

/// A vCard. VERSION is no property of it; everything else stands in its order.
struct Card {
  CardVersion version = CardVersion::v3_0;
  std::vector<CardProperty> properties;

  /// The first such property, of any group; nullptr when there is none. `called` in upper case.
  const CardProperty* property(std::string_view called) const;
  /// Its value with escapes undone, "" when there is none.
  std::string text(std::string_view called) const;

  bool operator==(const Card&) const = default;
};

/// What a body may cost. PHOTO, LOGO, SOUND and KEY are only bounded by `bytes_max`.
struct CardLimits {
  std::size_t bytes_max = std::size_t{10} << 20;
  std::size_t line_bytes_max = std::size_t{1} << 20;  // unfolded
  std::size_t lines_max = 20'000;                     // unfolded, of one card
  std::size_t parameters_max = 256;                   // of one line
};

/// Reads untrusted vCards of any version, in time linear in the size: lines ended by CRLF, LF or CR, empty
/// lines passed over, a byte order mark passed over. Of vCard 2.1 quoted-printable and charsets are undone,
/// so that what is read says the same as UTF-8 with the escapes of 3.0. A card that does not say its version
/// is read as 3.0.
///
/// @throws Error forbidden `valid_address_data` (not UTF-8, control characters, BEGIN and END that are no
/// pairs, a line without ":", text outside of a card, a limit of lines or parameters passed),
/// `supported_address_data` (another version), `max_resource_size` (more than bytes_max)
std::vector<Card> parse_cards(std::string_view text, const CardLimits& limits = {});
/// As parse_cards, for exactly one: no or a second card is `valid_address_data`.
Card parse_card(std::string_view text, const CardLimits& limits = {});

/// Whether it may be stored as the body of a PUT: not in 2.1, which has no way back from what is read to the
/// same bytes (RFC 6352 §5.1 asks for 3.0). No UID, FN or N is no reason to refuse.
/// @throws Error forbidden `supported_address_data`
void check_card(const Card& card);

/// Appends the card as its `version` says, folded at 75 octets and never inside a code point. A 2.1 is
/// written as 3.0.
void append_card(std::string& out, const Card& card, LineEnd end = LineEnd::crlf);

/// The card in another version, with every property it has (RFC 6350 against RFC 2426 and what Apple's and
/// other programs write): photos between `ENCODING=b` and data URIs, groups (KIND, MEMBER) and their
/// X-ADDRESSBOOKSERVER forms, TYPE=PREF and PREF=1, dates without a year, ANNIVERSARY, GENDER, RELATED,
/// LABEL, SORT-STRING, AGENT and their X- forms. What has no other form is kept as it is. `to` 2.1: as
/// for 3.0.
Card convert_card(const Card& card, CardVersion to);

/// Structured values: the components between unescaped `separator`s, escapes kept (N, ADR, ORG by ';').
std::vector<std::string_view> card_parts(std::string_view value, char separator);

}  // namespace welkin::wire
