#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli.hpp"

namespace welkin::app {
namespace {

const Command kCommand{"thing do", "NAME", "does a thing", {{"--force", nullptr, ""}, {"--size", "N", ""}},
                       1,          2,      nullptr};

std::string complaint(const std::vector<std::string>& words) {
  try {
    parse_arguments(kCommand, words);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Arguments, OptionsAndWordsInAnyOrder) {
  const auto parsed = parse_arguments(kCommand, {"--size", "5", "alice", "--force"});
  EXPECT_THAT(parsed.words, ::testing::ElementsAre("alice"));
  EXPECT_EQ(parsed.value("--size"), "5");
  EXPECT_TRUE(parsed.has("--force"));
  EXPECT_EQ(parse_arguments(kCommand, {"alice", "--size=7"}).value("--size"), "7");
  EXPECT_EQ(parse_arguments(kCommand, {"alice", "--size="}).value("--size"), "");
  EXPECT_FALSE(parse_arguments(kCommand, {"alice"}).has("--force"));
}

TEST(Arguments, NothingIsAnOptionAfterTwoDashes) {
  EXPECT_THAT(parse_arguments(kCommand, {"--", "--force", "-x"}).words,
              ::testing::ElementsAre("--force", "-x"));
  EXPECT_THAT(parse_arguments(kCommand, {"-"}).words, ::testing::ElementsAre("-"));
}

TEST(Arguments, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(complaint({"a", "--froce"}), ::testing::HasSubstr("did you mean --force?"));
  EXPECT_THAT(complaint({"a", "--zzzzzz"}), ::testing::HasSubstr("has no option --zzzzzz"));
  EXPECT_THAT(complaint({"a", "--size"}), ::testing::HasSubstr("needs a value"));
  EXPECT_THAT(complaint({"a", "--force=yes"}), ::testing::HasSubstr("takes no value"));
  EXPECT_THAT(complaint({"a", "--force", "--force"}), ::testing::HasSubstr("given twice"));
  EXPECT_THAT(complaint({}), ::testing::HasSubstr("too few"));
  EXPECT_THAT(complaint({"a", "b", "c"}), ::testing::HasSubstr("too many"));
}

}  // namespace
}  // namespace welkin::app
