#include <gtest/gtest.h>

#include <random>

#include "welkin/core/error.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::wire {
namespace {

/// The slug of the refusal; "" when it was read.
std::string refused(const std::string& document, std::string_view charset = {}) {
  try {
    parse_xml(document, charset);
    return "";
  } catch (const Error& e) {
    return e.slug();
  }
}

std::string repeat(const std::string& s, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += s;
  return out;
}

TEST(XmlHostile, RefusesDocumentTypes) {
  for (const std::string document :
       {"<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
        "<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/x.dtd'><a/>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;]><a/>",
        "<!DOCTYPE a [<!ENTITY x0 'ha'><!ENTITY x1 '&x0;&x0;&x0;&x0;&x0;&x0;&x0;&x0;'>"
        "<!ENTITY x2 '&x1;&x1;&x1;&x1;&x1;&x1;&x1;&x1;'><!ENTITY x3 "
        "'&x2;&x2;&x2;&x2;&x2;&x2;'>]><a>&x3;</a>"}) {
    EXPECT_EQ(refused(document), "no_external_entities") << document;
  }
}

TEST(XmlHostile, RefusesWhatIsNotWellFormed) {
  for (const std::string document : {"",
                                     " ",
                                     "<a",
                                     "<a>",
                                     "</a>",
                                     "<a></b>",
                                     "<a/><b/>",
                                     "<a/>x",
                                     "x<a/>",
                                     "<a b='1' b='2'/>",
                                     "<a b=1/>",
                                     "<a>&nbsp;</a>",
                                     "<a>&#0;</a>",
                                     "<a>&#xFFFE;</a>",
                                     "<a>&#xD800;</a>",
                                     "<a>\x01</a>",
                                     "<a b='<'/>",
                                     "<a>]]></a>",
                                     "<p:a/>",
                                     "<a p:b='1'/>",
                                     "<a xmlns:b=''/>",
                                     "<a xmlns:b='' b:c='1'/>",
                                     "<a xmlns:xml='urn:x'/>",
                                     "<a xmlns:p='u' xmlns:q='u' p:k='1' q:k='2'/>",
                                     "<a:b:c xmlns:a='u'/>",
                                     "<a>\xFF</a>",
                                     "<a>\xC0\xAF</a>",
                                     "<a>\xED\xA0\x80</a>",
                                     "<a>\xE2\x82</a>",
                                     "<a b='\xFF'/>",
                                     "<?xml version='1.0' encoding='iso-8859-1'?><a/>",
                                     "<?xml version='1.0' encoding='UTF-16'?><a/>",
                                     "<?xml version='1.0' encoding='utf-7'?><a/>",
                                     "<?xml version='1.0' encoding='x'?><a/>"}) {
    EXPECT_EQ(refused(document), "bad_xml") << document;
  }
  EXPECT_EQ(refused(std::string("<a>\0</a>", 8)), "bad_xml");
  EXPECT_EQ(refused(std::string("\xFF\xFE<\0a\0/\0>", 9)), "bad_xml") << "half a unit at the end";
  EXPECT_EQ(refused(std::string("\xFE\xFF\0<\0a\0>\xD8\0\0<\0/\0a\0>", 18)), "bad_xml") << "a lone surrogate";
  EXPECT_EQ(refused(std::string("<\0a\0/\0>\0", 8)), "bad_xml") << "UTF-16 without a mark";
  EXPECT_EQ(refused("<a/>", "iso-8859-1"), "bad_xml");
  EXPECT_EQ(refused("<a/>", "utf-16"), "bad_xml");
}

TEST(XmlHostile, KeepsToItsLimits) {
  EXPECT_EQ(refused(repeat("<a>", 64) + repeat("</a>", 64)), "");
  EXPECT_EQ(refused(repeat("<a>", 65) + repeat("</a>", 65)), "bad_xml");
  EXPECT_EQ(refused(repeat("<a>", 5000)), "bad_xml");
  EXPECT_EQ(refused("<a>" + repeat("<b/>", 9999) + "</a>"), "");
  EXPECT_EQ(refused("<a>" + repeat("<b/>", 10'000) + "</a>"), "bad_xml");
  std::string attributes, namespaces;
  for (int i = 0; i < 32; ++i) attributes += " a" + std::to_string(i) + "=''";
  EXPECT_EQ(refused("<a" + attributes + "/>"), "");
  EXPECT_EQ(refused("<a" + attributes + " z=''/>"), "bad_xml");
  for (int i = 0; i < 64; ++i) namespaces += "<a xmlns='urn:" + std::to_string(i) + "'/>";
  EXPECT_EQ(refused("<r>" + namespaces + "</r>"), "");
  EXPECT_EQ(refused("<r>" + namespaces + "<a xmlns='urn:x'/></r>"), "bad_xml");
  EXPECT_EQ(refused("<" + std::string(256, 'a') + "/>"), "");
  EXPECT_EQ(refused("<" + std::string(257, 'a') + "/>"), "bad_xml");
  EXPECT_EQ(refused("<a " + std::string(257, 'a') + "=''/>"), "bad_xml");
  EXPECT_EQ(refused("<a xmlns='" + std::string(257, 'a') + "'/>"), "bad_xml");
  EXPECT_EQ(refused("<a>" + std::string((1 << 20) - 7, 'x') + "</a>"), "");
  EXPECT_EQ(refused("<a>" + std::string((1 << 20) - 6, 'x') + "</a>"), "body_too_large");
}

TEST(XmlHostile, RefusesAsSoonAsItIsClear) {
  XmlReader reader;
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) reader.feed("<a>");
      },
      Error);
}

TEST(XmlHostile, SurvivesRandomBytes) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same documents in every run
  const std::string good =
      "<?xml version='1.0'?><d:propfind xmlns:d='DAV:' xmlns='urn:x'><d:prop><a b='c&amp;'>t<![CDATA[u]]></a>"
      "<d:getetag/></d:prop></d:propfind>";
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto document = good;
    for (unsigned n = random() % 4 + 1; n > 0; --n) {
      const auto at = random() % document.size();
      switch (random() % 4) {
        case 0:
          document[at] = static_cast<char>(random());
          break;
        case 1:
          document.erase(at, random() % 9);
          break;
        case 2:
          document.insert(at, document.substr(random() % document.size(), random() % 20));
          break;
        default:
          document[at] = "<>&'\"/!?[]=: \n"[random() % 14];
      }
      if (document.empty()) document = "<";
    }
    try {
      const auto root = parse_xml(document);
      std::string out;
      append_xml(out, root);
      std::string out_again;
      append_xml(out_again, parse_xml(out));
      EXPECT_EQ(out, out_again) << document;
      ++read;
    } catch (const Error&) {  // refused, in our own words
    }
  }
  EXPECT_GT(read, 500);
}

}  // namespace
}  // namespace welkin::wire
