#include "welkin/core/log.hpp"

#include <gtest/gtest.h>

namespace welkin::log {
namespace {

TEST(OneLine, KeepsTextAndEscapesWhatCouldForgeALine) {
  EXPECT_EQ(one_line("plain \xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80"),
            "plain \xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80");
  EXPECT_EQ(one_line("a\nb\rc\x1b[31m"), "a\\x0ab\\x0dc\\x1b[31m");
  EXPECT_EQ(one_line("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
  EXPECT_EQ(one_line("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");  // isolate
  EXPECT_EQ(one_line("\xc2\x85"), "\\xc2\\x85");           // next line, a C1 control
  EXPECT_EQ(one_line("\xff\xc3"), "\\xff\\xc3");           // not UTF-8
  EXPECT_EQ(one_line(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace welkin::log
