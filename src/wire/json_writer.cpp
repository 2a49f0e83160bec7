#include "welkin/wire/json_writer.hpp"

#include <charconv>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace welkin::wire {
namespace {

bool must_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

/// How many bytes from `at` on need no escaping.
std::size_t plain_length(const char* at, std::size_t size) {
  std::size_t i = 0;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  for (; i + 16 <= size; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i special = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
    const int found = _mm_movemask_epi8(_mm_or_si128(control, special));
    if (found != 0) return i + static_cast<std::size_t>(__builtin_ctz(static_cast<unsigned>(found)));
  }
#endif
  while (i < size && !must_escape(at[i])) ++i;
  return i;
}

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  static constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

template <class N>
void append_number(std::string& out, N value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  while (true) {
    const std::size_t plain = plain_length(at, left);
    out.append(at, plain);
    if (plain == left) return;
    append_escape(out, at[plain]);
    at += plain + 1;
    left -= plain + 1;
  }
}

void JsonWriter::string(std::string_view text) {
  comma();
  out_ += '"';
  append_json_escaped(out_, text);
  out_ += '"';
  after_value_ = true;
}

void JsonWriter::put_signed(std::int64_t value) {
  comma();
  append_number(out_, value);
  after_value_ = true;
}

void JsonWriter::put_unsigned(std::uint64_t value) {
  comma();
  append_number(out_, value);
  after_value_ = true;
}

}  // namespace welkin::wire
