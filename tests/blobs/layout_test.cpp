#include "blobs/layout.hpp"

#include <gtest/gtest.h>

#include "welkin/core/crypto.hpp"

namespace welkin::blobs {
namespace {

TEST(Layout, NamesAreReadBack) {
  const Sha256 sha256 = crypto::sha256("abc");
  for (const std::int64_t id : {1ll, 63ll, 64ll, 0x3f2cll, 0x7fffffffffffffffll}) {
    const auto name = parse_chunk_file_name(chunk_file_name(sha256, ChunkId{id}));
    ASSERT_TRUE(name);
    EXPECT_EQ(name->id.value, id);
    EXPECT_EQ(name->sha256, sha256);
    EXPECT_EQ(parse_spool_file_name(spool_file_name(ChunkId{id})), ChunkId{id});
  }
  EXPECT_EQ(chunk_file_name(sha256, ChunkId{0x3f2c}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad.3f2c");
  EXPECT_EQ(spool_file_name(ChunkId{0x3f2c}), "3f2c.part");
}

TEST(Layout, OneBlockOfIdsIsOneDirectory) {
  EXPECT_EQ(area_of(ChunkId{64}), area_of(ChunkId{127}));
  EXPECT_NE(area_of(ChunkId{127}), area_of(ChunkId{128}));
  EXPECT_EQ(area_of(ChunkId{0x3f2c}).directory, 0x3f2c >> 6 & 0xff);
}

TEST(Layout, OtherNamesAreNoneOfOurs) {
  const std::string hash(64, 'a');
  for (const auto& name :
       {std::string(), std::string("store.id"), hash, hash + ".", hash + ".0", hash + ".01", hash + ".3F",
        hash + ".-1", hash + ".1x", hash + "x1", std::string(64, 'A') + ".1", std::string(63, 'a') + ".1",
        hash + ".ffffffffffffffff", hash + ".1.part"})
    EXPECT_FALSE(parse_chunk_file_name(name)) << name;
  for (const char* name : {".part", "0.part", "01.part", "1.PART", "1.part.part", "g.part", "1"})
    EXPECT_FALSE(parse_spool_file_name(name)) << name;
}

}  // namespace
}  // namespace welkin::blobs
