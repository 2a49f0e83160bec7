// Hex and base64: the only places where bytes become letters.
#include <algorithm>

#include "welkin/core/text.hpp"

namespace welkin::text {
namespace {

constexpr char kStandard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr char kUrlSafe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode64(ByteView bytes, const char* alphabet, bool pad) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    unsigned bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < n ? std::to_integer<unsigned>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j <= n; ++j) out.push_back(alphabet[bits >> (18 - 6 * j) & 63]);
    if (pad) out.append(3 - n, '=');
  }
  return out;
}

int value64(char c, bool url) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == (url ? '-' : '+')) return 62;
  if (c == (url ? '_' : '/')) return 63;
  return -1;
}

std::optional<Bytes> decode64(std::string_view digits, bool url) {
  if (digits.size() % 4 == 1) return std::nullopt;
  Bytes out;
  out.reserve(digits.size() / 4 * 3 + 2);
  for (std::size_t i = 0; i < digits.size(); i += 4) {
    const std::size_t n = std::min<std::size_t>(4, digits.size() - i);
    unsigned bits = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const int value = value64(digits[i + j], url);
      if (value < 0) return std::nullopt;
      bits = bits << 6 | static_cast<unsigned>(value);
    }
    bits <<= 6 * (4 - n);
    for (std::size_t j = 0; j + 1 < n; ++j) out.push_back(static_cast<std::byte>(bits >> (16 - 8 * j) & 255));
    // Bits that no byte takes must be zero, else two texts would mean the same bytes.
    if (n == 2 && (bits & 0xffff) != 0) return std::nullopt;
    if (n == 3 && (bits & 0xff) != 0) return std::nullopt;
  }
  return out;
}

}  // namespace

void append_hex(std::string& out, ByteView bytes) {
  // Computed, not looked up: the compiler makes vectors of it.
  const auto digit = [](std::uint8_t n) { return static_cast<char>(n + '0' + (n > 9 ? 'a' - '0' - 10 : 0)); };
  const std::size_t before = out.size();
  out.resize(before + bytes.size() * 2);
  char* const p = out.data() + before;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto b = std::to_integer<std::uint8_t>(bytes[i]);
    p[2 * i] = digit(b >> 4);
    p[2 * i + 1] = digit(b & 15);
  }
}

std::string hex(ByteView bytes) {
  std::string out;
  append_hex(out, bytes);
  return out;
}

std::optional<Bytes> from_hex(std::string_view digits) {
  const auto value = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (digits.size() % 2 != 0) return std::nullopt;
  Bytes out;
  out.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = value(digits[i]), low = value(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<std::byte>(high << 4 | low));
  }
  return out;
}

std::string base64(ByteView bytes) { return encode64(bytes, kStandard, true); }
std::string base64url(ByteView bytes) { return encode64(bytes, kUrlSafe, false); }

std::optional<Bytes> from_base64(std::string_view digits) {
  if (digits.size() % 4 != 0) return std::nullopt;
  if (digits.ends_with("==")) {
    digits.remove_suffix(2);
  } else if (digits.ends_with('=')) {
    digits.remove_suffix(1);
  }
  return decode64(digits, false);
}
std::optional<Bytes> from_base64url(std::string_view digits) { return decode64(digits, true); }

}  // namespace welkin::text
