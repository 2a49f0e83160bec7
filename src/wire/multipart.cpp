#include "welkin/wire/multipart.hpp"

#include <cstring>
#include <utility>

#include "form_head.hpp"
#include "welkin/core/error.hpp"

namespace welkin::wire {

/// The body is  preamble *( delimiter CRLF head CRLF data ) delimiter "--" epilogue,  delimiter = CRLF "--"
/// boundary, where the CRLF of the first delimiter may be the start of the body.
struct MultipartReader::State {
  enum class At { preamble, data, after_data, end };

  State(ByteSource& from, std::string_view content_type)
      : source(from), delimiter("\r\n--" + form_boundary(content_type)) {}

  ByteSource& source;
  const std::string delimiter;
  At at = At::preamble;
  std::string_view piece;  // read, not yet consumed
  std::string held =
      "\r\n";         // consumed, and the beginning of a delimiter so far; CR is in none of its other places
  std::string given;  // what was held and turned out to be data
  std::size_t parts = 0;

  Task<> need() {
    while (piece.empty()) {
      piece = as_text(co_await source.read());
      if (piece.empty()) bad_multipart("it ends before its last boundary");
    }
  }

  /// The next bytes before a delimiter; empty once the delimiter has been consumed.
  Task<std::string_view> until_delimiter() {
    while (true) {
      if (piece.empty()) co_await need();
      if (held.empty()) {
        if (const auto plain = plain_data(); !plain.empty()) co_return plain;
        continue;
      }
      while (!piece.empty() && held.size() < delimiter.size() && piece[0] == delimiter[held.size()]) {
        held += piece[0];
        piece.remove_prefix(1);
      }
      if (held.size() == delimiter.size()) {
        held.clear();
        co_return std::string_view();
      }
      if (piece.empty()) continue;
      given.swap(held);
      held.clear();
      co_return given;
    }
  }

  /// With nothing held: the data of `piece` up to where a delimiter begins or may begin, which is then held.
  std::string_view plain_data() {
    const std::string_view all = piece;
    const void* found = memmem(all.data(), all.size(), delimiter.data(), delimiter.size());
    std::size_t data_bytes;
    if (found != nullptr) {
      data_bytes = static_cast<std::size_t>(static_cast<const char*>(found) - all.data());
    } else {
      const std::size_t tail = std::min(all.size(), delimiter.size() - 1);
      data_bytes = all.size();
      const auto cr = all.substr(all.size() - tail).rfind('\r');
      if (cr != std::string_view::npos) {
        const auto start = all.substr(all.size() - tail + cr);
        if (delimiter.compare(0, start.size(), start) == 0) data_bytes -= start.size();
      }
    }
    if (data_bytes == all.size()) {
      piece = {};
      return all;
    }
    held = "\r";
    piece = all.substr(data_bytes + 1);
    return all.substr(0, data_bytes);
  }

  /// What follows a delimiter. @return whether a part follows
  Task<bool> after_delimiter() {
    co_await need();
    if (piece[0] == '-') {
      piece.remove_prefix(1);
      co_await need();
      if (piece[0] != '-') bad_multipart("text after a boundary");
      piece.remove_prefix(1);
      co_return false;
    }
    for (std::size_t blanks = 0; piece[0] == ' ' || piece[0] == '\t'; ++blanks) {  // transport padding
      if (blanks == kHeadBytesMax) bad_multipart("too much after a boundary");
      piece.remove_prefix(1);
      co_await need();
    }
    for (const char c : {'\r', '\n'}) {
      co_await need();
      if (piece[0] != c) bad_multipart("text after a boundary");
      piece.remove_prefix(1);
    }
    co_return true;
  }

  /// The header lines of a part, each with its CRLF, without the blank line after them.
  Task<std::string> head() {
    std::string lines = "\r\n";  // so that a part without any line ends like the others
    while (true) {
      co_await need();
      while (!piece.empty()) {
        lines += piece[0];
        piece.remove_prefix(1);
        if (lines.size() >= 4 && lines.compare(lines.size() - 4, 4, "\r\n\r\n") == 0) {
          co_return lines.substr(2, lines.size() - 4);
        }
        if (lines.size() > kHeadBytesMax) bad_multipart("the head of a part is too long");
      }
    }
  }

  Task<> epilogue() {
    std::size_t bytes = piece.size();
    piece = {};
    while (bytes <= kOutsideBytesMax) {
      const auto more = co_await source.read();
      if (more.empty()) co_return;
      bytes += more.size();
    }
    bad_multipart("too much after the last boundary");
  }

  Task<> skip_preamble() {
    std::size_t bytes = 0;
    while (true) {
      const auto before = co_await until_delimiter();
      if (before.empty()) co_return;
      bytes += before.size();
      if (bytes > kOutsideBytesMax) bad_multipart("no boundary where the first part should begin");
    }
  }
};

MultipartReader::MultipartReader(ByteSource& source, std::string_view content_type)
    : state_(std::make_unique<State>(source, content_type)) {}
MultipartReader::~MultipartReader() = default;

Task<std::optional<FormPart>> MultipartReader::next() {
  auto& s = *state_;
  if (s.at == State::At::preamble) co_await s.skip_preamble();
  if (s.at == State::At::data) {
    while (!(co_await read()).empty()) {
    }
  }
  if (s.at == State::At::end) co_return std::nullopt;
  const bool another = co_await s.after_delimiter();
  if (!another) {
    s.at = State::At::end;
    co_await s.epilogue();
    co_return std::nullopt;
  }
  if (++s.parts > kPartsMax) bad_multipart("too many parts");
  const std::string head = co_await s.head();
  s.at = State::At::data;
  co_return form_part(head);
}

Task<ByteView> MultipartReader::read() {
  auto& s = *state_;
  if (s.at != State::At::data) co_return ByteView();
  const auto piece = co_await s.until_delimiter();
  if (piece.empty()) s.at = State::At::after_data;
  co_return as_bytes(piece);
}

Task<std::string> MultipartReader::text(std::size_t bytes_max) {
  std::string out;
  while (true) {
    const auto piece = as_text(co_await read());
    if (piece.empty()) co_return out;
    if (out.size() + piece.size() > bytes_max) {
      throw Error(Errc::too_large, "field_too_large",
                  "A form field is longer than " + std::to_string(bytes_max) + " bytes");
    }
    out += piece;
  }
}

}  // namespace welkin::wire
