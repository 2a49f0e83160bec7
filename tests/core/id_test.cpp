#include "welkin/core/id.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "welkin/core/error.hpp"

namespace welkin {
namespace {

std::array<std::uint8_t, 16> key(std::uint8_t fill) {
  std::array<std::uint8_t, 16> out;
  out.fill(fill);
  return out;
}

TEST(PublicIds, IsABijectionForEveryKind) {
  const PublicIds ids(key(7));
  std::mt19937_64 random(1);
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (1 + i % 62)) | 1;
    for (const IdKind kind : {IdKind::folder, IdKind::file, IdKind::user}) {
      const auto text = ids.encode(kind, value);
      EXPECT_EQ(ids.decode(kind, text), value);
      seen.insert(text);
    }
  }
  EXPECT_GT(seen.size(), 3000u);
}

TEST(PublicIds, LooksLikeAUuidWithoutVersionBits) {
  const auto text = PublicIds(key(7)).encode(IdKind::file, 1);
  ASSERT_EQ(text.size(), 36u);
  for (const std::size_t i : {8u, 13u, 18u, 23u}) EXPECT_EQ(text[i], '-');
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef-"), std::string::npos);
}

TEST(PublicIds, OtherKindOtherKeyAndRandomTextAreNotFound) {
  const PublicIds ids(key(7)), others(key(8));
  const auto text = ids.encode(IdKind::file, 42);
  EXPECT_EQ(ids.decode(IdKind::folder, text), std::nullopt);
  EXPECT_EQ(others.decode(IdKind::file, text), std::nullopt);
  EXPECT_EQ(ids.decode(IdKind::file, "00000000-0000-0000-0000-000000000000"), std::nullopt);
}

TEST(PublicIds, TakesUpperCaseAndRefusesBadSyntax) {
  const PublicIds ids(key(7));
  auto text = ids.encode(IdKind::file, 42);
  auto upper = text;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(ids.decode(IdKind::file, upper), 42);
  for (const std::string& bad :
       {std::string(), std::string("1"), text + "0", text.substr(1), std::string(36, '-'),
        std::string(36, '0'), text.substr(0, 35) + "g", std::string("../../etc/passwd")}) {
    try {
      ids.decode(IdKind::file, bad);
      FAIL() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::invalid);
      EXPECT_STREQ(e.slug(), "bad_id");
    }
  }
}

// Links and bookmarks hold these texts: the mapping of a given key must never change.
TEST(PublicIds, MappingIsFixed) {
  std::array<std::uint8_t, 16> k{};
  for (std::uint8_t i = 0; i < 16; ++i) k[i] = i;
  EXPECT_EQ(PublicIds(k).encode(IdKind::file, 1), "169ad311-f94b-b32e-b766-dd50d48c6c09");
}

}  // namespace
}  // namespace welkin
