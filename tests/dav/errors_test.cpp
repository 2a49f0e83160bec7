#include "welkin/dav/errors.hpp"

#include <gtest/gtest.h>

namespace welkin::dav {
namespace {

TEST(DavErrors, NameThePrecondition) {
  const auto known = error_xml("locked", "It is locked");
  EXPECT_NE(known.find("<d:lock-token-submitted/>"), std::string::npos) << known;
  const auto ours = error_xml("bad_credentials", "a <b> & \"c\"");
  EXPECT_NE(ours.find("<w:bad_credentials/>"), std::string::npos) << ours;
  EXPECT_NE(ours.find("<s:message>a &lt;b&gt; &amp; &quot;c&quot;</s:message>"), std::string::npos) << ours;
}

}  // namespace
}  // namespace welkin::dav
