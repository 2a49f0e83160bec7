#include "welkin/wire/json_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace welkin::wire {
namespace {

using nlohmann::ordered_json;

std::string escaped(std::string_view text) {
  std::string out;
  JsonWriter(out).string(text);
  return out;
}

TEST(JsonWriter, EscapesEveryByteLikeTheLibrary) {
  for (int c = 0; c < 0x80; ++c) {
    for (int before = 0; before < 40; ++before) {  // every position in and around a block of 16
      const std::string text =
          std::string(static_cast<std::size_t>(before), 'x') + static_cast<char>(c) + "y";
      ASSERT_EQ(escaped(text), ordered_json(text).dump()) << "byte " << c << " at " << before;
    }
  }
}

TEST(JsonWriter, EscapesRandomTextLikeTheLibrary) {
  std::mt19937 random(7);
  const std::vector<std::string> atoms = {"a", "\"", "\\", "\n",   "\x01",      "\x1f",   " ",
                                          "é", "漢", "😀", "\x7f", "</script>", "\u2028", "0123456789abcdef"};
  for (int i = 0; i < 2'000; ++i) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n) text += atoms[random() % atoms.size()];
    ASSERT_EQ(escaped(text), ordered_json(text).dump());
  }
}

TEST(JsonWriter, WritesNumbersLikeTheLibrary) {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  json.number(0);
  json.number(-1);
  json.number(std::numeric_limits<std::int64_t>::min());
  json.number(std::numeric_limits<std::int64_t>::max());
  json.number(std::numeric_limits<std::uint64_t>::max());
  json.number(std::uint8_t{7});
  json.end_array();
  EXPECT_EQ(out, ordered_json({0, -1, std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max(),
                               std::numeric_limits<std::uint64_t>::max(), 7})
                     .dump());
}

TEST(JsonWriter, PlacesCommas) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("a", 1);
  json.field("b", "x");
  json.field("c", true);
  json.null_field("d");
  json.key("e");
  json.begin_array();
  json.begin_object();
  json.end_object();
  json.begin_array();
  json.end_array();
  json.string("y");
  json.raw("{\"r\":[]}");
  json.end_array();
  json.raw("\"f\":1,\"g\":2");
  json.key("h");
  json.escaped_string("/a", "/b");
  json.end_object();
  EXPECT_EQ(out, R"({"a":1,"b":"x","c":true,"d":null,"e":[{},[],"y",{"r":[]}],"f":1,"g":2,"h":"/a/b"})");
  EXPECT_EQ(ordered_json::parse(out).dump(), out);
}

}  // namespace
}  // namespace welkin::wire
