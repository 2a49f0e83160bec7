#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "welkin/blobs/store.hpp"
#include "welkin/core/bytes.hpp"

namespace welkin::blobs {

/// Where a body may be cut. `strict_bits` and `loose_bits` are how many top bits of the rolling hash must be
/// zero before and after `avg` bytes: asking for 4 bits more, then 4 less (FastCDC's normalisation 2) pulls
/// sizes together.
struct Cutting {
  std::uint64_t min = kChunkBytesMin, avg = kChunkBytesAvg, max = kChunkBytesMax;
  unsigned strict_bits = 22, loose_bits = 18;
};

/// One 64-bit word for each byte value: the first 8 bytes, big-endian, of SHA-256 over that byte. Dedup
/// between bodies of different years rests on it, so it never changes.
const std::array<std::uint64_t, 256>& gear();

/// Cuts one body by content. `h = (h << 1) + gear[b]` forgets a byte after 64 more, so equal content finds
/// equal cuts wherever it lies. The hash starts anew at the `min`-th byte of each chunk; bytes before it are
/// never looked at.
class Chunker {
 public:
  struct Step {
    std::size_t taken;  // bytes of the input that belong to the current chunk
    bool cut;           // the chunk ends after them
  };

  explicit Chunker(const Cutting& cutting = {}) : cutting_(cutting) {}

  /// Takes bytes up to the next cut or the end of `bytes`. Four lanes over neighbouring blocks.
  Step next(ByteView bytes);
  /// The same, byte by byte: what `next` is measured and proved against.
  Step next_plain(ByteView bytes);

  /// Bytes of the chunk that is not cut yet.
  std::uint64_t pending() const { return length_; }

 private:
  template <class Scan>
  Step run(ByteView bytes, Scan scan);

  Cutting cutting_;
  std::uint64_t length_ = 0;  // of the current chunk
  std::uint64_t hash_ = 0;
};

}  // namespace welkin::blobs
