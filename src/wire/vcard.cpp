#include "welkin/wire/vcard.hpp"

#include <algorithm>

#include "ical_scan.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

constexpr std::string_view kVersions[] = {"2.1", "3.0", "4.0"};

/// RFC 2426 has neither quotes nor line ends in parameters, RFC 6350 has them by RFC 6868.
void append_parameter(std::string& line, std::string_view value, CardVersion version) {
  if (version == CardVersion::v4_0) return append_parameter_value(line, value);
  std::string plain(value);
  std::replace(plain.begin(), plain.end(), '"', '\'');
  std::replace(plain.begin(), plain.end(), '\n', ' ');
  std::erase(plain, '\r');
  const bool quoted = plain.find_first_of(",;:") != std::string::npos;
  line += quoted ? '"' + plain + '"' : plain;
}

}  // namespace

std::optional<CardVersion> card_version(std::string_view name) {
  name = text::trim(name);
  for (std::size_t i = 0; i < std::size(kVersions); ++i)
    if (name == kVersions[i]) return static_cast<CardVersion>(i);
  return std::nullopt;
}

std::string_view name_of(CardVersion version) { return kVersions[static_cast<std::size_t>(version)]; }

const IcalParameter* CardProperty::parameter(std::string_view called) const {
  for (const auto& each : parameters)
    if (each.name == called) return &each;
  return nullptr;
}

std::string_view CardProperty::parameter_value(std::string_view called) const {
  const auto* found = parameter(called);
  return found && !found->values.empty() ? std::string_view(found->values.front()) : std::string_view();
}

void CardProperty::set_parameter(std::string_view called, std::string value_text) {
  const auto first =
      std::find_if(parameters.begin(), parameters.end(), [&](auto& p) { return p.name == called; });
  const auto at = first - parameters.begin();
  std::erase_if(parameters, [&](const auto& p) { return p.name == called; });
  if (value_text.empty()) return;
  IcalParameter made{std::string(called), {}};
  made.values.push_back(std::move(value_text));
  parameters.insert(parameters.begin() + std::min<std::ptrdiff_t>(at, std::ssize(parameters)),
                    std::move(made));
}

std::vector<std::string> CardProperty::types() const {
  std::vector<std::string> out;
  for (const auto& parameter : parameters) {
    if (parameter.name != "TYPE") continue;
    for (const auto& value : parameter.values)
      for (const auto word : text::split(value, ','))
        if (!text::trim(word).empty()) out.push_back(text::lower(text::trim(word)));
  }
  return out;
}

bool CardProperty::has_type(std::string_view lower_case) const {
  const auto all = types();
  return std::find(all.begin(), all.end(), lower_case) != all.end();
}

const CardProperty* Card::property(std::string_view called) const {
  for (const auto& each : properties)
    if (each.name == called) return &each;
  return nullptr;
}

std::string Card::text(std::string_view called) const {
  const auto* found = property(called);
  return found ? ical_unescape(found->value) : std::string();
}

Card parse_card(std::string_view text, const CardLimits& limits) {
  auto all = parse_cards(text, limits);
  if (all.size() != 1)
    throw Error(Errc::forbidden, "valid_address_data",
                all.empty() ? "There is no vCard in it" : "There is more than one vCard in it");
  return std::move(all.front());
}

void check_card(const Card& card) {
  if (card.version == CardVersion::v2_1)
    throw Error(Errc::forbidden, "supported_address_data",
                "vCard 2.1 is imported, but not stored; send 3.0 or 4.0");
}

void append_card(std::string& out, const Card& card, LineEnd end) {
  const std::string_view eol = end == LineEnd::crlf ? "\r\n" : "\n";
  const auto version = card.version == CardVersion::v4_0 ? card.version : CardVersion::v3_0;
  append_folded(out, "BEGIN:VCARD", eol);
  append_folded(out, "VERSION:" + std::string(name_of(version)), eol);
  for (const auto& property : card.properties) {
    std::string line = property.group.empty() ? property.name : property.group + '.' + property.name;
    for (const auto& parameter : property.parameters) {
      line += ';';
      line += parameter.name;
      for (std::size_t i = 0; i < parameter.values.size(); ++i) {
        line += i == 0 ? '=' : ',';
        append_parameter(line, parameter.values[i], version);
      }
    }
    line += ':';
    line += property.value;
    append_folded(out, line, eol);
  }
  append_folded(out, "END:VCARD", eol);
}

std::vector<std::string_view> card_parts(std::string_view value, char separator) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') {
      ++i;
    } else if (value[i] == separator) {
      out.push_back(value.substr(from, i - from));
      from = i + 1;
    }
  }
  out.push_back(value.substr(from));
  return out;
}

}  // namespace welkin::wire
