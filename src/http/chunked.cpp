#include "http/chunked.hpp"

#include <algorithm>
#include <cstring>

#include "http/ascii.hpp"
#include "http/head.hpp"

namespace welkin::http {

bool ChunkDecoder::fail(const char* message) {
  error_ = message;
  return false;
}

ChunkDecoder::Result ChunkDecoder::decode(std::span<char> piece) {
  Result out;
  while (out.consumed < piece.size() && state_ != State::finished && !error_) {
    if (state_ != State::data) {
      if (!step(piece[out.consumed])) break;
      ++out.consumed;
      continue;
    }
    const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(left_, piece.size() - out.consumed));
    if (out.produced != out.consumed)
      std::memmove(piece.data() + out.produced, piece.data() + out.consumed, run);
    out.produced += run;
    out.consumed += run;
    left_ -= run;
    if (left_ == 0) state_ = State::data_cr;
  }
  return out;
}

bool ChunkDecoder::step(char c) {
  switch (state_) {
    case State::size:
      if (const int digit = ascii::hex_digit(c); digit >= 0) {
        if (++size_digits_ > 16 || left_ >> 59 != 0) return fail("a chunk size is too large");
        left_ = left_ << 4 | static_cast<unsigned>(digit);
        return true;
      }
      if (size_digits_ == 0) return fail("a chunk has no size");
      extension_bytes_ = 0;
      if (c == ';') {
        state_ = State::extension;
        return true;
      }
      if (c != '\r') return fail("a chunk size is malformed");
      state_ = State::size_lf;
      return true;
    case State::extension:
      if (c == '\r') {
        state_ = State::size_lf;
        return true;
      }
      if (!ascii::is(c, ascii::kValue)) return fail("a chunk extension holds a control character");
      if (++extension_bytes_ > kChunkExtensionBytesMax || ++extensions_bytes_ > kChunkExtensionsBytesMax)
        return fail("the chunk extensions are too long");
      return true;
    case State::size_lf:
      if (c != '\n') return fail("a chunk size line does not end in CRLF");
      size_digits_ = 0;
      state_ = left_ == 0 ? State::trailer : State::data;
      return true;
    case State::data_cr:
      if (c != '\r') return fail("a chunk is longer than it said");
      state_ = State::data_lf;
      return true;
    case State::data_lf:
      if (c != '\n') return fail("a chunk does not end in CRLF");
      state_ = State::size;
      return true;
    case State::trailer:
      if (++trailer_bytes_ > kTrailerBytesMax) return fail("the trailers are too long");
      if (c == '\r')
        state_ = State::trailer_lf;
      else if (c == '\n')
        return fail("a trailer line ends without CR");
      else
        line_ += c;
      return true;
    case State::trailer_lf:
      if (c != '\n') return fail("a trailer holds a control character");
      return trailer_line();
    case State::data:
    case State::finished:
      break;
  }
  return true;
}

bool ChunkDecoder::trailer_line() {
  if (line_.empty()) {
    state_ = State::finished;
    return true;
  }
  std::string_view name;
  std::string_view value;
  if (const char* wrong = check_field_line(line_, name, value)) return fail(wrong);
  if (++trailers_ > kTrailersMax) return fail("there are too many trailers");
  line_.clear();
  state_ = State::trailer;
  return true;
}

}  // namespace welkin::http
