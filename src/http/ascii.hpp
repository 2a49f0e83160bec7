#pragma once
#include <array>
#include <cstdint>
#include <string_view>

/// Character classes of HTTP, by table: these run over every byte a client sends.
namespace welkin::http::ascii {

inline constexpr std::uint8_t kToken = 1;  // RFC 9110 §5.6.2 tchar
inline constexpr std::uint8_t kValue = 2;  // field-value byte: HTAB, SP, VCHAR, obs-text (§5.5)
inline constexpr std::uint8_t kTarget =
    4;  // what may stand in a request target: VCHAR but '#', and bytes above 127
inline constexpr std::uint8_t kHost = 8;  // reg-name, IPv4, port; brackets are looked at separately

inline constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> t{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const auto in = [c](std::string_view set) {
      return c < 128 && set.find(static_cast<char>(c)) != set.npos;
    };
    if (alnum || in("!#$%&'*+-.^_`|~")) t[c] |= kToken;
    if (c == '\t' || (c >= 0x20 && c != 0x7f)) t[c] |= kValue;
    if (c > 0x20 && c != 0x7f && c != '#') t[c] |= kTarget;
    if (alnum || in("-._~")) t[c] |= kHost;
  }
  return t;
}();

inline bool is(char c, std::uint8_t cls) { return (kClasses[static_cast<unsigned char>(c)] & cls) != 0; }
inline bool all(std::string_view s, std::uint8_t cls) {
  std::uint8_t seen = cls;
  for (const char c : s) seen &= kClasses[static_cast<unsigned char>(c)];
  return (seen & cls) == cls;
}

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
inline bool iequals(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && lower(a[i]) != lower(b[i])) return false;
  return true;
}
inline std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}
inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Calls `f(element)` for each non-empty element of a comma-separated list, trimmed; commas inside quoted
/// strings do not separate (RFC 9110 §5.6.1).
template <class F>
void each_element(std::string_view list, F f) {
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size()) {
      const char c = list[i];
      if (quoted && c == '\\') {
        ++i;
        continue;
      }
      if (c == '"') quoted = !quoted;
      if (quoted || c != ',') continue;
    }
    if (begin > list.size()) break;
    const auto element = trim(list.substr(begin, i < list.size() ? i - begin : list.npos));
    if (!element.empty()) f(element);
    begin = i + 1;
  }
}

}  // namespace welkin::http::ascii
