#include "wire/xml_encoding.hpp"

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

constexpr std::size_t kDeclarationBytesMax = 256;
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

[[noreturn]] void refuse() {
  throw Error(Errc::invalid, "bad_xml",
              "The XML of the request is neither UTF-8 nor UTF-16 with a byte order mark");
}

bool names_utf8(std::string_view charset) {
  return text::iequals(charset, "utf-8") || text::iequals(charset, "utf8") ||
         text::iequals(charset, "us-ascii") || text::iequals(charset, "ascii");
}
bool names_utf16(std::string_view charset) {
  return text::iequals(charset, "utf-16") || text::iequals(charset, "utf-16le") ||
         text::iequals(charset, "utf-16be");
}

/// The value of encoding="..." in "<?xml ...?>"; "" when it says none.
std::string_view declared_encoding(std::string_view declaration) {
  auto at = declaration.find("encoding");
  if (at == std::string_view::npos) return {};
  at = declaration.find_first_of("\"'", at);
  if (at == std::string_view::npos) return {};
  const auto end = declaration.find(declaration[at], at + 1);
  if (end == std::string_view::npos) return {};
  return declaration.substr(at + 1, end - at - 1);
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto byte = [&](std::uint32_t b) { out.push_back(static_cast<char>(b)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | c >> 6);
    byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3F));
    byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  }
}

}  // namespace

Utf8Decoder::Utf8Decoder(std::string_view charset) : charset_(charset) {
  if (!charset_.empty() && !names_utf8(charset_) && !names_utf16(charset_)) refuse();
}

void Utf8Decoder::choose() {
  const auto first = static_cast<unsigned char>(head_[0]);
  const auto second = head_.size() > 1 ? static_cast<unsigned char>(head_[1]) : 0;
  if (first == 0xFF && second == 0xFE) {
    form_ = Form::utf16_little;
    head_.erase(0, 2);
  } else if (first == 0xFE && second == 0xFF) {
    form_ = Form::utf16_big;
    head_.erase(0, 2);
  } else {
    form_ = Form::utf8;
    if (head_.starts_with(kUtf8Mark)) head_.erase(0, kUtf8Mark.size());
  }
  const bool wide = form_ != Form::utf8;
  if (!charset_.empty() && wide != names_utf16(charset_)) refuse();
}

void Utf8Decoder::put(std::uint32_t unit, std::string& out) {
  const bool is_low = unit >= 0xDC00 && unit < 0xE000;
  if ((high_ != 0) != is_low) refuse();
  if (unit >= 0xD800 && unit < 0xDC00) {
    high_ = unit;
    return;
  }
  append_utf8(out, is_low ? 0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00) : unit);
  high_ = 0;
}

void Utf8Decoder::decode(std::string& out) {
  if (form_ == Form::utf8) {
    out += head_;
    head_.clear();
    return;
  }
  const std::size_t whole = head_.size() / 2 * 2;
  for (std::size_t i = 0; i < whole; i += 2) {
    const auto a = static_cast<unsigned char>(head_[i]);
    const auto b = static_cast<unsigned char>(head_[i + 1]);
    put(form_ == Form::utf16_big ? a << 8U | b : b << 8U | a, out);
  }
  head_.erase(0, whole);
}

void Utf8Decoder::check_declaration(std::string& out, bool at_end) {
  const std::string_view opening(opening_);
  constexpr std::string_view kStart = "<?xml";
  const bool may_declare = opening.substr(0, kStart.size()) == kStart.substr(0, opening.size());
  const auto end = opening.find("?>");
  if (may_declare && end == std::string_view::npos && !at_end && opening.size() < kDeclarationBytesMax)
    return;
  declaration_read_ = true;
  if (may_declare && end != std::string_view::npos) {
    const auto named = declared_encoding(opening.substr(0, end));
    const bool agrees = form_ == Form::utf8 ? names_utf8(named) : names_utf16(named);
    if (!named.empty() && !agrees && charset_.empty()) refuse();
  }
  out += opening_;
  opening_.clear();
}

void Utf8Decoder::add(std::string_view piece, std::string& out) {
  head_ += piece;
  if (form_ == Form::unknown) {
    if (head_.size() < kUtf8Mark.size()) return;
    choose();
  }
  if (declaration_read_) {
    decode(out);
    return;
  }
  decode(opening_);
  check_declaration(out, false);
}

void Utf8Decoder::finish(std::string& out) {
  if (form_ == Form::unknown && !head_.empty()) choose();
  decode(opening_);
  if (!declaration_read_) check_declaration(out, true);
  if (!head_.empty() || high_ != 0) refuse();
}

}  // namespace welkin::wire
