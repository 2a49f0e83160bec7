#include "welkin/wire/xml.hpp"

#include <gtest/gtest.h>

#include "welkin/core/error.hpp"

namespace welkin::wire {
namespace {

std::string written(const XmlElement& e) {
  std::string out;
  append_xml(out, e);
  return out;
}
std::string again(std::string_view document) { return written(parse_xml(document)); }

std::string utf16(std::u16string_view text, bool big) {
  std::string out;
  const auto put = [&](char16_t c) {
    const char high = static_cast<char>(c >> 8), low = static_cast<char>(c & 0xFF);
    out += big ? high : low;
    out += big ? low : high;
  };
  put(0xFEFF);
  for (const auto c : text) put(c);
  return out;
}

void equal(const XmlElement& a, const XmlElement& b) {
  EXPECT_EQ(a.ns, b.ns);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.text, b.text);
  ASSERT_EQ(a.attributes.size(), b.attributes.size());
  for (std::size_t i = 0; i < a.attributes.size(); ++i) {
    EXPECT_EQ(a.attributes[i].ns, b.attributes[i].ns);
    EXPECT_EQ(a.attributes[i].name, b.attributes[i].name);
    EXPECT_EQ(a.attributes[i].value, b.attributes[i].value);
  }
  ASSERT_EQ(a.children.size(), b.children.size());
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    EXPECT_EQ(a.children[i].tail, b.children[i].tail);
    equal(a.children[i], b.children[i]);
  }
}

TEST(Xml, ReadsNamesTextAndChildren) {
  const auto root = parse_xml(
      "<?xml version='1.0' encoding='utf-8'?><!-- x --><d:a xmlns:d=\"DAV:\" xmlns=\"urn:x\" d:k=\"1\" k='2'>"
      "one<b/>two<d:c>&lt;&amp;&#65536;</d:c><![CDATA[<three>]]><n xmlns=''/><?pi?></d:a>");
  EXPECT_TRUE(root.is("DAV:", "a"));
  EXPECT_EQ(root.text, "one");
  ASSERT_EQ(root.children.size(), 3u);
  EXPECT_TRUE(root.children[0].is("urn:x", "b"));
  EXPECT_EQ(root.children[0].tail, "two");
  EXPECT_EQ(root.children[1].text, "<&\xF0\x90\x80\x80");
  EXPECT_EQ(root.children[1].tail, "<three>");
  EXPECT_TRUE(root.children[2].is("", "n"));
  ASSERT_NE(root.attribute("DAV:", "k"), nullptr);
  EXPECT_EQ(*root.attribute("DAV:", "k"), "1");
  EXPECT_EQ(*root.attribute("", "k"), "2");
  EXPECT_EQ(root.attribute("DAV:", "other"), nullptr);
  ASSERT_NE(root.child("DAV:", "c"), nullptr);
  EXPECT_EQ(root.child("", "c"), nullptr);
}

TEST(Xml, KeepsAttributeValues) {
  const auto root = parse_xml("<a b='&amp;&lt;&quot;&#38;&#x26;&amp;amp;&amp;#38;' c='x&#10;y&#9;z'/>");
  EXPECT_EQ(*root.attribute("", "b"), "&<\"&&&amp;&#38;");
  EXPECT_EQ(*root.attribute("", "c"), "x\ny\tz");
  equal(root, parse_xml(written(root)));
}

TEST(Xml, WritesWhatMeansTheSame) {
  const std::string document =
      "<p:value xmlns:p='http://p/' xmlns='http://d/' xmlns:q='http://q/' xml:lang='de' q:at='&lt;1&gt;' "
      "at=\"'2'\">"
      "mixed <b q:at='3' p:at='4'>bold <i xmlns=''>plain</i></b> &amp; text\r\n<p:c/> end</p:value>";
  const auto root = parse_xml(document);
  equal(root, parse_xml(written(root)));
  EXPECT_EQ(again(written(root)), written(root));
  // In the middle of another document, with other namespaces in force.
  const auto around = parse_xml("<d:prop xmlns:d='DAV:' xmlns='urn:other'>" + written(root) + "</d:prop>");
  equal(root, around.children.at(0));
}

TEST(Xml, WritesElementsWithoutNamespace) {
  EXPECT_EQ(again("<x>1</x>"), "<x>1</x>");
  EXPECT_EQ(again("<a xmlns='urn:a'><x xmlns=''><a xmlns='urn:a'/></x></a>"),
            "<a xmlns=\"urn:a\"><x xmlns=\"\"><a xmlns=\"urn:a\"/></x></a>");
}

TEST(Xml, SpeaksUtf8AndUtf16) {
  const std::u16string text = u"<a>\u00e9\u65e5\U0001F600</a>";
  const std::string utf8 = "<a>\xC3\xA9\xE6\x97\xA5\xF0\x9F\x98\x80</a>";
  EXPECT_EQ(again(utf8), utf8);
  EXPECT_EQ(again("\xEF\xBB\xBF" + utf8), utf8);
  EXPECT_EQ(again("<?xml version='1.0' encoding='UTF-8'?>" + utf8), utf8);
  for (const bool big : {false, true}) {
    EXPECT_EQ(again(utf16(text, big)), utf8);
    EXPECT_EQ(again(utf16(u"<?xml version='1.0' encoding='UTF-16'?>" + text, big)), utf8);
    EXPECT_EQ(written(parse_xml(utf16(text, big), "utf-16")), utf8);
  }
  EXPECT_EQ(written(parse_xml("<?xml version='1.0' encoding='iso-8859-1'?>" + utf8, "UTF-8")), utf8)
      << "the Content-Type wins";
}

TEST(Xml, ReadsPiecesOfAnySize) {
  const auto documents = {std::string("<?xml version='1.0'?><a b='1'>t\xC3\xA9xt<c/>&amp;</a>"),
                          utf16(u"<?xml version='1.0'?><a b='1'>t\u00e9xt<c/>&amp;\U0001F600</a>", true)};
  for (const auto& document : documents) {
    const auto whole = again(document);
    for (std::size_t size = 1; size < 12; ++size) {
      XmlReader reader;
      for (std::size_t at = 0; at < document.size(); at += size) reader.feed(document.substr(at, size));
      EXPECT_EQ(written(reader.finish()), whole) << size;
    }
  }
}

TEST(Xml, EscapesWhatXmlCannotSay) {
  std::string out;
  append_escaped(out, "a\x01\r\n\t'é😀]]>&<\"\xEF\xBF\xBE\xEF\xBF\xBF\xEF\xBB\xBF");
  EXPECT_EQ(out, "a\xEF\xBF\xBD&#13;\n\t&#39;é😀]]&gt;&amp;&lt;&quot;\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBB\xBF");
  const auto back = parse_xml("<a b=\"" + out + "\">" + out + "</a>");
  EXPECT_EQ(back.text, "a\xEF\xBF\xBD\r\n\t'é😀]]>&<\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBB\xBF");
}

TEST(Xml, FindsTheCharset) {
  EXPECT_EQ(charset_of("application/xml"), "");
  EXPECT_EQ(charset_of("text/xml; charset=utf-8"), "utf-8");
  EXPECT_EQ(charset_of("text/xml ; a=b; CHARSET = \"UTF-16\" ; c"), "UTF-16");
}

}  // namespace
}  // namespace welkin::wire
