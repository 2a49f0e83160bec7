#include "http/path.hpp"

#include <gtest/gtest.h>

namespace welkin::http {
namespace {

std::string decoded(std::string_view path) {
  std::vector<std::string> segments = {"left", "over", "from", "before"};
  bool slash = false;
  if (decode_path(path, segments, slash)) return "bad";
  std::string out;
  for (const auto& s : segments) out += "[" + s + "]";
  return out + (slash ? "/" : "");
}

TEST(Path, SplitsThenDecodesOnce) {
  EXPECT_EQ(decoded("/"), "/");
  EXPECT_EQ(decoded("/a/b"), "[a][b]");
  EXPECT_EQ(decoded("/a/b/"), "[a][b]/");
  EXPECT_EQ(decoded("//a///b//"), "[a][b]/");
  EXPECT_EQ(decoded("/a%20b/c+d"), "[a b][c+d]");
  EXPECT_EQ(decoded("/%C3%A4/\xC3\xA4"), "[\xC3\xA4][\xC3\xA4]");
  EXPECT_EQ(decoded("/%252e%252e/x"), "[%2e%2e][x]");
  EXPECT_EQ(decoded("/a;v=1/b"), "[a;v=1][b]");
  EXPECT_EQ(decoded("/..;/x"), "[..;][x]");
  EXPECT_EQ(decoded("/.../..a/a../.a"), "[...][..a][a..][.a]");
  EXPECT_EQ(decoded("/a%5Cb/..%5Cx"), "[a\\b][..\\x]");
  EXPECT_EQ(decoded("/~user/(x)!'*"), "[~user][(x)!'*]");
}

TEST(Path, RefusesTricks) {
  for (const auto* path : {"/..",           "/.",         "/a/../b", "/a/./b",     "/%2e%2e/x",
                           "/%2E",          "/.%2e/",     "/%2e./",  "/a%2fb",     "/a%2Fb",
                           "/..%2f..%2f",   "/a%00b",     "/%00",    "/a%0ab",     "/a%0d%0ab",
                           "/a%7f",         "/%c0%ae",    "/%c0%af", "/%e0%80%af", "/%f0%80%80%af",
                           "/%ff",          "/%ed%a0%80", "/%c3",    "/%",         "/%4",
                           "/%zz",          "/%u0041",    "/a%",     "/\xff",      "/%c2%85",
                           "/%f5%80%80%80", "/a/%2e%2e",  "/%1b[31m"})
    EXPECT_EQ(decoded(path), "bad") << path;
}

TEST(Query, FindsAndDecodes) {
  EXPECT_EQ(find_query("a=1&b=2", "b"), "2");
  EXPECT_EQ(find_query("a=1&a=2", "a"), "1");
  EXPECT_EQ(find_query("inline", "inline"), "");
  EXPECT_EQ(find_query("a=x+y%2B", "a"), "x y+");
  EXPECT_EQ(find_query("a+b=1", "a b"), "1");
  EXPECT_EQ(find_query("%61=1", "a"), "1");
  EXPECT_EQ(find_query("a==b", "a"), "=b");
  EXPECT_EQ(find_query("&&a=1&", "a"), "1");
  EXPECT_EQ(find_query("ab=1", "a"), std::nullopt);
  EXPECT_EQ(find_query("", "a"), std::nullopt);
}

TEST(Query, ChecksItsEncoding) {
  for (const auto* good : {"", "a", "a=b&c", "a=%C3%A4", "a=%0A", "a=\xC3\xA4", "%20=1"})
    EXPECT_EQ(check_query(good), nullptr) << good;
  for (const auto* bad : {"a=%", "a=%4", "a=%zz", "%ff=1", "a=%00", "a=%c0%80", "a=1&b=%"})
    EXPECT_NE(check_query(bad), nullptr) << bad;
}

TEST(Cookie, Values) {
  EXPECT_EQ(find_cookie("a=1; b=2;c=\"3\"", "a"), "1");
  EXPECT_EQ(find_cookie("a=1; b=2;c=\"3\"", "b"), "2");
  EXPECT_EQ(find_cookie("a=1; b=2;c=\"3\"", "c"), "3");
  EXPECT_EQ(find_cookie("a=1; aa=2", "aa"), "2");
  EXPECT_EQ(find_cookie("a=b=c", "a"), "b=c");
  EXPECT_EQ(find_cookie("A=1", "a"), "") << "names of cookies have a case";
  EXPECT_EQ(find_cookie(";;=;x", "x"), "");
}

}  // namespace
}  // namespace welkin::http
