#include <algorithm>

#include "content_line.hpp"
#include "ical_scan.hpp"
#include "vcard_legacy.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/vcard.hpp"

namespace welkin::wire {
namespace {

[[noreturn]] void bad(std::size_t line, const std::string& why) {
  throw Error(Errc::forbidden, "valid_address_data",
              "The vCard cannot be read: line " + std::to_string(line) + ": " + why);
}

bool is_large(std::string_view name) {
  return name == "PHOTO" || name == "LOGO" || name == "SOUND" || name == "KEY" || name == "ATTACH";
}

/// A name without "=" stands for a type, an encoding or a kind of value (vCard 2.1 §2.1.3).
void name_parameter(IcalParameter& bare) {
  static constexpr std::string_view kEncodings[] = {"QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT", "B"};
  static constexpr std::string_view kValues[] = {"INLINE", "CONTENT-ID", "CID", "URL"};
  const auto in = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), bare.name) != std::end(list);
  };
  const char* stands_for = in(kEncodings) ? "ENCODING" : in(kValues) ? "VALUE" : "TYPE";
  bare.values.push_back(std::move(bare.name));
  bare.name = stands_for;
}

class Reader {
 public:
  Reader(std::string_view text, const CardLimits& limits) : lines_(text), limits_(limits) {}

  std::vector<Card> read() {
    std::vector<Card> out;
    while (const auto line = lines_.next()) {
      if (text::trim(*line).empty()) continue;
      if (!text::iequals(text::trim(*line), "BEGIN:VCARD")) bad(lines_.number(), "this is no vCard");
      out.push_back(card());
    }
    return out;
  }

 private:
  /// From behind BEGIN to END.
  Card card() {
    Card out;
    out.version = version_ahead();
    std::size_t count = 0;
    const std::size_t begins = lines_.number();
    while (auto line = lines_.next_of_card(out.version == CardVersion::v2_1)) {
      if (line->empty()) continue;
      if (++count > limits_.lines_max) bad(lines_.number(), "there are too many lines");
      CardProperty property = property_of(*line, out.version);
      if (property.name == "END" && text::iequals(text::trim(property.value), "VCARD")) return out;
      if (property.name == "BEGIN" || property.name == "END")
        bad(lines_.number(), "it is in the middle of a card");
      if (property.name == "AGENT" && property.value.empty() && out.version == CardVersion::v2_1)
        property.value = agent(count);
      if (property.name != "VERSION") out.properties.push_back(std::move(property));
    }
    bad(begins, "the card has no end");
  }

  /// Reads ahead to where the card ends, for the version decides how lines are folded.
  CardVersion version_ahead() const {
    LogicalLines ahead(lines_.rest());
    std::size_t nested = 0;
    while (const auto line = ahead.next_physical()) {
      const auto trimmed = text::trim(*line);
      if (text::iequals(trimmed, "BEGIN:VCARD")) ++nested;
      if (text::iequals(trimmed, "END:VCARD") && nested-- == 0) break;
      if (nested > 0 || trimmed.size() < 8 || !text::iequals(trimmed.substr(0, 8), "VERSION:")) continue;
      const auto version = card_version(trimmed.substr(8));
      if (!version)
        throw Error(Errc::forbidden, "supported_address_data", "The version of the vCard is unknown");
      return *version;
    }
    return CardVersion::v3_0;
  }

  CardProperty property_of(std::string_view line, CardVersion version) {
    const bool is_old = version == CardVersion::v2_1;
    if (!is_old)
      if (const char* why = text_fault(line)) bad(lines_.number(), why);
    ContentLine read;
    if (const char* why =
            read_content_line(line, {limits_.parameters_max, true, version == CardVersion::v4_0}, read))
      bad(lines_.number(), why);
    if (line.size() > limits_.line_bytes_max && !is_large(read.name)) bad(lines_.number(), "it is too long");
    CardProperty out{std::move(read.group), std::move(read.name), std::move(read.parameters),
                     std::string(read.value)};
    for (auto& parameter : out.parameters)
      if (parameter.values.empty()) name_parameter(parameter);
    decode_legacy(out, version);
    if (is_old) {
      for (const auto& parameter : out.parameters)
        for (const auto& value : parameter.values)
          if (const char* why = text_fault(value)) bad(lines_.number(), why);
    }
    if (const char* why = text_fault(out.value)) bad(lines_.number(), why);
    return out;
  }

  /// The card inside of a card that AGENT of 2.1 has, as the text that AGENT of 3.0 has (RFC 2426 §3.5.4).
  std::string agent(std::size_t& count) {
    std::string inner;
    while (const auto line = lines_.next()) {
      if (++count > limits_.lines_max) bad(lines_.number(), "there are too many lines");
      if (line->empty()) continue;
      if (!text::is_utf8(*line) || text_fault(*line)) bad(lines_.number(), "it is not UTF-8");
      inner += *line;
      inner += '\n';
      if (text::iequals(text::trim(*line), "END:VCARD")) return ical_escape(inner);
    }
    bad(lines_.number(), "a card inside of a card has no end");
  }

  LogicalLines lines_;
  const CardLimits& limits_;
};

}  // namespace

std::vector<Card> parse_cards(std::string_view text, const CardLimits& limits) {
  if (text.size() > limits.bytes_max)
    throw Error(Errc::forbidden, "max_resource_size", "The vCard is too large");
  return Reader(without_mark(text), limits).read();
}

}  // namespace welkin::wire
