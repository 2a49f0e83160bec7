#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/bytes.hpp"

namespace welkin::text {

/// Lower-case hex.
std::string hex(ByteView bytes);
void append_hex(std::string& out, ByteView bytes);
std::optional<Bytes> from_hex(std::string_view digits);
std::string base64(ByteView bytes);
/// RFC 4648 §5, without padding.
std::string base64url(ByteView bytes);
/// Accepts the padded standard alphabet, strictly. nullopt: not base64.
std::optional<Bytes> from_base64(std::string_view digits);
std::optional<Bytes> from_base64url(std::string_view digits);

/// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view s);
/// Unicode NFC. `s` must be UTF-8. Pure ASCII is returned as it is.
std::string nfc(std::string_view s);
/// Simple case folding of UTF-8, for e-mail addresses and the like. Not locale dependent.
std::string fold(std::string_view s);
/// ASCII only.
std::string lower(std::string_view s);
bool iequals(std::string_view a, std::string_view b);
std::string_view trim(std::string_view s);

/// Decodes %XX once. nullopt on a bad escape. '+' stays '+'.
std::optional<std::string> percent_decode(std::string_view s);
/// Encodes everything but RFC 3986 unreserved characters; `keep` names further characters left as they are.
std::string percent_encode(std::string_view s, std::string_view keep = "");

/// A decimal number that fills the whole of `s`; no sign, no blanks.
std::optional<std::uint64_t> number(std::string_view s);
std::optional<std::int64_t> signed_number(std::string_view s);

std::vector<std::string_view> split(std::string_view s, char separator);

/// Compares in time that depends on the lengths only.
bool equal_secret(std::string_view a, std::string_view b);

/// The nearest of `candidates` within an edit distance of a third of its length, for "did you mean".
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace welkin::text
