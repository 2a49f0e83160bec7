#include "welkin/http/conditional.hpp"

#include <gtest/gtest.h>

#include "welkin/core/error.hpp"

namespace welkin::http {
namespace {

constexpr auto kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr auto kExact = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr auto kAfter = "Sun, 06 Nov 1994 08:49:38 GMT";

TEST(Etags, Lists) {
  EXPECT_TRUE(parse_etags("*")->any);
  EXPECT_EQ(parse_etags("\"a\"")->tags, std::vector<std::string>{"\"a\""});
  EXPECT_EQ(parse_etags("\"a\", W/\"b\" ,,\"c,d\"")->tags,
            (std::vector<std::string>{"\"a\"", "W/\"b\"", "\"c,d\""}));
  EXPECT_EQ(parse_etags("\"\"")->tags.size(), 1u);
  for (const auto* bad :
       {"", " ", "a", "\"a", "a\"", "\"a\" \"b\"", "*,\"a\"", "w/\"a\"", "W/a", "\"a\"b", "\"a b\"", ","})
    EXPECT_FALSE(parse_etags(bad)) << bad;
}

TEST(Etags, StrongAndWeakComparison) {
  const EtagList list{false, {"W/\"1\"", "\"2\""}};
  EXPECT_FALSE(strong_match(list, "\"1\""));
  EXPECT_TRUE(strong_match(list, "\"2\""));
  EXPECT_FALSE(strong_match(list, "W/\"2\""));
  EXPECT_TRUE(weak_match(list, "\"1\""));
  EXPECT_TRUE(weak_match(list, "W/\"2\""));
  EXPECT_FALSE(weak_match(list, "\"3\""));
  const EtagList any{true, {}};
  EXPECT_TRUE(strong_match(any, "\"1\""));
  EXPECT_TRUE(weak_match(any, "\"1\""));
  EXPECT_FALSE(strong_match(any, ""));
  EXPECT_FALSE(weak_match(any, ""));
}

struct Case {
  Method method;
  std::vector<std::pair<const char*, const char*>> headers;
  const char* etag;  // "" : the target does not exist
  Precondition expected;
};

TEST(Preconditions, FollowTheOrderOfTheRfc) {
  using enum Precondition;
  const Micros modified = *times::from_http_date(kExact) + 999'999;
  const Case cases[] = {
      {Method::get, {}, "\"1\"", proceed},
      {Method::put, {{"If-Match", "\"1\""}}, "\"1\"", proceed},
      {Method::put, {{"If-Match", "\"2\""}}, "\"1\"", failed},
      {Method::put, {{"If-Match", "W/\"1\""}}, "\"1\"", failed},
      {Method::put, {{"If-Match", "\"0\", \"1\""}}, "\"1\"", proceed},
      {Method::put, {{"If-Match", "\"0\""}, {"If-Match", "\"1\""}}, "\"1\"", proceed},
      {Method::put, {{"If-Match", "*"}}, "\"1\"", proceed},
      {Method::put, {{"If-Match", "*"}}, "", failed},
      {Method::put, {{"If-Match", "\"1\""}}, "", failed},
      {Method::put, {{"If-None-Match", "*"}}, "", proceed},
      {Method::put, {{"If-None-Match", "*"}}, "\"1\"", failed},
      {Method::put, {{"If-None-Match", "\"1\""}}, "\"1\"", failed},
      {Method::put, {{"If-None-Match", "\"2\""}}, "\"1\"", proceed},
      {Method::get, {{"If-None-Match", "\"1\""}}, "\"1\"", not_modified},
      {Method::get, {{"If-None-Match", "W/\"1\""}}, "\"1\"", not_modified},
      {Method::head, {{"If-None-Match", "*"}}, "\"1\"", not_modified},
      {Method::get, {{"If-None-Match", "\"2\""}}, "\"1\"", proceed},
      {Method::propfind, {{"If-None-Match", "\"1\""}}, "\"1\"", failed},
      {Method::get, {{"If-Modified-Since", kExact}}, "\"1\"", not_modified},
      {Method::get, {{"If-Modified-Since", kAfter}}, "\"1\"", not_modified},
      {Method::get, {{"If-Modified-Since", kBefore}}, "\"1\"", proceed},
      {Method::get, {{"If-Modified-Since", "rubbish"}}, "\"1\"", proceed},
      {Method::put, {{"If-Modified-Since", kAfter}}, "\"1\"", proceed},
      {Method::put, {{"If-Unmodified-Since", kExact}}, "\"1\"", proceed},
      {Method::put, {{"If-Unmodified-Since", kBefore}}, "\"1\"", failed},
      {Method::put, {{"If-Unmodified-Since", kBefore}}, "", proceed},
      // A tag beats a date.
      {Method::put, {{"If-Match", "\"1\""}, {"If-Unmodified-Since", kBefore}}, "\"1\"", proceed},
      {Method::get, {{"If-None-Match", "\"2\""}, {"If-Modified-Since", kAfter}}, "\"1\"", proceed},
      // Both kinds: If-Match first.
      {Method::get, {{"If-Match", "\"2\""}, {"If-None-Match", "\"1\""}}, "\"1\"", failed},
      {Method::get, {{"If-Match", "\"1\""}, {"If-None-Match", "\"1\""}}, "\"1\"", not_modified},
  };
  int at = 0;
  for (const auto& c : cases) {
    Fields f;
    for (const auto& [name, value] : c.headers) f.add(name, value);
    EXPECT_EQ(evaluate(c.method, f, c.etag, modified), c.expected) << "case " << at;
    ++at;
  }
}

TEST(Preconditions, MalformedListsAreErrors) {
  for (const auto* name : {"If-Match", "If-None-Match"}) {
    Fields f;
    f.add(name, "not-quoted");
    try {
      evaluate(Method::get, f, "\"1\"", 0);
      FAIL() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::invalid);
      EXPECT_STREQ(e.slug(), "bad_precondition");
    }
  }
}

}  // namespace
}  // namespace welkin::http
