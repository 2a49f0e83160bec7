#include "welkin/wire/multistatus.hpp"

#include <gtest/gtest.h>

#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::wire {
namespace {

std::string segment(std::string_view name) {
  std::string out;
  append_href_segment(out, name);
  return out;
}
/// What a client that parses the XML would take for the href's text.
std::string as_text_of(const std::string& escaped) { return parse_xml("<h>" + escaped + "</h>").text; }

TEST(Multistatus, EncodesHrefsOnce) {
  EXPECT_EQ(segment("file-000001.txt"), "file-000001.txt");
  EXPECT_EQ(segment("a b"), "a%20b");
  EXPECT_EQ(segment("a%b#c?d[e]f<g>\"h"), "a%25b%23c%3Fd%5Be%5Df%3Cg%3E%22h");
  EXPECT_EQ(segment("a&b'c"), "a&amp;b&#39;c");
  EXPECT_EQ(segment("!$()*+,;=:@-._~"), "!$()*+,;=:@-._~");
  EXPECT_EQ(segment("\xC3\xA9\xE6\x97\xA5\xF0\x9F\x98\x80"), "%C3%A9%E6%97%A5%F0%9F%98%80");
  EXPECT_EQ(segment(""), "");
  const std::vector<std::string> names = {"Docs & more", "x"};
  EXPECT_EQ(href_prefix("/cloud/webdav", names), "/cloud/webdav/Docs%20&amp;%20more/x/");
  EXPECT_EQ(href_prefix("/webdav/", {}), "/webdav/");
}

TEST(Multistatus, EveryByteOfAHrefComesBack) {
  for (int c = 1; c < 256; ++c) {
    const std::string name = "x" + std::string(1, static_cast<char>(c)) + "y";
    EXPECT_EQ(text::percent_decode(as_text_of(segment(name))), name) << c;
    EXPECT_EQ(as_text_of(segment(name)), text::percent_encode(name, "!$&'()*+,;=:@")) << c;
  }
}

TEST(Multistatus, WritesDatesAsTheClockDoes) {
  for (const Micros at : {Micros{0}, Micros{784'111'777'000'000}, Micros{951'782'400'000'000}, Micros{-1},
                          Micros{1'500'000'000'999'999}, Micros{4'102'444'799'000'000},
                          Micros{-2'208'988'800'000'000}, Micros{253'402'300'799'000'000}}) {
    std::string http, rfc;
    append_http_date(http, at);
    append_rfc3339(rfc, at);
    EXPECT_EQ(http, times::http_date(at));
    EXPECT_EQ(rfc, times::rfc3339(at));
  }
  for (Micros day = -800'000; day < 800'000;
       day += 97) {  // years -221 to 4160; the clock prints from year 0 on
    if (day < -719'528) continue;
    std::string rfc;
    append_rfc3339(rfc, day * 86'400'000'000);
    EXPECT_EQ(rfc, times::rfc3339(day * 86'400'000'000)) << day;
  }
}

TEST(Multistatus, IsADocument) {
  constexpr XmlNamespace kMore[] = {{"A", "http://apache.org/dav/props/"}};
  std::string out;
  Multistatus m(out);
  m.begin(kMore);
  m.begin_response("/webdav/", "", true);
  m.begin_propstat();
  append_empty_element(out, "DAV:", "resourcetype", kMore);
  append_empty_element(out, "http://apache.org/dav/props/", "executable", kMore);
  append_empty_element(out, "urn:x?a&b", "y", kMore);
  append_empty_element(out, "", "z", kMore);
  m.end_propstat(404);
  m.end_response();
  m.begin_response("/webdav/", "a b", true);
  m.status(507, "<d:number-of-matches-within-limits/>");
  m.end_response();
  m.end();
  SCOPED_TRACE(out);
  const auto root = parse_xml(out);
  ASSERT_TRUE(root.is("DAV:", "multistatus"));
  ASSERT_EQ(root.children.size(), 2u);
  const auto& first = root.children[0];
  EXPECT_EQ(first.child("DAV:", "href")->text, "/webdav/");
  const auto& prop = *first.child("DAV:", "propstat")->child("DAV:", "prop");
  EXPECT_TRUE(prop.children.at(0).is("DAV:", "resourcetype"));
  EXPECT_TRUE(prop.children.at(1).is("http://apache.org/dav/props/", "executable"));
  EXPECT_TRUE(prop.children.at(2).is("urn:x?a&b", "y"));
  EXPECT_TRUE(prop.children.at(3).is("", "z"));
  EXPECT_EQ(first.child("DAV:", "propstat")->child("DAV:", "status")->text, "HTTP/1.1 404 Not Found");
  EXPECT_EQ(root.children[1].child("DAV:", "href")->text, "/webdav/a%20b/");
  EXPECT_EQ(root.children[1].child("DAV:", "status")->text, "HTTP/1.1 507 Insufficient Storage");
  EXPECT_EQ(out.find('\n', 60), std::string::npos) << "no line breaks";
}

}  // namespace
}  // namespace welkin::wire
