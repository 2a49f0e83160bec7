#include "welkin/wire/vcard.hpp"

#include <gtest/gtest.h>

#include "welkin/core/error.hpp"
#include "welkin/wire/vcard_facts.hpp"
#include "welkin/wire/vcard_filter.hpp"

namespace welkin::wire {
namespace {

std::string card_text(std::string_view version, std::string_view joined) {
  std::string out = "BEGIN:VCARD\r\nVERSION:" + std::string(version) + "\r\n";
  while (!joined.empty()) {
    const auto end = joined.find(" / ");
    out += std::string(joined.substr(0, end)) + "\r\n";
    joined.remove_prefix(end == std::string_view::npos ? joined.size() : end + 3);
  }
  return out + "END:VCARD\r\n";
}

const std::string kPhoto = "/9j/" + std::string(60 * 1024, 'A');

std::string f13() {
  std::string out;
  auto card = parse_card(
      card_text("3.0",
                "N:M\xc3\xbcller;Eva;;; / FN:Eva M\xc3\xbcller / item1.EMAIL;type=INTERNET:eva@example.org / "
                "item1.X-ABLabel:_$!<Other>!$_ / BDAY;X-APPLE-OMIT-YEAR=1604:1604-06-20 / "
                "X-ABUID:5A:ABPerson / UID:F13 / PHOTO;ENCODING=b;TYPE=JPEG:" +
                    kPhoto));
  append_card(out, card);
  return out;
}
const std::string kF14 =
    card_text("4.0",
              "FN:Jo / UID:urn:uuid:0f1e / TEL;VALUE=uri;PREF=1;TYPE=\"voice,home\":tel:+49-30-1 / "
              "PHOTO:data:image/png;base64,iVBORw0K / "
              "BDAY:--0620 / RELATED;TYPE=friend:urn:uuid:1 / EMAIL;PREF=2:jo@example.org");
const std::string kF15 = card_text(
    "3.0",
    "N:Team;;;; / FN:Team / X-ADDRESSBOOKSERVER-KIND:group / X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:a / "
    "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:b");

std::string written(const Card& card) {
  std::string out;
  append_card(out, card, LineEnd::lf);
  return out;
}
bool has_line(const Card& card, const std::string& line) {
  return ("\n" + written(card)).find("\n" + line + "\n") != std::string::npos;
}

std::string refusal(std::string_view text) {
  try {
    check_card(parse_card(text));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::forbidden);
    return e.slug();
  }
  return "";
}

TEST(Vcard, AppleCardToFourAndBack) {
  const auto card = parse_card(f13());
  EXPECT_EQ(card.version, CardVersion::v3_0);
  const auto four = convert_card(card, CardVersion::v4_0);
  EXPECT_EQ(four.property("PHOTO")->value, "data:image/jpeg;base64," + kPhoto);
  EXPECT_TRUE(has_line(four, "BDAY:--0620"));
  EXPECT_EQ(four.property("EMAIL")->group, "item1");
  EXPECT_EQ(four.property("X-ABLABEL")->group, "item1");
  EXPECT_EQ(written(four).find("1604"), std::string::npos);
  const auto back = convert_card(parse_card(written(four)), CardVersion::v3_0);
  EXPECT_EQ(back.property("PHOTO")->value, kPhoto);
  EXPECT_EQ(back.property("PHOTO")->parameter_value("TYPE"), "JPEG");
  EXPECT_TRUE(has_line(back, "BDAY;X-APPLE-OMIT-YEAR=1604:1604-06-20"));
  EXPECT_EQ(back.properties.size(), card.properties.size());
  EXPECT_EQ(convert_card(card, CardVersion::v3_0), card);
}

TEST(Vcard, FourToThree) {
  const auto three = convert_card(parse_card(kF14), CardVersion::v3_0);
  EXPECT_TRUE(has_line(three, "TEL;TYPE=voice,home,PREF:+49-30-1")) << written(three);
  EXPECT_TRUE(has_line(three, "PHOTO;ENCODING=b;TYPE=PNG:iVBORw0K")) << written(three);
  EXPECT_TRUE(has_line(three, "BDAY;X-APPLE-OMIT-YEAR=1604:1604-06-20"));
  EXPECT_TRUE(has_line(three, "N:Jo;;;;"));
  EXPECT_TRUE(has_line(three, "RELATED;TYPE=friend:urn:uuid:1"));
  EXPECT_TRUE(has_line(three, "EMAIL;X-PREF=2:jo@example.org"));
  EXPECT_TRUE(has_line(convert_card(three, CardVersion::v4_0), "EMAIL;PREF=2:jo@example.org"));
}

TEST(Vcard, Groups) {
  const auto card = parse_card(kF15);
  const auto four = convert_card(card, CardVersion::v4_0);
  EXPECT_TRUE(has_line(four, "KIND:group"));
  EXPECT_TRUE(has_line(four, "MEMBER:urn:uuid:a") && has_line(four, "MEMBER:urn:uuid:b"));
  EXPECT_EQ(convert_card(four, CardVersion::v3_0), card);
  EXPECT_EQ(describe_card(card).kind, CardKind::group);
  EXPECT_EQ(describe_card(four).members, (std::vector<std::string>{"urn:uuid:a", "urn:uuid:b"}));
}

TEST(Vcard, OtherNamesSurviveBothWays) {
  const auto card = parse_card(card_text(
      "3.0",
      "N:A;B;;; / FN:B A / SORT-STRING:Aa / AGENT:X / MAILER:m / CLASS:PRIVATE / X-GENDER:F / "
      "X-ANNIVERSARY:1999-01-02 / "
      "GEO:37.38;-122.08 / REV:1995-10-31T22:27:10Z / item1.X-ABRELATEDNAMES:Kim / item1.X-ABLABEL:spouse / "
      "ADR;TYPE=HOME:;;Street 1;Town;;1;DE / LABEL;TYPE=HOME:Street 1\\nTown / X-ODD;X-P=1:v\\,w / "
      "KEY;ENCODING=b;TYPE=PGP:AAAA"));
  const auto four = convert_card(card, CardVersion::v4_0);
  for (const auto* line : {"N;SORT-AS=Aa:A;B;;;", "ANNIVERSARY:19990102", "GENDER:F", "GEO:geo:37.38,-122.08",
                           "REV:19951031T222710Z", "item1.RELATED;VALUE=text:Kim", "X-ODD;X-P=1:v\\,w",
                           "X-AGENT:X", "ADR;TYPE=HOME;LABEL=Street 1^nTown:;;Street 1;Town;;1;DE",
                           "KEY:data:application/pgp-keys;base64,AAAA"})
    EXPECT_TRUE(has_line(four, line)) << line << "\n" << written(four);
  const auto back = convert_card(parse_card(written(four)), CardVersion::v3_0);
  for (const auto& property : card.properties)
    EXPECT_NE(std::find(back.properties.begin(), back.properties.end(), property), back.properties.end())
        << property.name << "\n"
        << written(back);
  EXPECT_EQ(back.properties.size(), card.properties.size());
}

TEST(Vcard, TwoOneIsReadAndNotStored) {
  const std::string text =
      "BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Eva;;;\r\n"
      "FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Eva M=C3=\r\n=BCller\r\nTEL;HOME;VOICE;PREF:+49 30 1\r\n"
      "NOTE;QUOTED-PRINTABLE:one=0D=0Atwo, three\r\nX-L;CHARSET=ISO-8859-1:caf\xe9\r\n"
      "PHOTO;JPEG;BASE64:\r\n /9j/AAAA\r\n  BBBB\r\n\r\nEND:VCARD\r\n";
  EXPECT_EQ(refusal(text), "supported_address_data");
  const auto card = parse_card(text);
  EXPECT_EQ(card.text("FN"), "Eva M\xc3\xbcller");
  EXPECT_EQ(describe_card(card).display_name, "Eva M\xc3\xbcller");
  const auto three = convert_card(card, CardVersion::v3_0);
  EXPECT_TRUE(has_line(three, "NOTE:one\\ntwo\\, three")) << written(three);
  EXPECT_TRUE(has_line(three, "TEL;TYPE=HOME;TYPE=VOICE;TYPE=PREF:+49 30 1"));
  EXPECT_TRUE(has_line(three, "PHOTO;TYPE=JPEG;ENCODING=b:/9j/AAAABBBB"));
  EXPECT_TRUE(has_line(three, "X-L:caf\xc3\xa9"));
  const auto four = convert_card(card, CardVersion::v4_0);
  EXPECT_TRUE(has_line(four, "TEL;TYPE=HOME,VOICE;PREF=1:+49 30 1")) << written(four);
  EXPECT_TRUE(has_line(four, "PHOTO:data:image/jpeg;base64,/9j/AAAABBBB"));
}

TEST(Vcard, AgentOfTwoOneIsKept) {
  const auto card = parse_card(
      "BEGIN:VCARD\nVERSION:2.1\nN:A\nAGENT:\nBEGIN:VCARD\nVERSION:2.1\nN:Inner\nEND:VCARD\nTEL:1\nEND:"
      "VCARD\n");
  EXPECT_EQ(card.text("AGENT"), "BEGIN:VCARD\nVERSION:2.1\nN:Inner\nEND:VCARD\n");
  EXPECT_EQ(card.text("TEL"), "1");
}

TEST(Vcard, WhatIsRefused) {
  for (const auto* bad :
       {"", "hello", "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:x\r\n",
        "BEGIN:VCARD\r\nVERSION:3.0\r\nFN\r\nEND:VCARD\r\n",
        "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:caf\xe9\r\nEND:VCARD\r\n",
        "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:\x08\r\nEND:VCARD\r\n",
        "BEGIN:VCARD\r\nVERSION:3.0\r\nBEGIN:VCARD\r\nEND:VCARD\r\nEND:VCARD\r\n",
        "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", "BEGIN:VCARD\r\nVERSION:3.0\r\nA=B:c\r\nEND:VCALENDAR\r\n"})
    EXPECT_EQ(refusal(bad), "valid_address_data") << bad;
  EXPECT_EQ(refusal(kF15 + kF15), "valid_address_data");
  EXPECT_EQ(refusal(card_text("5.0", "FN:x")), "supported_address_data");
  EXPECT_EQ(refusal("BEGIN:VCARD\nFN:no version\nEND:VCARD"), "");
  EXPECT_EQ(refusal(card_text("3.0", "NOTE:neither name nor uid")), "");
  EXPECT_EQ(parse_cards(kF15 + f13() + kF14).size(), 3U);
}

TEST(Vcard, Facts) {
  const auto facts = describe_card(parse_card(f13()));
  EXPECT_EQ(facts.uid, "F13");
  EXPECT_EQ(facts.sort_name, "m\xc3\xbcller eva");
  EXPECT_EQ(facts.emails, (std::vector<std::string>{"eva@example.org"}));
  EXPECT_TRUE(facts.has_photo);
  EXPECT_EQ(facts.birthday, (CardDate{std::nullopt, 6, 20}));
  EXPECT_NE(facts.search.find("eva m\xc3\xbcller\n"), std::string::npos);
  EXPECT_EQ(describe_card(parse_card(kF14)).phones, (std::vector<std::string>{"49301"}));
  EXPECT_EQ(describe_card(parse_card(card_text("3.0", "N:Last;First;;Dr.; / EMAIL:A@B.org / EMAIL:a@b.org")))
                .display_name,
            "Dr. First Last");
  EXPECT_EQ(describe_card(parse_card(card_text("3.0", "EMAIL:A@B.org / EMAIL:a@b.org"))).emails.size(), 1U);
}

TEST(Vcard, Dates) {
  const auto date = [](const std::string& line) {
    return card_date(parse_card(card_text("4.0", line)).properties.front());
  };
  EXPECT_EQ(date("BDAY:19960415"), (CardDate{1996, 4, 15}));
  EXPECT_EQ(date("BDAY:1996-04-15T10:00:00Z"), (CardDate{1996, 4, 15}));
  EXPECT_EQ(date("BDAY:--0229"), (CardDate{std::nullopt, 2, 29}));
  EXPECT_EQ(date("BDAY:--06-20"), (CardDate{std::nullopt, 6, 20}));
  EXPECT_EQ(date("BDAY:1604-06-20"), (CardDate{1604, 6, 20}));
  for (const auto* none : {"BDAY:---20", "BDAY:1996", "BDAY:1996-04", "BDAY;VALUE=text:circa 1800",
                           "BDAY:20260230", "BDAY:", "BDAY:T1000"})
    EXPECT_EQ(date(none), std::nullopt) << none;
}

CardTextMatch match(std::string_view text, text::MatchType type = text::MatchType::contains,
                    text::Collation collation = text::Collation::unicode_casemap, bool negate = false) {
  return {text::Matcher(collation, type, text), negate};
}
bool finds(const CardPropFilter& property, const std::string& text) {
  return passes(CardFilter{false, {property}}, parse_card(text));
}

TEST(VcardFilter, OfAnAddressBookQuery) {
  using text::MatchType;
  const auto a = f13();
  EXPECT_TRUE(passes(CardFilter{}, parse_card(a)));
  EXPECT_TRUE(finds({"EMAIL", false, false, {match("EXAMPLE")}, {}}, a));
  EXPECT_FALSE(finds({"EMAIL", false, false, {match("EXAMPLE", MatchType::equals)}, {}}, a));
  EXPECT_TRUE(finds({"EMAIL", false, false, {match("eva", MatchType::starts_with)}, {}}, a));
  EXPECT_TRUE(finds({"EMAIL", false, false, {match(".ORG", MatchType::ends_with)}, {}}, a));
  EXPECT_FALSE(
      finds({"EMAIL", false, false, {match("EXAMPLE", MatchType::contains, text::Collation::octet)}, {}}, a));
  EXPECT_FALSE(finds(
      {"EMAIL", false, false, {match("eva", MatchType::contains, text::Collation::ascii_casemap, true)}, {}},
      a));
  EXPECT_TRUE(finds({"X-ABLABEL", false, false, {}, {}}, a));
  EXPECT_TRUE(finds({"ITEM1.EMAIL", false, false, {}, {}}, a));
  EXPECT_FALSE(finds({"ITEM2.EMAIL", false, false, {}, {}}, a));
  EXPECT_TRUE(finds({"FN", false, false, {match("M\xc3\x9cLLER")}, {}}, a));
  EXPECT_TRUE(finds({"N", false, false, {match("Eva", MatchType::equals)}, {}}, a));
  EXPECT_TRUE(finds({"TEL", false, false, {match("49301", MatchType::equals)}, {}}, kF14));
  EXPECT_TRUE(finds({"NOTE", true, false, {}, {}}, a));
  EXPECT_FALSE(finds({"EMAIL", true, false, {}, {}}, a));
  const CardParamFilter internet{"TYPE", false, match("internet")}, absent{"PREF", true, std::nullopt},
      wrong{"PREF", false, match("x", MatchType::contains, text::Collation::octet, true)};
  EXPECT_TRUE(finds({"EMAIL", false, true, {match("eva")}, {internet, absent}}, a));
  EXPECT_FALSE(finds({"EMAIL", false, true, {match("eva")}, {internet, wrong}}, a));
  EXPECT_TRUE(finds({"EMAIL", false, false, {match("nobody")}, {internet}}, a));
  const CardPropFilter has{"EMAIL", false, false, {}, {}}, has_not{"NOTE", false, false, {}, {}};
  EXPECT_TRUE(passes(CardFilter{false, {has_not, has}}, parse_card(a)));
  EXPECT_FALSE(passes(CardFilter{true, {has_not, has}}, parse_card(a)));
}

TEST(VcardFilter, PartOfACard) {
  const auto part = select_properties(parse_card(f13()), {{"EMAIL", false}, {"PHOTO", true}});
  EXPECT_EQ(part.properties.size(), 5U);  // N, FN, EMAIL, UID, PHOTO
  EXPECT_EQ(part.property("PHOTO")->value, "");
}

TEST(Collation, UnicodeCasemap) {  // RFC 5051
  using text::Collation;
  const auto key = [](std::string_view s) { return text::collation_key(Collation::unicode_casemap, s); };
  EXPECT_EQ(key("\xc3\x89"), key("\xc3\xa9"));
  EXPECT_NE(key("stra\xc3\x9f"
                "e"),
            key("STRASSE"));
  EXPECT_TRUE(
      text::Matcher(Collation::unicode_casemap, text::MatchType::contains, "cafe").matches("caf\xc3\xa9"));
  EXPECT_FALSE(
      text::Matcher(Collation::unicode_casemap, text::MatchType::equals, "cafe").matches("caf\xc3\xa9"));
  EXPECT_FALSE(
      text::Matcher(Collation::ascii_casemap, text::MatchType::contains, "\xc3\x89").matches("\xc3\xa9"));
  EXPECT_FALSE(text::collation_named("i;basic"));
}

// What is no clean base64 would be read differently from what was written.
TEST(Vcard, DamagedPicturesStayTheUriTheyWere) {
  for (const std::string& uri : {"data:image/png;base64,\t\tb\":h", "data:image/png;base64,AA AA",
                                 "data:im age/png;base64,AAAA", "data:image\tx;base64,AAAA"}) {
    const auto card = parse_card("BEGIN:VCARD\r\nVERSION:4.0\r\nFN:x\r\nPHOTO:" + uri + "\r\nEND:VCARD\r\n");
    const auto old = convert_card(card, CardVersion::v3_0);
    std::string once, twice;
    append_card(once, old);
    append_card(twice, parse_card(once));
    EXPECT_EQ(once, twice);
    EXPECT_NE(once.find("PHOTO;VALUE=uri:" + uri), std::string::npos) << once;
  }
}

}  // namespace
}  // namespace welkin::wire
