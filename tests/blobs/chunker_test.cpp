#include "blobs/chunker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "blobs/crc32.hpp"
#include "welkin/core/crypto.hpp"

namespace welkin::blobs {
namespace {

using Cuts = std::vector<std::size_t>;

Bytes random_bytes(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes out(n);
  for (auto& b : out) b = static_cast<std::byte>(random());
  return out;
}

/// Sizes of the chunks of `body`, fed in pieces of `piece(random)` bytes.
template <class Next, class Piece>
Cuts cut(ByteView body, Next next, Piece piece, const Cutting& cutting = {}) {
  Chunker chunker(cutting);
  Cuts out;
  std::size_t length = 0;
  while (!body.empty()) {
    ByteView part = body.first(std::min<std::size_t>(body.size(), piece()));
    body = body.subspan(part.size());
    while (!part.empty()) {
      const auto step = next(chunker, part);
      EXPECT_GT(step.taken, 0u);
      part = part.subspan(step.taken);
      length += step.taken;
      if (step.cut) out.push_back(std::exchange(length, 0));
      EXPECT_EQ(chunker.pending(), length);
    }
  }
  if (length > 0) out.push_back(length);
  return out;
}

const auto kFast = [](Chunker& c, ByteView b) { return c.next(b); };
const auto kPlain = [](Chunker& c, ByteView b) { return c.next_plain(b); };
const auto kWhole = [] { return std::size_t{256} << 10; };

TEST(Chunker, FourLanesCutExactlyAsOne) {
  std::mt19937_64 random(7);
  Bytes mixed = random_bytes(24 << 20, 1);
  std::fill(mixed.begin() + (5 << 20), mixed.begin() + (12 << 20),
            std::byte{0});  // a hole: no cuts but at max
  for (std::size_t i = 14 << 20; i < (18u << 20); ++i) mixed[i] = mixed[i % 5000];  // repetition
  const Cuts expected = cut(mixed, kPlain, kWhole);
  EXPECT_GT(expected.size(), 10u);
  EXPECT_EQ(cut(mixed, kFast, kWhole), expected);
  EXPECT_EQ(cut(mixed, kFast, [&] { return mixed.size(); }), expected);
  EXPECT_EQ(cut(mixed, kFast, [&] { return 1 + random() % 70'000; }), expected);
  EXPECT_EQ(cut(mixed, kPlain, [&] { return 1 + random() % 70'000; }), expected);
}

TEST(Chunker, FourLanesCutExactlyAsOneWhereCutsAreDense) {
  std::mt19937_64 random(8);
  for (const Cutting cutting : {Cutting{64, 20'000, 50'000, 12, 8}, Cutting{1, 40'000, 70'000, 15, 14},
                                Cutting{5'000, 33'000, 33'001, 14, 10}}) {
    const Bytes body = random_bytes(3 << 20, random());
    const Cuts expected = cut(body, kPlain, kWhole, cutting);
    EXPECT_GT(expected.size(), 50u);
    EXPECT_EQ(cut(body, kFast, kWhole, cutting), expected);
    EXPECT_EQ(cut(body, kFast, [&] { return 1 + random() % 40'000; }, cutting), expected);
  }
}

TEST(Chunker, SizesStayWithinBoundsAndNearTheAverage) {
  const Bytes body = random_bytes(96 << 20, 3);
  const Cuts cuts = cut(body, kFast, kWhole);
  EXPECT_EQ(std::accumulate(cuts.begin(), cuts.end(), std::size_t{0}), body.size());
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    EXPECT_GE(cuts[i], kChunkBytesMin);
    EXPECT_LE(cuts[i], kChunkBytesMax);
  }
  const double average = static_cast<double>(body.size()) / static_cast<double>(cuts.size());
  EXPECT_GT(average, 0.9 * kChunkBytesAvg);
  EXPECT_LT(average, 1.4 * kChunkBytesAvg);
}

TEST(Chunker, ConstantBytesAreCutAtTheMaximum) {
  const Bytes body(9 << 20, std::byte{0x41});
  EXPECT_EQ(cut(body, kFast, kWhole), (Cuts{4 << 20, 4 << 20, 1 << 20}));
}

TEST(Chunker, AnInsertionMovesFewCuts) {
  const Bytes body = random_bytes(32 << 20, 4);
  Bytes edited = body;
  const Bytes inserted = random_bytes(1000, 5);
  edited.insert(edited.begin() + (9 << 20), inserted.begin(), inserted.end());
  const auto ends = [](const Bytes& bytes, std::size_t from_end) {
    std::vector<std::size_t> out;
    std::size_t at = 0;
    for (const auto n : cut(bytes, kFast, kWhole))
      if (bytes.size() - (at += n) < from_end) out.push_back(bytes.size() - at);
    return out;
  };
  EXPECT_EQ(ends(body, 16 << 20), ends(edited, 16 << 20)) << "the cuts find back together behind the edit";
}

// Stored bodies of all times share chunks only while these stay as they are.
TEST(Chunker, TheCutsAreThoseOfTheStoreFormat) {
  EXPECT_EQ(gear()[0], 0x6e340b9cffb37a98u);  // SHA-256 of one zero byte begins so
  EXPECT_EQ(gear()[255], 0xa8100ae6aa1940d0u);
  Bytes body(6 << 20);
  std::uint32_t x = 1;
  for (auto& b : body) b = static_cast<std::byte>((x = x * 1664525 + 1013904223) >> 24);
  EXPECT_EQ(cut(body, kFast, kWhole), (Cuts{700438, 1551969, 1302046, 1966144, 770859}));
}

TEST(Crc32, IsTheSameWithAndWithoutCarrylessMultiplication) {
  const Bytes body = random_bytes(5000, 6);
  for (std::size_t from = 0; from < 70; ++from)
    for (std::size_t n = 0; n < 700; n += 13)
      ASSERT_EQ(blobs::crc32(from * 77, ByteView(body).subspan(from, n)),
                crc32_plain(from * 77, ByteView(body).subspan(from, n)));
  EXPECT_EQ(blobs::crc32(0, as_bytes("123456789")), 0xcbf43926u);
}

TEST(Crc32, JoinsAsIfComputedInOne) {
  const Bytes body = random_bytes(100'000, 9);
  const ByteView a = ByteView(body).first(33'333), b = ByteView(body).subspan(33'333);
  EXPECT_EQ(crc32_join(blobs::crc32(0, a), blobs::crc32(0, b), b.size()), blobs::crc32(0, body));
}

}  // namespace
}  // namespace welkin::blobs
