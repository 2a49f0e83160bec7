#include "welkin/wire/if_header.hpp"

#include <gtest/gtest.h>

#include <random>

namespace welkin::wire {
namespace {

/// One line a list: `tag| not? value ...`, so that a test reads like the header.
std::string shown(std::string_view value) {
  const auto parsed = parse_if(value);
  if (parsed.fault) return "fault";
  std::string out;
  for (const auto& list : parsed.header.lists) {
    if (!out.empty()) out += " ; ";
    if (list.tagged) out += list.resource + " |";
    for (const auto& condition : list.conditions) {
      if (!out.empty() && out.back() != ' ') out += ' ';
      if (condition.negated) out += '!';
      out += condition.is_etag ? "etag:" : "token:";
      out += condition.value;
    }
  }
  return out;
}

TEST(IfHeader, ReadsTheGrammar) {
  const std::pair<const char*, const char*> kGood[] = {
      {"(<urn:a>)", "token:urn:a"},
      {"(<urn:a> [\"e\"])", "token:urn:a etag:\"e\""},
      {"(<urn:a>[\"e\"])", "token:urn:a etag:\"e\""},
      {" \t( \t<urn:a>\t [ \"e\" ] ) \t", "token:urn:a etag:\"e\""},
      {"(Not <urn:a>)(<DAV:no-lock>)", "!token:urn:a ; token:DAV:no-lock"},
      {"(NOT<urn:a> not[W/\"x\"])", "!token:urn:a !etag:W/\"x\""},
      {"([\"a]b)c<d>\"])", "etag:\"a]b)c<d>\""},
      {"([\"\"])", "etag:\"\""},
      {"<http://h/a b/> (<t>)", "http://h/a b/ | token:t"},
      {"</x> (<t>) ([\"e\"]) </y> (Not <u>)", "/x | token:t ; /x | etag:\"e\" ; /y | !token:u"},
      {"</x>(<t>)</x>(<t>)", "/x | token:t ; /x | token:t"},
      {"(<opaquelocktoken:x y>)", "token:opaquelocktoken:x y"},
      {"(<\xC3\xA9>)", "token:\xC3\xA9"},
  };
  for (const auto& [header, expected] : kGood) EXPECT_EQ(shown(header), expected) << header;
}

TEST(IfHeader, RefusesWhatIsNot) {
  for (const char* bad : {"",
                          " ",
                          "garbage",
                          "()",
                          "( )",
                          "(<x>",
                          "(<x>) garbage",
                          "<x>",
                          "<x> <y> (<t>)",
                          "(<x>) </y> (<t>)",
                          "<>(<t>)",
                          "(<>)",
                          "([x])",
                          "([\"x\")",
                          "([\"x)",
                          "(\"x\")",
                          "(Not)",
                          "(Not Not <x>)",
                          "(Nat <x>)",
                          "(<x>, <y>)",
                          "(<x>), (<y>)",
                          ")",
                          "((<x>))",
                          "(<x)",
                          "(<x<y>)",
                          "</x>() ",
                          "</x> (<t>) </y>",
                          "([W\"x\"])",
                          "([w/\"x\"])",
                          "(["}) {
    EXPECT_EQ(shown(bad), "fault") << bad;
  }
}

TEST(IfHeader, IsBounded) {
  std::string lists, conditions = "(";
  for (std::size_t i = 0; i < kIfListsMax; ++i) lists += "(<t>)";
  for (std::size_t i = 0; i < kIfConditionsMax; ++i) conditions += "<t>";
  EXPECT_EQ(parse_if(lists).header.lists.size(), kIfListsMax);
  EXPECT_TRUE(parse_if(lists + "(<t>)").fault);
  EXPECT_EQ(parse_if(conditions + ")").header.lists.at(0).conditions.size(), kIfConditionsMax);
  EXPECT_TRUE(parse_if(conditions + "<t>)").fault);
  EXPECT_FALSE(parse_if("(<" + std::string(kIfBytesMax - 4, 'x') + ">)").fault);
  EXPECT_TRUE(parse_if("(<" + std::string(kIfBytesMax - 3, 'x') + ">)").fault);
}

/// What was read, written again, must read the same: nothing is lost and nothing made up.
std::string written(const IfHeader& header) {
  std::string out;
  for (const auto& list : header.lists) {
    if (list.tagged) out += "<" + list.resource + ">";
    out += '(';
    for (const auto& condition : list.conditions) {
      if (condition.negated) out += "Not ";
      out += condition.is_etag ? "[" + condition.value + "]" : "<" + condition.value + ">";
    }
    out += ')';
  }
  return out;
}

TEST(IfHeader, SurvivesAnything) {
  constexpr std::string_view kPieces[] = {"(",     ")",    "<",    ">", "[",    "]",   "\"",
                                          "W/",    "Not",  "not ", " ", "\t",   "<t>", "[\"e\"]",
                                          "(<t>)", "</x>", ",",    "x", "\xff", "()"};
  std::mt19937 random(7);
  int good = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string value;
    for (auto n = random() % 12; n-- > 0;) value += kPieces[random() % std::size(kPieces)];
    const auto parsed = parse_if(value);
    if (parsed.fault) continue;
    ++good;
    ASSERT_FALSE(parsed.header.lists.empty()) << value;
    const auto again = written(parsed.header);
    ASSERT_EQ(written(parse_if(again).header), again) << value;
    ASSERT_EQ(shown(again), shown(value)) << value;
  }
  EXPECT_GT(good, 100) << "or the pieces test nothing";
}

}  // namespace
}  // namespace welkin::wire
