#include "welkin/core/collation.hpp"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace welkin::text {
namespace {

std::string ascii_upper(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

std::string unicode_key(std::string_view s) {
  if (std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return ascii_upper(s);
  const auto wide = icu::UnicodeString::fromUTF8({s.data(), static_cast<std::int32_t>(s.size())});
  icu::UnicodeString titled;
  for (std::int32_t i = 0; i < wide.length(); i = wide.moveIndex32(i, 1))
    titled.append(u_totitle(wide.char32At(i)));
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKDInstance(status);
  if (U_FAILURE(status)) throw std::runtime_error("ICU has no NFKD data");
  const icu::UnicodeString decomposed = normalizer->normalize(titled, status);
  if (U_FAILURE(status)) throw std::runtime_error("NFKD failed");
  std::string out;
  decomposed.toUTF8String(out);
  return out;
}

}  // namespace

std::optional<Collation> collation_named(std::string_view name) {
  if (name == "i;octet") return Collation::octet;
  if (name == "i;ascii-casemap") return Collation::ascii_casemap;
  if (name == "i;unicode-casemap") return Collation::unicode_casemap;
  return std::nullopt;
}

std::string collation_key(Collation collation, std::string_view text) {
  switch (collation) {
    case Collation::ascii_casemap:
      return ascii_upper(text);
    case Collation::unicode_casemap:
      return unicode_key(text);
    case Collation::octet:
      break;
  }
  return std::string(text);
}

std::optional<MatchType> match_type_named(std::string_view name) {
  if (name == "equals") return MatchType::equals;
  if (name == "contains") return MatchType::contains;
  if (name == "starts-with") return MatchType::starts_with;
  if (name == "ends-with") return MatchType::ends_with;
  return std::nullopt;
}

Matcher::Matcher(Collation collation, MatchType type, std::string_view wanted)
    : collation_(collation), type_(type), key_(collation_key(collation, wanted)) {}

bool Matcher::matches(std::string_view text) const {
  const auto key = collation_key(collation_, text);
  switch (type_) {
    case MatchType::equals:
      return key == key_;
    case MatchType::starts_with:
      return key.starts_with(key_);
    case MatchType::ends_with:
      return key.ends_with(key_);
    case MatchType::contains:
      break;
  }
  // std::string::find takes the product of both lengths on hostile texts; memmem does not.
  return memmem(key.data(), key.size(), key_.data(), key_.size()) != nullptr;
}

}  // namespace welkin::text
