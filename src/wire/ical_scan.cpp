#include "ical_scan.hpp"

#include <algorithm>

#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

/// Whether the parameters at the beginning of the line say so.
bool is_quoted_printable(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon > 256) return false;
  const auto head = text::lower(line.substr(0, colon)) + ';';
  return head.find(";quoted-printable;") != std::string::npos ||
         head.find(";encoding=quoted-printable;") != std::string::npos;
}

}  // namespace

const char* text_fault(std::string_view text) {
  if (!text::is_utf8(text)) return "it is not UTF-8";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 && c != '\t' && c != '\r' && c != '\n') return "it holds control characters";
    // U+FFFE and U+FFFF; the text is UTF-8, so two bytes follow.
    if (c == 0xef && static_cast<unsigned char>(text[i + 1]) == 0xbf &&
        static_cast<unsigned char>(text[i + 2]) >= 0xbe)
      return "it holds characters that XML cannot say";
  }
  return nullptr;
}

std::string_view without_mark(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

std::optional<std::string_view> LogicalLines::next_physical() {
  if (rest_.empty()) return std::nullopt;
  const auto end = std::min(rest_.find_first_of("\r\n"), rest_.size());
  const auto line = rest_.substr(0, end);
  const bool crlf = end + 1 < rest_.size() && rest_[end] == '\r' && rest_[end + 1] == '\n';
  rest_.remove_prefix(std::min(end + (crlf ? 2 : 1), rest_.size()));
  number_ = ++lines_;
  return line;
}

std::optional<std::string_view> LogicalLines::next() {
  const auto first = next_physical();
  const auto folded = [&] { return !rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t'); };
  if (!first || !folded()) return first;
  const std::size_t begins = number_;
  unfolded_.assign(*first);
  while (folded()) unfolded_ += next_physical()->substr(1);
  number_ = begins;
  return unfolded_;
}

std::optional<std::string_view> LogicalLines::next_of_card(bool keeps_blank) {
  const auto first = next_physical();
  if (!first) return first;
  const std::size_t begins = number_;
  const auto folded = [&] { return !rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t'); };
  if (is_quoted_printable(*first) && (keeps_blank || !folded())) {
    unfolded_.assign(*first);
    while (unfolded_.ends_with('=') && !rest_.empty()) {
      unfolded_.pop_back();
      unfolded_ += *next_physical();
    }
  } else {
    if (!folded()) return first;
    unfolded_.assign(*first);
    while (folded()) unfolded_ += next_physical()->substr(keeps_blank ? 0 : 1);
  }
  number_ = begins;
  return unfolded_;
}

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
  return out;
}

std::string decode_caret(std::string_view value) {
  if (value.find('^') == std::string_view::npos) return std::string(value);
  std::string out;
  out.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char next = value[i] == '^' && i + 1 < value.size() ? value[i + 1] : '\0';
    if (next == 'n' || next == '^' || next == '\'') {
      out += next == 'n' ? '\n' : next == '^' ? '^' : '"';
      ++i;
    } else {
      out += value[i];
    }
  }
  return out;
}

void append_parameter_value(std::string& out, std::string_view value) {
  const bool quoted = value.find_first_of(",;:") != std::string_view::npos;
  if (quoted) out += '"';
  for (const char c : value) {
    if (c == '\n') {
      out += "^n";
    } else if (c == '^') {
      out += "^^";
    } else if (c == '"') {
      out += "^'";
    } else if (c != '\r') {
      out += c;
    }
  }
  if (quoted) out += '"';
}

void append_folded(std::string& out, std::string_view line, std::string_view eol) {
  constexpr std::size_t kOctets = 75;
  std::size_t room = kOctets;
  while (line.size() > room) {
    std::size_t cut = room;
    while (cut > 1 && (static_cast<unsigned char>(line[cut]) & 0xc0) == 0x80) --cut;
    out += line.substr(0, cut);
    out += eol;
    out += ' ';
    line.remove_prefix(cut);
    room = kOctets - 1;
  }
  out += line;
  out += eol;
}

}  // namespace welkin::wire
