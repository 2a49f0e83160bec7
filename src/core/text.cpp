#include "welkin/core/text.hpp"

#include <openssl/crypto.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

namespace welkin::text {
namespace {

bool is_ascii(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unreserved(char c) {  // RFC 3986 §2.3
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

template <class T>
std::optional<T> whole_number(std::string_view s) {
  T value{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, 10);
  if (error != std::errc() || end != s.data() + s.size() || s.empty()) return std::nullopt;
  return value;
}

}  // namespace

bool is_utf8(std::string_view s) {
  const auto* p = reinterpret_cast<const unsigned char*>(s.data());
  const auto* const end = p + s.size();
  while (p < end) {
    if (*p < 0x80) {
      ++p;
      continue;
    }
    int extra = 0;
    unsigned lowest = 0x80,
             highest = 0xbf;  // bounds of the second byte: excludes overlong forms and surrogates
    if (*p >= 0xc2 && *p <= 0xdf) {
      extra = 1;
    } else if (*p >= 0xe0 && *p <= 0xef) {
      extra = 2;
      if (*p == 0xe0) lowest = 0xa0;
      if (*p == 0xed) highest = 0x9f;
    } else if (*p >= 0xf0 && *p <= 0xf4) {
      extra = 3;
      if (*p == 0xf0) lowest = 0x90;
      if (*p == 0xf4) highest = 0x8f;
    } else {
      return false;
    }
    if (end - p <= extra) return false;
    if (p[1] < lowest || p[1] > highest) return false;
    for (int i = 2; i <= extra; ++i)
      if ((p[i] & 0xc0) != 0x80) return false;
    p += extra + 1;
  }
  return true;
}

std::string nfc(std::string_view s) {
  if (is_ascii(s)) return std::string(s);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFCInstance(status);
  if (U_FAILURE(status)) throw std::runtime_error("ICU has no NFC data");
  const auto wide = icu::UnicodeString::fromUTF8({s.data(), static_cast<std::int32_t>(s.size())});
  const icu::UnicodeString normal = normalizer->normalize(wide, status);
  if (U_FAILURE(status)) throw std::runtime_error("NFC failed");
  std::string out;
  normal.toUTF8String(out);
  return out;
}

std::string fold(std::string_view s) {
  if (is_ascii(s)) return lower(s);
  auto wide = icu::UnicodeString::fromUTF8({s.data(), static_cast<std::int32_t>(s.size())});
  wide.foldCase();
  std::string out;
  wide.toUTF8String(out);
  return out;
}

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

bool iequals(std::string_view a, std::string_view b) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return low(x) == low(y); });
}

std::string_view trim(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

std::optional<std::string> percent_decode(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '%') {
      out.push_back(s[i]);
      continue;
    }
    if (i + 2 >= s.size()) return std::nullopt;
    const int high = hex_digit(s[i + 1]), low = hex_digit(s[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  return out;
}

std::string percent_encode(std::string_view s, std::string_view keep) {
  static constexpr char kUpper[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(s.size());
  for (const char c : s) {
    if (is_unreserved(c) || keep.find(c) != std::string_view::npos) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kUpper[byte >> 4]);
      out.push_back(kUpper[byte & 15]);
    }
  }
  return out;
}

std::optional<std::uint64_t> number(std::string_view s) {
  if (s.empty() || s.front() < '0' || s.front() > '9') return std::nullopt;
  return whole_number<std::uint64_t>(s);
}

std::optional<std::int64_t> signed_number(std::string_view s) { return whole_number<std::int64_t>(s); }

std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const auto at = s.find(separator);
    out.push_back(s.substr(0, at));
    if (at == std::string_view::npos) return out;
    s.remove_prefix(at + 1);
  }
}

bool equal_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const auto distance = [](std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < b.size(); ++j) {
        const std::size_t above = row[j + 1];
        row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
        diagonal = above;
      }
    }
    return row.back();
  };
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto d = distance(word, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace welkin::text
