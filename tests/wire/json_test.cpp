#include "welkin/wire/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "welkin/core/error.hpp"

namespace welkin::wire {
namespace {

using nlohmann::json;

struct Refusal {
  Errc code = Errc::internal;
  std::string slug, text;
};

template <class F>
Refusal refusal(F f) {
  try {
    f();
  } catch (const Error& e) {
    return {e.code(), e.slug(), e.what()};
  }
  return {Errc::internal, "none", ""};
}

std::string nested(int levels, char open, char close) {
  return std::string(static_cast<std::size_t>(levels), open) +
         std::string(static_cast<std::size_t>(levels), close);
}

TEST(Json, ReadsWhatTheLibraryReads) {
  for (const char* text :
       {"{}", "[]", "null", "true", "-1", "18446744073709551615", "1.5e3", "\"\"", " [1, 2 ,3]\n",
        R"({"a":{"b":[{"c":null},false,"x"]},"d":[]})", R"(["\u00e9\ud83d\ude00\/\"\\\b\f\n\r\t"])",
        R"({"":1,"é":"漢","a\u0000b":"\u0000"})", "[[],[[]],{}]"}) {
    EXPECT_EQ(parse_json(text), json::parse(text)) << text;
  }
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1,",
                           "{\"a\":1,}",
                           "[1,]",
                           "{a:1}",
                           "{'a':1}",
                           "nul",
                           "01",
                           "+1",
                           ".5",
                           "1.",
                           "NaN",
                           "Infinity",
                           "1 2",
                           "{} {}",
                           "[1]x",
                           "// c\n1",
                           "\"a",
                           "\"\t\"",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\\udc00\\ud800\"",
                           "1e999",
                           "\xEF\xBB\xBF{}",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\xe2\x82\""}) {
    const auto r = refusal([&] { parse_json(text); });
    EXPECT_EQ(r.code, Errc::invalid) << text;
    EXPECT_EQ(r.slug, "bad_json") << text;
  }
  const std::string nul("[1]\0", 4);
  EXPECT_EQ(refusal([&] { parse_json(nul); }).slug, "bad_json");
  const std::string hidden("[1]\0[2]", 7);
  EXPECT_EQ(refusal([&] { parse_json(hidden); }).slug, "bad_json");
}

TEST(Json, SaysWhere) {
  EXPECT_NE(refusal([] { parse_json("[1, x]"); }).text.find("byte 5"), std::string::npos);
}

TEST(Json, NeverQuotesWhatItCouldNotRead) {
  const auto r = refusal([] { parse_json("[\x01<script>\xff]"); });
  EXPECT_EQ(r.slug, "bad_json");
  EXPECT_EQ(r.text.find_first_of("\x01<\xff"), std::string::npos);
}

TEST(Json, RefusesDuplicateKeysAtAnyLevel) {
  for (const char* text : {R"({"a":1,"a":1})", R"([{"b":{"c":1,"d":2,"c":3}}])", R"({"a":1,"\u0061":2})"}) {
    const auto r = refusal([&] { parse_json(text); });
    EXPECT_EQ(r.slug, "bad_json") << text;
    EXPECT_NE(r.text.find("twice"), std::string::npos) << text;
  }
  EXPECT_EQ(parse_json(R"([{"a":1},{"a":2}])").size(), 2u);
}

TEST(Json, AllowsThirtyTwoLevels) {
  EXPECT_NO_THROW(parse_json(nested(32, '[', ']')));
  EXPECT_EQ(refusal([] { parse_json(nested(33, '[', ']')); }).slug, "bad_json");
  std::string objects;
  for (int i = 0; i < 33; ++i) objects += "{\"a\":";
  EXPECT_EQ(refusal([&] { parse_json(objects); }).slug, "bad_json");
  EXPECT_EQ(refusal([] { parse_json(std::string(1'000'000, '[')); }).slug, "bad_json");
}

TEST(JsonObject, ReadsByNameAndType) {
  const auto value = parse_json(R"({"s":"x","i":-5,"b":true,"l":["a","b"],"n":null,"o":{}})");
  JsonObject object(value);
  EXPECT_EQ(object.string("s"), "x");
  EXPECT_EQ(object.integer("i"), -5);
  EXPECT_TRUE(object.boolean("b"));
  EXPECT_EQ(object.strings("l"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(object.opt_string("n"), std::nullopt);
  EXPECT_EQ(object.opt_integer("n"), std::nullopt);
  EXPECT_EQ(object.opt_boolean("absent"), std::nullopt);
  EXPECT_TRUE(object.has("n"));
  EXPECT_FALSE(object.has("absent"));
  EXPECT_EQ(object.raw("absent"), nullptr);
  EXPECT_EQ(refusal([&] { object.done(); }).slug, "unknown_field");
  object.ignore("o");
  EXPECT_NO_THROW(object.done());
}

TEST(JsonObject, RefusesWrongTypes) {
  const auto value =
      parse_json(R"({"s":"x","i":1,"f":1.0,"big":9223372036854775808,"z":"a\u0000b","l":["a",1]})");
  JsonObject object(value);
  const auto slug = [&](auto f) {
    const auto r = refusal(f);
    return r.code == Errc::unprocessable ? r.slug : "code";
  };
  EXPECT_EQ(slug([&] { object.string("i"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.opt_string("i"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.string("z"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.integer("s"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.integer("f"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.integer("big"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.boolean("i"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.strings("s"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.strings("l"); }), "bad_field");
  EXPECT_EQ(slug([&] { object.string("absent"); }), "missing_field");
  EXPECT_EQ(slug([&] { object.integer("absent"); }), "missing_field");
  EXPECT_EQ(slug([&] { object.boolean("absent"); }), "missing_field");
  EXPECT_EQ(slug([&] { object.strings("absent"); }), "missing_field");
  const json array = json::array();
  EXPECT_EQ(slug([&] { JsonObject of(array); }), "bad_field");
}

}  // namespace
}  // namespace welkin::wire
