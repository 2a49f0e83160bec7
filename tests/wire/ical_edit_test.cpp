#include "welkin/wire/ical_edit.hpp"

#include <gtest/gtest.h>

#include "welkin/wire/ical_split.hpp"

namespace welkin::wire {
namespace {

constexpr const char* kText =
    "BEGIN:VCALENDAR\nX-A;P=1:va\n  lue\nBEGIN:VEVENT\nSUMMARY;LANGUAGE=de:one\n "
    "two\nUID:1\nBEGIN:VALARM\nTRIGGER:-PT5M\n"
    "END:VALARM\nX-LATE:1\nEND:VEVENT\nEND:VCALENDAR";

TEST(IcalEdit, NothingDoneIsNothingChanged) {
  for (const std::string& text : {std::string(kText), std::string("\xEF\xBB\xBF") + kText,
                                 std::string("BEGIN:X\r\n\r\nA:1\r\nEND:X\r\n"), std::string("A"),
                                 std::string(), std::string("END:X\nBEGIN:Y\n :\n")})
    EXPECT_EQ(LineEditor(text).text(), text);
}

TEST(IcalEdit, LinesAreReplacedInTheirPlaceWithTheirOwnEnds) {
  LineEditor editor(kText);
  ASSERT_EQ(editor.components().size(), 3u);
  EXPECT_EQ(editor.components()[2].name, "VALARM");
  EXPECT_EQ(editor.components()[2].parent, 1);
  ASSERT_EQ(editor.lines(1, "SUMMARY").size(), 1u);
  EXPECT_EQ(editor.lines(1, "SUMMARY")[0].text, "SUMMARY;LANGUAGE=de:onetwo");
  editor.set(1, {"SUMMARY", {}, "new"});
  editor.set(1, {"LOCATION", {}, "here"});
  editor.remove_all(1, "UID");
  editor.remove_component(2);
  IcalComponent alarm{"VALARM", {}, {}};
  alarm.set("ACTION", "AUDIO");
  editor.add_component(1, alarm);
  editor.insert_before(1, {"VTIMEZONE", {}, {}});
  EXPECT_EQ(editor.text(),
            "BEGIN:VCALENDAR\nX-A;P=1:va\n  "
            "lue\nBEGIN:VTIMEZONE\nEND:VTIMEZONE\nBEGIN:VEVENT\nSUMMARY:new\nX-LATE:1\n"
            "LOCATION:here\nBEGIN:VALARM\nACTION:AUDIO\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR");
}

TEST(IcalEdit, GroupsOfCardsAreNoPartOfTheName) {
  LineEditor editor("BEGIN:VCARD\r\nitem1.EMAIL:a\r\nitem1.X-ABLabel:b\r\nEMAIL:c\r\nEND:VCARD\r\n");
  const auto lines = editor.lines(0, "EMAIL");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].group, "item1");
  editor.remove(lines[0].number);
  editor.add(0, {"NOTE", {}, "n"});
  EXPECT_EQ(editor.text(), "BEGIN:VCARD\r\nitem1.X-ABLabel:b\r\nEMAIL:c\r\nNOTE:n\r\nEND:VCARD\r\n");
}

using Fault = ComponentSplitter::Fault;

std::vector<ComponentSplitter::Piece> split(ComponentSplitter::Of of, const std::string& text,
                                            std::size_t step, std::size_t max = 1000) {
  ComponentSplitter splitter(of, max);
  for (std::size_t at = 0; at < text.size(); at += step)
    splitter.feed(std::string_view(text).substr(at, step));
  splitter.finish();
  return splitter.take();
}

TEST(IcalSplit, PiecesComeOutWhateverTheReadsAre) {
  const std::string text =
      "\xEF\xBB\xBF"
      "begin:vcalendar\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nBEGIN:VALARM\r\nEND:VALARM\r\nend:"
      "vevent\r\n"
      "BEGIN:VTODO\nUID:2\nEND:VTODO\nEND:VCALENDAR\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VEVENT\nEND:"
      "VCALENDAR";
  for (const std::size_t step : {1, 2, 7, 1000}) {
    const auto pieces = split(ComponentSplitter::Of::calendars, text, step);
    ASSERT_EQ(pieces.size(), 3u) << step;
    EXPECT_EQ(pieces[0].name, "VEVENT");
    EXPECT_EQ(pieces[0].text, "BEGIN:VEVENT\r\nUID:1\r\nBEGIN:VALARM\r\nEND:VALARM\r\nend:vevent\r\n");
    EXPECT_EQ(pieces[0].line, 3u);
    EXPECT_EQ(pieces[1].text, "BEGIN:VTODO\nUID:2\nEND:VTODO\n");
    for (const auto& piece : pieces) EXPECT_EQ(piece.fault, Fault::none);
  }
}

TEST(IcalSplit, BrokenPiecesSayWhatIsWrongAndEnd) {
  const auto cut = split(ComponentSplitter::Of::calendars,
                         "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:"
                         "VTODO\nEND:VEVENT\nBEGIN:VEVENT\nX:" +
                             std::string(2000, 'x') + "\nEND:VEVENT\nBEGIN:VEVENT\n",
                         5);
  ASSERT_EQ(cut.size(), 4u);
  EXPECT_EQ(cut[0].fault, Fault::unpaired);
  EXPECT_EQ(cut[1].fault, Fault::unpaired);
  EXPECT_EQ(cut[2].fault, Fault::large);
  EXPECT_EQ(cut[3].fault, Fault::unpaired);
  EXPECT_TRUE(split(ComponentSplitter::Of::calendars, "hello\nEND:VCALENDAR\n", 3).empty());
}

TEST(IcalSplit, ACardInACardIsItsAgent) {
  const auto pieces = split(ComponentSplitter::Of::cards,
                            "BEGIN:VCARD\nAGENT:\nBEGIN:VCARD\nFN:in\nEND:VCARD\nFN:out\nEND:VCARD\nBEGIN:"
                            "VCARD\nFN:cut\nBEGIN:VCARD\nFN:next\nEND:VCARD\n",
                            4);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_NE(pieces[0].text.find("FN:out"), std::string::npos);
  EXPECT_EQ(pieces[0].fault, Fault::none);
  EXPECT_EQ(pieces[1].fault, Fault::unpaired);
  EXPECT_EQ(pieces[2].text, "BEGIN:VCARD\nFN:next\nEND:VCARD\n");
}

}  // namespace
}  // namespace welkin::wire
