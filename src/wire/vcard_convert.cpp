#include <algorithm>
#include <array>

#include "vcard_media.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/vcard.hpp"
#include "welkin/wire/vcard_facts.hpp"

namespace welkin::wire {
namespace {

/// Names that differ and nothing else. Those of 4.0 that 3.0 does not have either way stay what they are.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames = {{
    {"X-ADDRESSBOOKSERVER-KIND", "KIND"},
    {"X-ADDRESSBOOKSERVER-MEMBER", "MEMBER"},
    {"X-ANNIVERSARY", "ANNIVERSARY"},
    {"X-GENDER", "GENDER"},
    {"AGENT", "X-AGENT"},
    {"MAILER", "X-MAILER"},
    {"CLASS", "X-CLASS"},
    {"NAME", "X-NAME"},
    {"PROFILE", "X-PROFILE"},
}};

bool is_date(std::string_view name) {
  return name == "BDAY" || name == "ANNIVERSARY" || name == "X-ANNIVERSARY" || name == "DEATHDATE" ||
         name == "REV";
}

/// TYPE as one parameter with one value each.
void set_types(CardProperty& property, const std::vector<std::string>& types) {
  const auto first = std::find_if(property.parameters.begin(), property.parameters.end(),
                                  [](const auto& p) { return p.name == "TYPE"; });
  const auto at = first - property.parameters.begin();
  std::erase_if(property.parameters, [](const auto& p) { return p.name == "TYPE"; });
  if (types.empty()) return;
  property.parameters.insert(property.parameters.begin() + std::min(at, std::ssize(property.parameters)),
                             IcalParameter{"TYPE", types});
}

/// The words of TYPE as they are written, comma lists in quotes taken apart.
std::vector<std::string> written_types(const CardProperty& property) {
  std::vector<std::string> out;
  for (const auto& parameter : property.parameters) {
    if (parameter.name != "TYPE") continue;
    for (const auto& value : parameter.values)
      for (const auto word : text::split(value, ','))
        if (!text::trim(word).empty()) out.emplace_back(text::trim(word));
  }
  return out;
}

void preference_to_4(CardProperty& property) {
  auto types = written_types(property);
  const auto is_pref = [](const std::string& type) { return text::iequals(type, "pref"); };
  const bool preferred = std::any_of(types.begin(), types.end(), is_pref);
  if (preferred) {
    std::erase_if(types, is_pref);
    set_types(property, types);
  }
  const std::string other(property.parameter_value("X-PREF"));
  property.set_parameter("X-PREF", "");
  if (preferred) property.set_parameter("PREF", "1");
  if (!preferred && !other.empty()) property.set_parameter("PREF", other);
}

void preference_to_3(CardProperty& property) {
  auto types = written_types(property);
  const std::string preference(property.parameter_value("PREF"));
  property.set_parameter("PREF", "");
  if (preference == "1") {
    types.emplace_back("PREF");
  } else if (!preference.empty()) {
    property.set_parameter("X-PREF", preference);
  }
  set_types(property, types);
}

/// "1996-04-15T10:20:00Z" to "19960415T102000Z"; the year that Apple leaves out to none.
void date_to_4(CardProperty& property) {
  if (text::iequals(property.parameter_value("VALUE"), "text")) return;
  const auto date = card_date(property);
  if (!date) return;
  const auto time = property.value.find_first_of("Tt");
  std::string rest = time == std::string::npos ? "" : property.value.substr(time);
  std::string zone;
  if (const auto at = rest.find_first_of("+-"); at != std::string::npos) {
    zone = rest.substr(at);
    rest.erase(at);
  }
  std::erase(rest, ':');
  std::erase(zone, ':');
  const auto whole = format_card_date(*date, "");
  property.value = whole + rest + zone;
  property.set_parameter("X-APPLE-OMIT-YEAR", "");
  property.set_parameter("VALUE", "");
}

void date_to_3(CardProperty& property) {
  if (text::iequals(property.parameter_value("VALUE"), "text")) return;
  auto date = card_date(property);
  if (!date) return;
  const auto time = property.value.find_first_of("Tt");
  std::string rest = time == std::string::npos ? "" : property.value.substr(time);
  if (rest.size() >= 7 && rest.find(':') == std::string::npos && rest.find_first_not_of("0123456789", 1) >= 7)
    rest.insert(5, ":").insert(3, ":");
  if (!date->year) {
    date->year = 1604;  // what Apple writes for none
    property.set_parameter("X-APPLE-OMIT-YEAR", "1604");
  }
  property.value = format_card_date(*date, "-") + rest;
}

/// LABEL of 3.0 is a parameter of ADR in 4.0: of the one in the same group, of the same types, or of one of
/// its own.
void labels_to_4(Card& card) {
  std::vector<CardProperty> labels;
  std::erase_if(card.properties, [&](CardProperty& p) {
    if (p.name != "LABEL") return false;
    labels.push_back(std::move(p));
    return true;
  });
  constexpr std::size_t kSearchedMax = 50;  // each looks at all addresses
  std::size_t searched = 0;
  for (auto& label : labels) {
    auto types = label.types();
    std::sort(types.begin(), types.end());
    const auto fits = [&](const CardProperty& p) {
      if (p.name != "ADR" || p.parameter("LABEL")) return false;
      if (!label.group.empty() || !p.group.empty()) return label.group == p.group;
      auto own = p.types();
      std::sort(own.begin(), own.end());
      return own == types;
    };
    auto found = ++searched > kSearchedMax
                     ? card.properties.end()
                     : std::find_if(card.properties.begin(), card.properties.end(), fits);
    const auto text = ical_unescape(label.value);
    if (found == card.properties.end()) {
      label.name = "ADR";
      label.value = ";;;;;;";
      card.properties.push_back(std::move(label));
      found = card.properties.end() - 1;
    }
    found->set_parameter("LABEL", text);
  }
}

void labels_to_3(Card& card) {
  std::vector<CardProperty> out;
  for (auto& property : card.properties) {
    const std::string label(property.name == "ADR" ? property.parameter_value("LABEL") : std::string_view());
    if (property.name == "ADR") property.set_parameter("LABEL", "");
    if (!label.empty()) {
      CardProperty made{property.group, "LABEL", {}, ical_escape(label)};
      set_types(made, written_types(property));
      if (property.value.find_first_not_of(';') != std::string::npos) out.push_back(std::move(property));
      out.push_back(std::move(made));
    } else {
      out.push_back(std::move(property));
    }
  }
  card.properties = std::move(out);
}

void sorting_to_4(Card& card) {
  const auto named = [](std::string_view name) {
    return [name](const CardProperty& p) { return p.name == name; };
  };
  const auto sort = std::find_if(card.properties.begin(), card.properties.end(), named("SORT-STRING"));
  const auto n = std::find_if(card.properties.begin(), card.properties.end(), named("N"));
  if (sort == card.properties.end() || n == card.properties.end()) return;
  n->set_parameter("SORT-AS", ical_unescape(sort->value));
  card.properties.erase(sort);
}

void sorting_to_3(Card& card) {
  for (std::size_t i = 0; i < card.properties.size(); ++i) {
    if (card.properties[i].name != "N") continue;
    const auto* parameter = card.properties[i].parameter("SORT-AS");
    if (!parameter || parameter->values.empty()) return;
    std::string sort;
    for (const auto& value : parameter->values) sort += (sort.empty() ? "" : ",") + value;
    card.properties[i].set_parameter("SORT-AS", "");
    card.properties.push_back({"", "SORT-STRING", {}, ical_escape(sort)});
    return;
  }
}

void place_to_4(CardProperty& property) {
  const auto semicolon = property.value.find(';');
  if (semicolon == std::string::npos || property.value.starts_with("geo:")) return;
  property.value = "geo:" + property.value.substr(0, semicolon) + ',' + property.value.substr(semicolon + 1);
}

void place_to_3(CardProperty& property) {
  if (!text::iequals(property.value.substr(0, 4), "geo:")) return;
  const auto end = property.value.find_first_of(";?");
  const auto comma = property.value.find(',');
  if (comma == std::string::npos || (end != std::string::npos && end < comma)) return;
  property.value = property.value.substr(4, comma - 4) + ';' +
                   property.value.substr(comma + 1, end == std::string::npos ? end : end - comma - 1);
  property.set_parameter("VALUE", "");
}

void property_to_4(CardProperty& property) {
  for (const auto& [old, now] : kNames)
    if (property.name == old) {
      property.name = now;
      break;
    }
  preference_to_4(property);
  property.set_parameter("CHARSET", "");
  if (is_media(property.name)) media_to_4(property);
  if (is_date(property.name)) date_to_4(property);
  if (property.name == "GEO") place_to_4(property);
  if (property.name == "X-ABRELATEDNAMES") {
    property.name = "RELATED";
    property.set_parameter("VALUE", "text");
  }
}

void property_to_3(CardProperty& property) {
  for (const auto& [old, now] : kNames)
    if (property.name == now) {
      property.name = old;
      break;
    }
  preference_to_3(property);
  if (is_media(property.name)) media_to_3(property);
  if (is_date(property.name)) date_to_3(property);
  if (property.name == "GEO") place_to_3(property);
  const bool is_text = text::iequals(property.parameter_value("VALUE"), "text");
  if (property.name == "RELATED" && is_text) {
    property.name = "X-ABRELATEDNAMES";
    property.set_parameter("VALUE", "");
  }
  if (property.name == "TEL" && text::iequals(property.parameter_value("VALUE"), "uri")) {
    property.set_parameter("VALUE", "");
    if (text::iequals(property.value.substr(0, 4), "tel:"))
      property.value = ical_escape(property.value.substr(4));
  }
}

/// Both versions ask for FN, 3.0 also for N (RFC 2426 §3.1.2).
void complete_names(Card& card, bool needs_n) {
  const bool has_fn = card.property("FN") != nullptr;
  const bool has_n = card.property("N") != nullptr;
  if (has_fn && (has_n || !needs_n)) return;
  const auto name = ical_escape(describe_card(card).display_name);
  if (!has_fn) card.properties.insert(card.properties.begin(), {"", "FN", {}, name});
  if (!has_n && needs_n) card.properties.insert(card.properties.begin(), {"", "N", {}, name + ";;;;"});
}

}  // namespace

Card convert_card(const Card& card, CardVersion to) {
  const bool is_4 = to == CardVersion::v4_0, was_4 = card.version == CardVersion::v4_0;
  Card out = card;
  out.version = is_4 ? CardVersion::v4_0 : CardVersion::v3_0;
  if (is_4 == was_4 && card.version != CardVersion::v2_1) return out;
  if (is_4) {
    labels_to_4(out);
    sorting_to_4(out);
    for (auto& property : out.properties) property_to_4(property);
  } else if (was_4) {
    labels_to_3(out);
    sorting_to_3(out);
    for (auto& property : out.properties) property_to_3(property);
  } else {
    for (auto& property : out.properties)
      if (is_media(property.name)) media_as_3(property);
  }
  complete_names(out, !is_4);
  return out;
}

}  // namespace welkin::wire
