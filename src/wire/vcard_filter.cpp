#include "welkin/wire/vcard_filter.hpp"

#include <algorithm>

#include "ical_scan.hpp"

namespace welkin::wire {
namespace {

bool is_called(const CardProperty& property, std::string_view wanted) {
  if (property.name == wanted) return true;
  const auto dot = wanted.rfind('.');
  return dot != std::string_view::npos && property.name == wanted.substr(dot + 1) &&
         upper(property.group) == wanted.substr(0, dot);
}

/// What of a property is compared with texts.
std::vector<std::string> texts_of(const CardProperty& property) {
  std::vector<std::string> out;
  out.push_back(ical_unescape(property.value));
  const bool structured = property.name == "N" || property.name == "ADR" || property.name == "ORG";
  const bool list = property.name == "CATEGORIES" || property.name == "NICKNAME";
  if (structured || list)
    for (const auto part : card_parts(property.value, structured ? ';' : ','))
      out.push_back(ical_unescape(part));
  if (property.name == "TEL") {
    std::string digits;
    for (const char c : property.value)
      if (c >= '0' && c <= '9') digits += c;
    out.push_back(std::move(digits));
  }
  return out;
}

bool passes(const CardTextMatch& match, const std::vector<std::string>& texts) {
  const auto found = [&](const std::string& text) { return match.wanted.matches(text); };
  return std::any_of(texts.begin(), texts.end(), found) != match.negate;
}

bool passes(const CardParamFilter& filter, const CardProperty& property) {
  bool exists = false, found = false;
  for (const auto& parameter : property.parameters) {
    if (parameter.name != filter.name) continue;
    exists = true;
    for (const auto& value : parameter.values)
      found = found || (filter.match && filter.match->wanted.matches(value) != filter.match->negate);
  }
  if (filter.is_not_defined) return !exists;
  return filter.match ? found : exists;
}

bool passes(const CardPropFilter& filter, const CardProperty& property) {
  if (filter.matches.empty() && filter.parameters.empty()) return true;
  const auto texts = filter.matches.empty() ? std::vector<std::string>() : texts_of(property);
  for (const auto& match : filter.matches)
    if (passes(match, texts) != filter.all_of) return !filter.all_of;
  for (const auto& parameter : filter.parameters)
    if (passes(parameter, property) != filter.all_of) return !filter.all_of;
  return filter.all_of;
}

bool passes(const CardPropFilter& filter, const Card& card) {
  bool exists = false;
  for (const auto& property : card.properties) {
    if (!is_called(property, filter.name)) continue;
    exists = true;
    if (!filter.is_not_defined && passes(filter, property)) return true;
  }
  return filter.is_not_defined && !exists;
}

}  // namespace

bool passes(const CardFilter& filter, const Card& card) {
  if (filter.properties.empty()) return true;
  const auto one = [&](const CardPropFilter& each) { return passes(each, card); };
  return filter.all_of ? std::all_of(filter.properties.begin(), filter.properties.end(), one)
                       : std::any_of(filter.properties.begin(), filter.properties.end(), one);
}

Card select_properties(const Card& card, const std::vector<CardPropRequest>& wanted) {
  Card out;
  out.version = card.version;
  for (const auto& property : card.properties) {
    const auto asked = std::find_if(wanted.begin(), wanted.end(),
                                    [&](const auto& request) { return is_called(property, request.name); });
    const bool always = property.name == "UID" || property.name == "FN" || property.name == "N";
    if (asked == wanted.end() && !always) continue;
    out.properties.push_back(property);
    if (asked != wanted.end() && asked->no_value) out.properties.back().value.clear();
  }
  return out;
}

}  // namespace welkin::wire
