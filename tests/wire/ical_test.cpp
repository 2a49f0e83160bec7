#include "welkin/wire/ical.hpp"

#include <gtest/gtest.h>

#include "welkin/core/error.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::wire {
namespace {

std::string refusal(std::string_view text, const IcalLimits& limits = {}) {
  try {
    parse_ical(text, limits);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::forbidden);
    return e.slug();
  }
  return "";
}
std::string around(std::string_view line) {
  return "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + std::string(line) + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
}
IcalProperty line(std::string_view text) {
  return parse_ical(around(text)).components.front().properties.front();
}

TEST(Ical, ReadsParametersAndEscapes) {
  const auto read = line("attendee;cn=\"Doe, J^'o^' ^^^n;x:\";ROLE=A,\"B;C\";x-bare:mailto:a@b;c");
  EXPECT_EQ(read.name, "ATTENDEE");
  EXPECT_EQ(read.parameter_value("CN"), "Doe, J\"o\" ^\n;x:");
  EXPECT_EQ(read.parameter("ROLE")->values, (std::vector<std::string>{"A", "B;C"}));
  EXPECT_TRUE(read.parameter("X-BARE")->values.empty());
  EXPECT_EQ(read.value, "mailto:a@b;c");
  EXPECT_EQ(ical_unescape("a\\, b\\;\\n\\N\\\\c\\x\\"), "a, b;\n\n\\c\\x\\");
  EXPECT_EQ(ical_unescape(ical_escape("a,b;c\\d\r\ne")), "a,b;c\\d\ne");
  EXPECT_EQ(ical_list("a\\,b,c,"), (std::vector<std::string_view>{"a\\,b", "c", ""}));
}

TEST(Ical, LinesEndAndFoldInManyWays) {
  for (const std::string end : {"\r\n", "\n", "\r"}) {
    const auto text =
        "\xef\xbb\xbf"
        "BEGIN:VCALENDAR" +
        end + "BEGIN:vevent" + end + end + "SUMM" + end + " ARY:a" + end + "\tb" + end + "  c" + end +
        "END:VEVENT" + end + "END:VCALENDAR";
    const auto read = parse_ical(text);
    EXPECT_EQ(read.components.front().value("SUMMARY"), "ab c");
  }
}

TEST(Ical, FoldsInsideOfACodePoint) {
  std::string smileys, folded = "SUMMARY:";
  for (int i = 0; i < 40; ++i) smileys += "\xf0\x9f\x98\x80";
  std::string rest = folded + smileys;
  folded.clear();
  while (rest.size() > 75) {
    folded += rest.substr(0, 75) + "\r\n ";
    rest.erase(0, 75);
  }
  EXPECT_EQ(line(folded + rest).value, smileys);
}

TEST(Ical, WritesWhatItRead) {
  const auto text =
      around("ATTENDEE;CN=\"Doe, J^'o\";X=a,b:mailto:a@b\r\nDESCRIPTION:" + std::string(200, 'x') +
             "\xf0\x9f\x98\x80\xf0\x9f\x98\x80 end");
  const auto read = parse_ical(text);
  std::string out;
  append_ical(out, read);
  EXPECT_EQ(parse_ical(out), read);
  for (std::size_t from = 0; from < out.size();) {
    const auto end = out.find("\r\n", from);
    EXPECT_LE(end - from, 75U);
    from = end + 2;
  }
  // An emoji that would straddle the limit goes to the next line whole.
  std::string short_fold;
  append_ical(short_fold, IcalProperty{"X", {}, std::string(71, 'y') + "\xf0\x9f\x98\x80"}, LineEnd::lf);
  EXPECT_EQ(short_fold, "X:" + std::string(71, 'y') + "\n \xf0\x9f\x98\x80\n");
}

TEST(Ical, RefusesBrokenText) {
  for (const auto& bad :
       {std::string(), std::string("hello"), std::string("BEGIN:VCARD\r\nEND:VCARD\r\n"),
        around("SUMMARY:caf\xe9"), around("SUMMARY:a\x08"), around("SUMMARY:\xef\xbf\xbf"), around("SUMMARY"),
        around("SUM MARY:x"), around(":x"), around("X;P=\"a:b"), around("X;:y;"),
        std::string("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VTODO\nEND:VCALENDAR"),
        std::string("BEGIN:VCALENDAR\n"), std::string("END:VCALENDAR\n"),
        std::string("BEGIN:VCALENDAR\nEND:VCALENDAR\nX:1"), around("") + around("")})
    if (bad != around("X;:y;")) EXPECT_EQ(refusal(bad), "valid_calendar_data") << bad;
  EXPECT_EQ(refusal(around("X;:y;")), "");  // a stray ";" is passed over
  EXPECT_EQ(parse_icals(around("") + around("")).size(), 2U);
  EXPECT_TRUE(parse_icals("").empty());
}

TEST(Ical, Limits) {
  EXPECT_EQ(refusal(around("DESCRIPTION:" + std::string(8 << 20, 'x'))), "valid_calendar_data");
  EXPECT_EQ(refusal(around("ATTACH;ENCODING=BASE64:" + std::string(8 << 20, 'x'))), "");
  EXPECT_EQ(refusal(around("X:" + std::string(11 << 20, 'x'))), "max_resource_size");
  std::string deep, lines;
  for (int i = 0; i < 9; ++i) deep += "BEGIN:VCALENDAR\n";
  EXPECT_EQ(refusal(deep), "valid_calendar_data");
  for (int i = 0; i < 20'001; ++i) lines += "X:1\n";
  EXPECT_EQ(refusal(around(lines)), "valid_calendar_data");
  std::string parameters = "X";
  for (int i = 0; i < 300; ++i) parameters += ";A=1";
  EXPECT_EQ(refusal(around(parameters + ":1")), "valid_calendar_data");
}

TEST(Ical, EditingKeepsOrder) {
  auto component = parse_ical(around("A:1\r\nB;P=1:2\r\nA:3")).components.front();
  component.set("A", "x");
  component.set("C", "new");
  EXPECT_EQ(component.count("A"), 1U);
  EXPECT_EQ(component.properties[0].value, "x");
  EXPECT_EQ(component.properties[2].name, "C");
  component.property("B")->set_parameter("P", "2");
  component.property("B")->set_parameter("Q", "3");
  component.property("B")->set_parameter("P", "");
  EXPECT_EQ(component.property("B")->parameters.size(), 1U);
  component.remove("B");
  EXPECT_EQ(component.property("B"), nullptr);
}

TEST(IcalValue, Times) {
  EXPECT_EQ(parse_ical_time("19700102"), (IcalTime{86'400, true, false}));
  EXPECT_EQ(parse_ical_time("19700101T010203"), (IcalTime{3723, false, false}));
  EXPECT_EQ(parse_ical_time("19691231T235959Z"), (IcalTime{-1, false, true}));
  for (const auto* bad :
       {"", "2026", "20260230", "20261301", "20260101T240000", "20260101T1000", "20260101T100000X",
        "2026-01-1", "20260101 100000", "20260101T100000ZZ", "+0260101"})
    EXPECT_EQ(parse_ical_time(bad), std::nullopt) << bad;
  for (const auto* text : {"16040229", "20260228T235959Z", "19000101T000000", "00010101", "99991231T235959"})
    EXPECT_EQ(format_ical_time(*parse_ical_time(text)), text);
}

TEST(IcalValue, Durations) {
  EXPECT_EQ(parse_ical_duration("PT1H30M"), (IcalDuration{0, 5400}));
  EXPECT_EQ(parse_ical_duration("-P1DT2H"), (IcalDuration{-1, -7200}));
  EXPECT_EQ(parse_ical_duration("+P2W"), (IcalDuration{14, 0}));
  for (const auto* bad : {"", "P", "PT", "1H", "P1H", "PT1D", "P1", "PT1HT1M", "P99999999999D", "-", "PTT1H"})
    EXPECT_EQ(parse_ical_duration(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_ical_period("20260101T000000Z/PT1H")->duration, (IcalDuration{0, 3600}));
  EXPECT_TRUE(parse_ical_period("20260101T000000Z/20260101T010000Z")->end);
  for (const auto* bad : {"20260101T000000Z", "20260101/PT1H", "20260101T000000Z/", "/PT1H"})
    EXPECT_FALSE(parse_ical_period(bad)) << bad;
  EXPECT_EQ(parse_ical_offset("-013015"), -5415);
  EXPECT_EQ(parse_ical_offset("0100"), std::nullopt);
}

}  // namespace
}  // namespace welkin::wire
