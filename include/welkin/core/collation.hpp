#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace welkin::text {

/// How CalDAV and CardDAV compare texts (RFC 4790, RFC 4791 §7.5, RFC 6352 §8.3).
enum class Collation : std::uint8_t {
  octet,            // i;octet: bytes
  ascii_casemap,    // i;ascii-casemap: ASCII letters in any case
  unicode_casemap,  // i;unicode-casemap (RFC 5051): title case of each code point, then compatibility
                    // decomposition
};
/// nullopt: unknown.
std::optional<Collation> collation_named(std::string_view name);

/// The text as the collation compares it, byte by byte: equal and contained texts have equal and contained
/// keys.
std::string collation_key(Collation collation, std::string_view text);

enum class MatchType : std::uint8_t { equals, contains, starts_with, ends_with };
/// "equals", "contains", "starts-with", "ends-with"; nullopt for anything else.
std::optional<MatchType> match_type_named(std::string_view name);

/// A text to be looked for; its key is made once.
class Matcher {
 public:
  Matcher(Collation collation, MatchType type, std::string_view wanted);
  bool matches(std::string_view text) const;

 private:
  Collation collation_;
  MatchType type_;
  std::string key_;
};

}  // namespace welkin::text
