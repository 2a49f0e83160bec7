#include "welkin/core/crypto.hpp"

#include <gtest/gtest.h>

#include <set>

#include "welkin/core/text.hpp"

namespace welkin::crypto {
namespace {

std::string hex(const Sha256& digest) { return text::hex(std::as_bytes(std::span(digest))); }

TEST(Sha256, KnownAnswers) {  // FIPS 180-4
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, StreamEqualsWholeAndStartsAnew) {
  Sha256Stream stream;
  for (int round = 0; round < 2; ++round) {
    stream.update(as_bytes("a"));
    stream.update(as_bytes("bc"));
    EXPECT_EQ(stream.finish(), sha256("abc"));
  }
}

TEST(DigestStream, KnownAnswers) {  // RFC 1321, FIPS 180-4
  const std::pair<Digest, const char*> kAnswers[] = {
      {Digest::md5, "900150983cd24fb0d6963f7d28e17f72"},
      {Digest::sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"},
      {Digest::sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {Digest::sha512,
       "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
       "454d4423643ce80e2a9ac94fa54ca49f"}};
  for (const auto& [kind, answer] : kAnswers) {
    DigestStream stream(kind);
    stream.update(as_bytes("a"));
    stream.update(as_bytes("bc"));
    EXPECT_EQ(text::hex(stream.finish()), answer);
  }
}

TEST(Hmac, KnownAnswer) {  // RFC 4231 case 2
  EXPECT_EQ(hex(hmac_sha256(as_bytes("Jefe"), as_bytes("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, AnEmptyKeyIsAKeyAndNotTheOneBefore) {
  hmac_sha256(as_bytes("Jefe"), as_bytes("x"));
  EXPECT_EQ(hex(hmac_sha256({}, {})), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
  const std::string long_key(131, '\xaa');  // RFC 4231 case 6
  EXPECT_EQ(hex(hmac_sha256(as_bytes(long_key),
                            as_bytes("Test Using Larger Than Block-Size Key - Hash Key First"))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hex(hmac_sha256(as_bytes("Jefe"), as_bytes("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hkdf, SeparatesPurposes) {
  const auto secret = as_bytes("a secret");
  EXPECT_EQ(hkdf_sha256(secret, "one"), hkdf_sha256(secret, "one"));
  EXPECT_NE(hkdf_sha256(secret, "one"), hkdf_sha256(secret, "two"));
}

// RFC 5869 case 3: no salt, no info; its first 32 bytes.
TEST(Hkdf, KnownAnswer) {
  const auto secret = *text::from_hex("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b");
  EXPECT_EQ(hex(hkdf_sha256(secret, "")), "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
}

TEST(RandomToken, HasTheLengthAndDoesNotRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_token(32));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(seen.begin()->size(), 43u);
}

}  // namespace
}  // namespace welkin::crypto
