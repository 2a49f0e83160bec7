#include "welkin/core/text.hpp"

#include <gtest/gtest.h>

namespace welkin::text {
namespace {

TEST(Utf8, RefusesWhatRfc3629Refuses) {
  for (const std::string_view good :
       {"", "abc", "\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const std::string_view bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xed\xa0\x80",
                                     "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xc3",
                                     "\xe6\xbc", "\xf0\x9f\x98", "\xff", "a\xc3(", "\xe6(\xa2"})
    EXPECT_FALSE(is_utf8(bad)) << hex(as_bytes(bad));
}

TEST(Nfc, JoinsWhatMacsTakeApart) {
  EXPECT_EQ(nfc("e\xcc\x81"), "\xc3\xa9");
  EXPECT_EQ(nfc("plain"), "plain");
  EXPECT_EQ(nfc(nfc("A\xcc\x8a\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab")),
            nfc("A\xcc\x8a\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"));
}

TEST(Fold, FoldsBeyondAscii) {
  EXPECT_EQ(fold("\xc3\x89MILE"), "\xc3\xa9mile");
  EXPECT_EQ(fold("Stra\xc3\x9f"
                 "e"),
            "strasse");
}

TEST(Percent, DecodesOnceAndRefusesBadEscapes) {
  EXPECT_EQ(percent_decode("a%20b%2Fc+d"), "a b/c+d");
  EXPECT_EQ(percent_decode("%252e"), "%2e");
  for (const std::string_view bad : {"%", "%2", "%zz", "a%", "%-1", "% 1"})
    EXPECT_EQ(percent_decode(bad), std::nullopt);
}

TEST(Percent, RoundTripsEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
  EXPECT_EQ(percent_encode("a b/\xc3\xa9", "/"), "a%20b/%C3%A9");
}

TEST(Encoding, RoundTripsAndRefuses) {
  Bytes bytes;
  for (int length = 0; length < 70; ++length) {
    EXPECT_EQ(from_hex(hex(bytes)), bytes);
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
    EXPECT_EQ(from_base64url(base64url(bytes)), bytes);
    bytes.push_back(static_cast<std::byte>(length * 37 + 11));
  }
  EXPECT_EQ(base64(as_bytes("foob")), "Zm9vYg==");  // RFC 4648 §10
  EXPECT_EQ(base64url(as_bytes("foob")), "Zm9vYg");
  for (const std::string_view bad : {"Zm9vYg=", "Zm9vYh==", "Z", "Zm9v!A==", "====", "Zm9vY=g="})
    EXPECT_EQ(from_base64(bad), std::nullopt) << bad;
  EXPECT_EQ(from_hex("abc"), std::nullopt);
  EXPECT_EQ(from_hex("zz"), std::nullopt);
}

TEST(Number, TakesDigitsOnly) {
  EXPECT_EQ(number("0"), 0u);
  EXPECT_EQ(number("18446744073709551615"), 18446744073709551615ull);
  for (const std::string_view bad : {"", "-1", "+1", " 1", "1 ", "1e3", "0x1", "18446744073709551616"})
    EXPECT_EQ(number(bad), std::nullopt) << bad;
  EXPECT_EQ(signed_number("-5"), -5);
}

TEST(EqualSecret, ComparesWhole) {
  EXPECT_TRUE(equal_secret("abc", "abc"));
  EXPECT_FALSE(equal_secret("abc", "abd"));
  EXPECT_FALSE(equal_secret("abc", "abcd"));
  EXPECT_TRUE(equal_secret("", ""));
}

TEST(Nearest, FindsTypos) {
  const std::vector<std::string> keys{"listen", "base_url", "log_level"};
  EXPECT_EQ(nearest("lisen", keys), "listen");
  EXPECT_EQ(nearest("baseurl", keys), "base_url");
  EXPECT_EQ(nearest("quota", keys), std::nullopt);
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

}  // namespace
}  // namespace welkin::text
