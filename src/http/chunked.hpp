#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace welkin::http {

inline constexpr std::size_t kChunkExtensionBytesMax = 1024;    // of one chunk
inline constexpr std::size_t kChunkExtensionsBytesMax = 16384;  // of one body
inline constexpr std::size_t kTrailerBytesMax = 8192;
inline constexpr std::size_t kTrailersMax = 32;

/// Takes the chunked coding off a body (RFC 9112 §7.1), in place, in whatever pieces it comes. Strict: sizes
/// are 1 to 16 hex digits, lines end in CRLF, extensions and trailers are bounded, checked and dropped. Pure:
/// no I/O.
class ChunkDecoder {
 public:
  struct Result {
    std::size_t consumed = 0;  // coded bytes taken from the front of the piece
    std::size_t produced = 0;  // payload bytes, moved to the front of the piece
  };

  void reset() { *this = ChunkDecoder(); }
  /// Takes all of `piece` unless the body ends or fails within it.
  Result decode(std::span<char> piece);
  bool finished() const { return state_ == State::finished; }
  /// What is wrong with the coding; nullptr while all is well.
  const char* error() const { return error_; }

 private:
  enum class State : std::uint8_t {
    size,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer,
    trailer_lf,
    finished
  };
  bool fail(const char* message);
  bool step(char c);
  bool trailer_line();

  State state_ = State::size;
  unsigned size_digits_ = 0;
  std::uint64_t left_ = 0;  // of the chunk
  std::size_t extension_bytes_ = 0;
  std::size_t extensions_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::size_t trailers_ = 0;
  std::string line_;  // the trailer line being read
  const char* error_ = nullptr;
};

}  // namespace welkin::http
