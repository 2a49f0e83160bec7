#include "vcard_legacy.hpp"

#include <algorithm>
#include <cstdint>

#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char upper = static_cast<char>(c & ~0x20);
  return upper >= 'A' && upper <= 'F' ? upper - 'A' + 10 : -1;
}

/// RFC 2045 §6.7; soft line breaks are gone already. What is no escape stays.
std::string decode_quoted_printable(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    const int high = s[i] == '=' && i + 2 < s.size() ? hex_digit(s[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(s[i + 2]) : -1;
    if (low < 0) {
      out += s[i];
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

/// Windows-1252, of which ISO 8859-1 is all but the controls that nobody means.
std::string from_windows_1252(std::string_view s) {
  static constexpr std::uint16_t kHigh[32] = {0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                              0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d,   0x017d, 0x8f,
                                              0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                              0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};
  std::string out;
  out.reserve(s.size() + s.size() / 8);
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    append_utf8(out, byte >= 0x80 && byte < 0xa0 ? kHigh[byte - 0x80] : byte);
  }
  return out;
}

bool is_uri(const CardProperty& property) {
  static constexpr std::string_view kNames[] = {"URL",   "SOURCE", "UID",      "IMPP",
                                                "FBURL", "CALURI", "CALADRURI"};
  const auto value = text::lower(property.parameter_value("VALUE"));
  return value == "uri" || value == "url" ||
         std::find(std::begin(kNames), std::end(kNames), property.name) != std::end(kNames);
}

/// Line ends become "\n", commas "\,"; ";" and "\;" mean the same in both versions.
std::string escaped_as_3_0(std::string_view s, bool uri) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '\r') {
      if (i + 1 == s.size() || s[i + 1] != '\n') out += "\\n";
    } else if (c == '\n') {
      out += "\\n";
    } else if (uri) {
      out += c;
    } else if (c == '\\' && i + 1 < s.size() && (s[i + 1] == ';' || s[i + 1] == ',' || s[i + 1] == '\\')) {
      out += c;
      out += s[++i];
    } else if (c == '\\' || c == ',') {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

/// Some writers say it twice.
bool is_encoded(const CardProperty& property, std::string_view lower_case) {
  for (const auto& parameter : property.parameters)
    if (parameter.name == "ENCODING")
      for (const auto& value : parameter.values)
        if (text::iequals(value, lower_case)) return true;
  return false;
}

}  // namespace

void decode_legacy(CardProperty& property, CardVersion version) {
  const bool is_old = version == CardVersion::v2_1;
  const bool is_quoted = is_encoded(property, "quoted-printable");
  const bool is_base64 = is_encoded(property, "base64") || is_encoded(property, "b");
  if (is_base64 && !is_quoted) {
    std::erase_if(property.value, [](char c) { return c == ' ' || c == '\t'; });
    return;
  }
  if (!is_old && !is_quoted) return;
  std::string value = is_quoted ? decode_quoted_printable(property.value) : std::move(property.value);
  const auto charset = text::lower(property.parameter_value("CHARSET"));
  const bool is_latin = charset == "iso-8859-1" || charset == "windows-1252" || charset == "latin1";
  // A charset we do not know is worth less than a look at the bytes.
  if (is_latin || !text::is_utf8(value)) value = from_windows_1252(value);
  property.value = is_old || is_quoted ? escaped_as_3_0(value, is_uri(property)) : value;
  if (is_quoted || is_encoded(property, "8bit") || is_encoded(property, "7bit"))
    property.set_parameter("ENCODING", "");
  property.set_parameter("CHARSET", "");
}

}  // namespace welkin::wire
