#include "blobs/chunker.hpp"

#include <algorithm>

#include "welkin/core/crypto.hpp"

namespace welkin::blobs {
namespace {

constexpr std::size_t kMemory = 64;  // bytes after which the 64-bit hash has forgotten one
constexpr std::size_t kLaneBytes = 4096;
constexpr std::size_t kLanes = 4;

std::array<std::uint64_t, 256> make_gear() {
  std::array<std::uint64_t, 256> out;
  for (unsigned value = 0; value < 256; ++value) {
    const std::byte one{static_cast<std::uint8_t>(value)};
    const Sha256 digest = crypto::sha256(ByteView(&one, 1));
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8 | digest[i];
    out[value] = word;
  }
  return out;
}

const std::uint8_t* raw(ByteView bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }

/// Rolls `hash` over `bytes` until it is below `limit`. @return bytes taken, up to and with the one that
/// matched
struct Found {
  std::size_t taken;
  bool match;
};
Found scan_plain(ByteView bytes, std::uint64_t& hash, std::uint64_t limit) {
  const auto& table = gear();
  const std::uint8_t* p = raw(bytes);
  std::uint64_t h = hash;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    h = (h << 1) + table[p[i]];
    if (h < limit) {
      hash = h;
      return {i + 1, true};
    }
  }
  hash = h;
  return {bytes.size(), false};
}

/// The lowest hash in kLanes neighbouring blocks: whether any byte matches, not which. `hash` is the state
/// before the first block and becomes the one after the last. A lane but the first starts by rolling over the
/// 64 bytes before its block, which gives exactly the state a single pass would have there.
std::uint64_t lowest_of_lanes(const std::uint8_t* p, std::uint64_t& hash) {
  const std::uint64_t* table = gear().data();
  std::uint64_t h0 = hash, h1 = 0, h2 = 0, h3 = 0;
  const std::uint8_t *p1 = p + kLaneBytes, *p2 = p1 + kLaneBytes, *p3 = p2 + kLaneBytes;
  for (std::size_t i = kMemory; i > 0; --i) {
    h1 = (h1 << 1) + table[*(p1 - i)];
    h2 = (h2 << 1) + table[*(p2 - i)];
    h3 = (h3 << 1) + table[*(p3 - i)];
  }
  std::uint64_t m0 = ~0ull, m1 = ~0ull, m2 = ~0ull, m3 = ~0ull;
  for (std::size_t i = 0; i < kLaneBytes; ++i) {
    h0 = (h0 << 1) + table[p[i]];
    h1 = (h1 << 1) + table[p1[i]];
    h2 = (h2 << 1) + table[p2[i]];
    h3 = (h3 << 1) + table[p3[i]];
    m0 = std::min(m0, h0);
    m1 = std::min(m1, h1);
    m2 = std::min(m2, h2);
    m3 = std::min(m3, h3);
  }
  hash = h3;
  return std::min(std::min(m0, m1), std::min(m2, m3));
}

Found scan_lanes(ByteView bytes, std::uint64_t& hash, std::uint64_t limit) {
  constexpr std::size_t window = kLanes * kLaneBytes;
  std::size_t at = 0;
  while (bytes.size() - at >= window) {
    const std::uint64_t before = hash;
    if (lowest_of_lanes(raw(bytes) + at, hash) < limit) {
      hash = before;  // rare, once a chunk: look again to learn where
      const Found found = scan_plain(bytes.subspan(at, window), hash, limit);
      return {at + found.taken, found.match};
    }
    at += window;
  }
  const Found rest = scan_plain(bytes.subspan(at), hash, limit);
  return {at + rest.taken, rest.match};
}

}  // namespace

const std::array<std::uint64_t, 256>& gear() {
  static const std::array<std::uint64_t, 256> table = make_gear();
  return table;
}

template <class Scan>
Chunker::Step Chunker::run(ByteView bytes, Scan scan) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const ByteView rest = bytes.subspan(taken);
    if (length_ < cutting_.min) {
      const auto skipped = std::min<std::uint64_t>(rest.size(), cutting_.min - length_);
      taken += skipped;
      length_ += skipped;
      continue;
    }
    const bool before_avg = length_ < cutting_.avg;
    const std::uint64_t border = before_avg ? cutting_.avg : cutting_.max;
    const std::uint64_t limit = 1ull << (64 - (before_avg ? cutting_.strict_bits : cutting_.loose_bits));
    const auto reach = std::min<std::uint64_t>(rest.size(), border - length_);
    const Found found = scan(rest.first(reach), hash_, limit);
    taken += found.taken;
    length_ += found.taken;
    if (found.match || length_ == cutting_.max) {
      length_ = 0;
      hash_ = 0;
      return {taken, true};
    }
  }
  return {taken, false};
}

Chunker::Step Chunker::next(ByteView bytes) { return run(bytes, scan_lanes); }
Chunker::Step Chunker::next_plain(ByteView bytes) { return run(bytes, scan_plain); }

}  // namespace welkin::blobs
