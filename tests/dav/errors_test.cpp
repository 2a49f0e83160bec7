#include "dav/errors.hpp"

#include <gtest/gtest.h>

#include "dav/escape.hpp"

namespace welkin::dav {
namespace {

TEST(DavErrors, NameThePrecondition) {
  const auto known = error_xml("locked", "It is locked");
  EXPECT_NE(known.find("<D:lock-token-submitted/>"), std::string::npos) << known;
  const auto ours = error_xml("bad_credentials", "a <b> & \"c\"");
  EXPECT_NE(ours.find("<w:bad_credentials/>"), std::string::npos) << ours;
  EXPECT_NE(ours.find("<s:message>a &lt;b&gt; &amp; &quot;c&quot;</s:message>"), std::string::npos) << ours;
}

TEST(DavErrors, EscapeWhatXmlCannotSay) {
  std::string out;
  append_escaped(out, "a\x01\r\n\t'é😀]]>");
  EXPECT_EQ(out, "a\xEF\xBF\xBD&#13;\n\t&#39;é😀]]&gt;");
}

}  // namespace
}  // namespace welkin::dav
