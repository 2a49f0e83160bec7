#include <gtest/gtest.h>

#include "welkin/core/error.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {
namespace {

TEST(Names, AreNormalisedAndOtherwiseKept) {
  EXPECT_EQ(require_name("a b+c%20#?&.txt", Kind::file), "a b+c%20#?&.txt");
  EXPECT_EQ(require_name("e\xcc\x81", Kind::file), "\xc3\xa9");
  EXPECT_EQ(require_name("\xf0\x9f\x98\x80", Kind::folder), "\xf0\x9f\x98\x80");
  EXPECT_EQ(require_name(std::string(255, 'x'), Kind::file).size(), 255u);
  EXPECT_EQ(require_name("...", Kind::file), "...");
  EXPECT_EQ(require_name(" leading and trailing ", Kind::file), " leading and trailing ");
  EXPECT_EQ(require_name("CON", Kind::file), "CON");
}

TEST(Names, RefusesWhatNoClientCanLiveWith) {
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("a\\b"),
        std::string("a\0b", 3), std::string("a\nb"), std::string("\x7f"), std::string("\xc2\x85"),
        std::string("\xff"), std::string("\xc0\xaf"), std::string(256, 'x'), std::string("\xed\xa0\x80")}) {
    for (const Kind kind : {Kind::file, Kind::folder}) {
      try {
        require_name(bad, kind);
        FAIL() << bad;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::invalid);
        EXPECT_STREQ(e.slug(), "bad_name");
        EXPECT_EQ(
            std::string(e.what()).rfind(kind == Kind::file ? "Invalid file name" : "Invalid folder name", 0),
            0u);
      }
    }
  }
}

TEST(Names, TheirLengthCountsAfterNormalisation) {
  // 128 letters of three bytes in NFD are 256 bytes in NFC.
  std::string decomposed;
  for (int i = 0; i < 127; ++i) decomposed += "e\xcc\x81";
  EXPECT_EQ(require_name(decomposed, Kind::file).size(), 254u);
  decomposed += "e\xcc\x81";
  EXPECT_THROW(require_name(decomposed, Kind::file), Error);
}

TEST(MimeType, ClientThenMagicThenExtension) {
  const auto png = as_bytes("\x89PNG\r\n\x1a\n....");
  EXPECT_EQ(choose_mime_type("text/plain", png, "a.jpg"), "text/plain");
  EXPECT_EQ(choose_mime_type("Text/HTML; charset=utf-8", {}, "a"), "text/html");
  EXPECT_EQ(choose_mime_type("application/octet-stream", png, "a.jpg"), "image/png");
  EXPECT_EQ(choose_mime_type("", {}, "PHOTO.JPG"), "image/jpeg");
  EXPECT_EQ(choose_mime_type("", as_bytes("hello"), "notes"), "application/octet-stream");
  EXPECT_EQ(choose_mime_type("", {}, ".txt."), "application/octet-stream");
}

TEST(MimeType, WhatIsNoTypeIsNotStored) {
  for (const char* bad :
       {"text", "/plain", "text/", "te xt/plain", "text/plain\r\nX: y", "text/<script>", "a/b/c"})
    EXPECT_EQ(choose_mime_type(bad, {}, "x"), "application/octet-stream") << bad;
  EXPECT_EQ(choose_mime_type(std::string(100, 'a') + "/" + std::string(100, 'b'), {}, "x"),
            "application/octet-stream");
}

}  // namespace
}  // namespace welkin::files
