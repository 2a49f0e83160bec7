#include "welkin/http/message.hpp"

#include <gtest/gtest.h>

#include <set>

#include "welkin/http/problem.hpp"

namespace welkin::http {
namespace {

TEST(Method, NamesGoBothWays) {
  std::set<std::string_view> names;
  for (auto m = Method::get; m != Method::other; m = static_cast<Method>(static_cast<int>(m) + 1)) {
    EXPECT_EQ(method_from(to_string(m)), m) << to_string(m);
    names.insert(to_string(m));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Method::other));
  EXPECT_EQ(method_from("get"), Method::other) << "methods have a case";
  EXPECT_EQ(method_from("BREW"), Method::other);
  EXPECT_EQ(method_from(""), Method::other);
}

TEST(Status, EveryErrorKindHasOneWithItsPhraseAndType) {
  for (int code = 0; code <= static_cast<int>(Errc::no_space); ++code) {
    const auto status = status_of(static_cast<Errc>(code));
    EXPECT_GE(static_cast<int>(status), 400);
    EXPECT_NE(reason(status), "Unknown") << code;
    EXPECT_FALSE(error_type(status).empty());
    if (status != Status::internal) {
      EXPECT_NE(error_type(status), "InternalError") << code;
    }
  }
  EXPECT_EQ(reason(Status::not_found), "Not Found");
}

TEST(Fields, SetAddRemove) {
  Fields f;
  f.add("Vary", "a");
  f.add("vary", "b");
  f.add("X", "");
  EXPECT_EQ(f.get("VARY"), "a");
  EXPECT_EQ(f.joined("vary"), "a, b");
  EXPECT_TRUE(f.has("x"));
  EXPECT_EQ(f.get("x"), "");
  EXPECT_EQ(f.get("y"), "");
  EXPECT_FALSE(f.has("y"));
  f.set("VARY", f.get("vary"));
  EXPECT_EQ(f.size(), 2u);
  EXPECT_EQ(f.joined("vary"), "a");
  f.remove("vary");
  EXPECT_EQ(f.size(), 1u);
  f.set("Y", "1");
  EXPECT_EQ(f.joined("y"), "1");
  f.clear();
  EXPECT_EQ(f.size(), 0u);
  EXPECT_EQ(f.begin(), f.end());
  EXPECT_FALSE(f.has("y"));
  f.add("Z", "2");
  EXPECT_EQ(f.size(), 1u);
  EXPECT_EQ(f.begin()->name, "Z");
}

TEST(Fields, AddingOwnValuesIsSafe) {
  Fields f;
  f.add("a", "short");
  for (int i = 0; i < 100; ++i) f.add("b", f.get("a"));
  EXPECT_EQ(f.size(), 101u);
  for (const auto& field : f) EXPECT_EQ(field.value, "short");
}

TEST(Problem, IsOneShapeOfJson) {
  EXPECT_EQ(error_json(Status::not_found, "no_such_file", "not \"here\"\n", "id-1"),
            "{\"status\":\"404 Not Found\",\"error\":\"not \\\"here\\\"\\u000a\",\"message\":\"not "
            "\\\"here\\\"\\u000a\","
            "\"error_type\":\"NotFound\",\"slug\":\"no_such_file\",\"request_id\":\"id-1\"}");
  std::string out;
  append_json_string(out, "\xff");
  EXPECT_EQ(out, "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace welkin::http
