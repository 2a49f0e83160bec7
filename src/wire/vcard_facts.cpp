#include "welkin/wire/vcard_facts.hpp"

#include <algorithm>
#include <set>

#include "welkin/core/text.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::wire {
namespace {

constexpr std::size_t kListMax = 2000;  // nobody has more addresses; keeps the search for doubles short

void add_once(std::vector<std::string>& list, std::string value) {
  if (!value.empty() && list.size() < kListMax && std::find(list.begin(), list.end(), value) == list.end())
    list.push_back(std::move(value));
}

std::string digits_of(std::string_view s) {
  std::string out;
  for (const char c : s)
    if (c >= '0' && c <= '9') out += c;
  return out;
}

std::string without_scheme(std::string_view value, std::string_view scheme) {
  value = text::trim(value);
  if (value.size() > scheme.size() && text::iequals(value.substr(0, scheme.size()), scheme))
    value.remove_prefix(scheme.size());
  return std::string(value);
}

CardKind kind_of(const Card& card) {
  const auto* kind = card.property("KIND");
  if (!kind) kind = card.property("X-ADDRESSBOOKSERVER-KIND");
  const auto name = kind ? text::lower(text::trim(kind->value)) : std::string();
  if (name == "group") return CardKind::group;
  if (name == "org") return CardKind::org;
  if (name == "location") return CardKind::location;
  if (!name.empty() && name != "individual") return CardKind::other;
  const auto* company = card.property("X-ABSHOWAS");
  return company && text::iequals(text::trim(company->value), "COMPANY") ? CardKind::org
                                                                         : CardKind::individual;
}

/// The words of the components in the order given, with one blank between.
std::string joined(const std::vector<std::string_view>& parts, std::initializer_list<std::size_t> order) {
  std::string out;
  for (const auto index : order) {
    if (index >= parts.size()) continue;
    const auto word = std::string(text::trim(ical_unescape(parts[index])));
    if (word.empty()) continue;
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

std::string display_name_of(const Card& card) {
  if (const auto name = std::string(text::trim(card.text("FN"))); !name.empty()) return name;
  if (const auto* n = card.property("N"))
    if (auto name = joined(card_parts(n->value, ';'), {3, 1, 2, 0, 4}); !name.empty()) return name;
  for (const auto* name : {"NICKNAME", "ORG", "EMAIL", "TEL"}) {
    const auto* property = card.property(name);
    if (!property) continue;
    if (auto found = joined(card_parts(property->value, ';'), {0}); !found.empty()) return found;
  }
  return {};
}

std::string sort_name_of(const Card& card, const std::string& display_name) {
  const auto* n = card.property("N");
  std::string own = card.text("SORT-STRING");
  if (own.empty() && n) {
    if (const auto* sort_as = n->parameter("SORT-AS"))
      for (const auto& value : sort_as->values) own += (own.empty() ? "" : " ") + value;
  }
  if (text::trim(own).empty() && n) own = joined(card_parts(n->value, ';'), {0, 1, 2});
  if (text::trim(own).empty()) own = display_name;
  return text::fold(text::trim(own));
}

void add_search(std::string& out, std::string_view words) {
  const auto trimmed = text::trim(words);
  if (trimmed.empty()) return;
  out += text::fold(trimmed);
  out += '\n';
}

/// N, ADR and ORG as one text with blanks, so that "given family" is found as people say it.
void add_structured(std::string& out, std::string_view value) {
  const auto parts = card_parts(value, ';');
  std::string all;
  for (const auto part : parts) {
    const auto plain = ical_unescape(part);
    const auto word = text::trim(plain);
    if (word.empty()) continue;
    if (!all.empty()) all += ' ';
    all += word;
  }
  add_search(out, all);
}

void read_property(CardFacts& facts, const CardProperty& property) {
  static const std::set<std::string, std::less<>> kTexts = {"FN",
                                                            "NICKNAME",
                                                            "TITLE",
                                                            "ROLE",
                                                            "NOTE",
                                                            "URL",
                                                            "CATEGORIES",
                                                            "IMPP",
                                                            "X-ABLABEL",
                                                            "X-PHONETIC-FIRST-NAME",
                                                            "X-PHONETIC-LAST-NAME"};
  const auto& name = property.name;
  if (name == "EMAIL") {
    auto address = text::fold(without_scheme(ical_unescape(property.value), "mailto:"));
    add_search(facts.search, address);
    add_once(facts.emails, std::move(address));
  } else if (name == "TEL") {
    const auto number = without_scheme(ical_unescape(property.value), "tel:");
    auto digits = digits_of(number);
    add_search(facts.search, number);
    if (digits != number) add_search(facts.search, digits);
    add_once(facts.phones, std::move(digits));
  } else if (name == "N" || name == "ADR" || name == "ORG") {
    add_structured(facts.search, property.value);
  } else if (name == "MEMBER" || name == "X-ADDRESSBOOKSERVER-MEMBER") {
    add_once(facts.members, property.value);
  } else if (name == "PHOTO") {
    facts.has_photo = facts.has_photo || !property.value.empty();
  } else if (name == "BDAY") {
    if (!facts.birthday) facts.birthday = card_date(property);
  } else if (name == "ANNIVERSARY" || name == "X-ANNIVERSARY") {
    if (!facts.anniversary) facts.anniversary = card_date(property);
  } else if (kTexts.contains(name)) {
    add_search(facts.search, ical_unescape(property.value));
  }
}

std::optional<int> number_of(std::string_view s, std::size_t width) {
  if (s.size() != width) return std::nullopt;
  const auto value = text::number(s);
  return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

}  // namespace

std::optional<CardDate> card_date(const CardProperty& property) {
  if (text::iequals(property.parameter_value("VALUE"), "text")) return std::nullopt;
  std::string_view value = text::trim(property.value);
  if (const auto time = value.find_first_of("Tt "); time != std::string_view::npos)
    value = value.substr(0, time);
  CardDate out;
  std::string digits;
  if (value.starts_with("--")) {
    for (const char c : value.substr(2))
      if (c != '-') digits += c;
    if (digits.size() != 4 || value.starts_with("---")) return std::nullopt;
  } else {
    for (const char c : value)
      if (c != '-') digits += c;
    const auto year = digits.size() == 8 ? number_of(std::string_view(digits).substr(0, 4), 4) : std::nullopt;
    if (!year) return std::nullopt;
    out.year = *year;
    digits.erase(0, 4);
  }
  const auto month = number_of(std::string_view(digits).substr(0, 2), 2);
  const auto day = number_of(std::string_view(digits).substr(2, 2), 2);
  if (!month || !day || *month < 1 || *month > 12 || *day < 1 ||
      *day > days_in_month(out.year.value_or(2024), *month))
    return std::nullopt;
  out.month = *month;
  out.day = *day;
  // Apple writes years that are none, and says which.
  if (out.year &&
      text::number(property.parameter_value("X-APPLE-OMIT-YEAR")) == static_cast<std::uint64_t>(*out.year))
    out.year.reset();
  return out;
}

CardFacts describe_card(const Card& card) {
  CardFacts out;
  if (const auto* uid = card.property("UID")) out.uid = std::string(text::trim(uid->value));
  out.display_name = display_name_of(card);
  out.sort_name = sort_name_of(card, out.display_name);
  out.kind = kind_of(card);
  for (const auto& property : card.properties) read_property(out, property);
  return out;
}

}  // namespace welkin::wire
