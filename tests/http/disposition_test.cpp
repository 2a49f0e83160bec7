#include <gtest/gtest.h>

#include "welkin/http/body.hpp"

namespace welkin::http {
namespace {

TEST(Disposition, HasAFallbackAndTheRealName) {
  EXPECT_EQ(content_disposition("attachment", "a.txt"),
            "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt");
  EXPECT_EQ(content_disposition("inline", "\xC3\xA4 b.txt"),
            "inline; filename=\"_ b.txt\"; filename*=UTF-8''%C3%A4%20b.txt");
  EXPECT_EQ(content_disposition("attachment", "\xF0\x9F\x98\x80.png"),
            "attachment; filename=\"_.png\"; filename*=UTF-8''%F0%9F%98%80.png");
}

TEST(Disposition, NothingBreaksOutOfIt) {
  const std::string names[] = {
      "a\r\nSet-Cookie: x=1",
      "a\nb",
      "a\rb",
      std::string("a\0b", 3),
      "a\"; filename=\"b.exe",
      "a;b",
      "a\\b",
      "../../etc/passwd",
      "a/b",
      "a%22b",
      "\xE2\x80\xAE"
      "fdp.exe",
      "a\xE2\x81\xA6"
      "b",
      "a\xC2\x85"
      "b",
      "a\x7f"
      "b",
      "\xD8\x9C"
      "x",
      "\xff\xfe",
      "",
      "\xE2\x80\xA8",
      "'",
  };
  for (const auto& name : names) {
    const auto value = content_disposition("attachment", name);
    const auto open = value.find('"');
    const auto close = value.find('"', open + 1);
    ASSERT_NE(close, value.npos);
    const auto fallback = value.substr(open + 1, close - open - 1);
    EXPECT_FALSE(fallback.empty()) << name;
    EXPECT_EQ(fallback.find_first_of("\"\\;%/'"), fallback.npos) << value;
    EXPECT_EQ(value.substr(close + 1, 19), "; filename*=UTF-8''") << value;
    for (const char c : value) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << value;
    const auto extended = value.substr(close + 20);
    EXPECT_EQ(extended.find_first_of("\"\\;/ '"), extended.npos) << value;
    EXPECT_EQ(extended.find("%0"), extended.npos) << value;
    EXPECT_EQ(extended.find("%E2%80%AE"), extended.npos) << value;
    EXPECT_EQ(extended.find("%E2%81%A6"), extended.npos) << value;
  }
}

TEST(Disposition, OnlyAFewTypesAreShownInline) {
  for (const auto* type : {"image/jpeg", "image/png", "IMAGE/GIF", "image/webp", "image/avif", "video/mp4",
                           "video/webm", "audio/mpeg", "audio/ogg", "audio/wav", "audio/flac",
                           "application/pdf", "text/plain", "text/plain; charset=latin1"})
    EXPECT_TRUE(may_show_inline(type)) << type;
  for (const auto* type :
       {"text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/xml",
        "text/javascript", "application/javascript", "text/css", "multipart/related", "message/rfc822",
        "application/x-shockwave-flash", "application/octet-stream", "", "text/plainx", "image/png,text/html",
        "text/html;image/png", "text/markdown"})
    EXPECT_FALSE(may_show_inline(type)) << type;
}

TEST(SafeContentType, KeepsThePassiveAndTakesLifeFromTheRest) {
  const auto same = [](const char* type) { EXPECT_EQ(safe_content_type(type), type); };
  same("image/png");
  same("video/mp4");
  same("audio/flac");
  same("font/woff2");
  same("application/pdf");
  same("application/zip");
  same("application/json");
  same("application/vnd.openxmlformats-officedocument.wordprocessingml.document");
  EXPECT_EQ(safe_content_type("text/plain"), "text/plain; charset=utf-8");
  EXPECT_EQ(safe_content_type("text/calendar; charset=x"), "text/calendar; charset=utf-8");
  EXPECT_EQ(safe_content_type("TEXT/HTML"), "text/plain; charset=utf-8");
  for (const auto* type :
       {"text/html", "text/xml", "text/javascript", "text/css", "text/ecmascript", "text/xsl"})
    EXPECT_EQ(safe_content_type(type), "text/plain; charset=utf-8") << type;
  for (const auto* type :
       {"image/svg+xml", "application/xhtml+xml", "application/xml", "application/javascript",
        "application/x-javascript", "application/wasm", "application/x-shockwave-flash", "multipart/related",
        "message/rfc822", "x-y/z", "", "image", "/", "image/", "image/p ng", "image/png\r\nX: y",
        "application/java-archive", "application/rss+xml", "model/vrml"})
    EXPECT_EQ(safe_content_type(type), "application/octet-stream") << type;
}

}  // namespace
}  // namespace welkin::http
