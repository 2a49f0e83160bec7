#include "people/names.hpp"

#include <gtest/gtest.h>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/people/people.hpp"

namespace welkin::people {
namespace {

template <class F>
std::string slug_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.slug();
  }
  return "accepted";
}

TEST(UserNames, AreFolded) {
  EXPECT_EQ(require_user_name("Alice"), "alice");
  EXPECT_EQ(require_user_name("a"), "a");
  EXPECT_EQ(require_user_name("a.b_c-9"), "a.b_c-9");
  EXPECT_EQ(require_user_name("_x_"), "_x_");
  EXPECT_EQ(require_user_name("admin"), "admin");
  EXPECT_EQ(require_user_name(std::string(64, 'a')), std::string(64, 'a'));
}

TEST(UserNames, RefuseWhatCouldBeAPathOrSomebodyElse) {
  const std::string nul("ab\0c", 4);
  for (const std::string& name : {std::string(),
                                  std::string(65, 'a'),
                                  std::string("a b"),
                                  std::string("a/b"),
                                  std::string(".."),
                                  std::string("."),
                                  std::string(".a"),
                                  std::string("a."),
                                  std::string("-a"),
                                  std::string("a-"),
                                  std::string("a@b.c"),
                                  std::string("ä"),
                                  std::string("\xff"),
                                  std::string("a\n"),
                                  nul,
                                  std::string("a%2fb"),
                                  std::string("<b>"),
                                  std::string("remote.php"),
                                  std::string("Public"),
                                  std::string("WEBDAV"),
                                  std::string("trashbin"),
                                  std::string("\xD0\xB0lice")})
    EXPECT_EQ(slug_of([&] { require_user_name(name); }), "bad_user_name") << text::hex(as_bytes(name));
}

TEST(UserNames, TheMessageIsSafeAndShort) {
  try {
    require_user_name(std::string(100'000, '\n'));
    FAIL();
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_LT(message.size(), 1000u);
  }
}

TEST(Emails, AreFoldedAndOptional) {
  EXPECT_EQ(require_email(""), "");
  EXPECT_EQ(require_email("  "), "");
  EXPECT_EQ(require_email("Alice@Example.ORG"), "alice@example.org");
  EXPECT_EQ(require_email("a+b@x.y"), "a+b@x.y");
}

TEST(Emails, RefuseWhatIsNone) {
  for (const std::string email :
       {"a", "@b.c", "a@", "a@b", "a@b.", "a@.b", "a@b..c", "a@-b.c", "a@b@c.d", "a b@c.d", "<a@b.c>",
        "a@b.c\r\nBcc: x", "a\"@b.c", "a@b.c,d@e.f", "a&b@c.d"})
    EXPECT_EQ(slug_of([&] { require_email(email); }), "bad_email") << email;
  EXPECT_EQ(slug_of([] { require_email(std::string(250, 'a') + "@b.cd"); }), "bad_email");
  EXPECT_EQ(slug_of([] { require_email("a\xff@b.c"); }), "bad_email");
}

TEST(Labels, NeedOneLineOfText) {
  EXPECT_EQ(require_label("  My phone "), "My phone");
  EXPECT_EQ(require_label(std::string(255, 'x')).size(), 255u);
  EXPECT_EQ(slug_of([] { require_label(" "); }), "bad_label");
  EXPECT_EQ(slug_of([] { require_label(std::string(256, 'x')); }), "bad_label");
  EXPECT_EQ(slug_of([] { require_label("a\nb"); }), "bad_label");
  EXPECT_EQ(slug_of([] { require_label("a\xc3"); }), "bad_label");
}

TEST(LoginKey, IsBoundedWhateverIsTyped) {
  EXPECT_EQ(login_key(" Alice "), "alice");
  EXPECT_EQ(login_key("A@B.c"), "a@b.c");
  const std::string nul("a\0b", 3);
  for (const std::string& typed : {std::string("\xff"), nul, std::string(1'000'000, 'a')}) {
    const auto key = login_key(typed);
    EXPECT_EQ(key.size(), 65u);
    EXPECT_EQ(key.front(), '#');
    EXPECT_EQ(slug_of([&] { require_user_name(key); }), "bad_user_name") << "nobody may be called a digest";
  }
  EXPECT_NE(login_key("\xff"), login_key("\xfe"));
}

TEST(CleanLine, IsUtf8AndOneLine) {
  for (const std::string& raw : {std::string("a\r\nb"), std::string("\xff\xfe"), std::string("ok"),
                                 std::string(1000, '\x01'), std::string("é") + std::string(99, 'x')}) {
    const auto line = clean_line(raw, 100);
    EXPECT_TRUE(text::is_utf8(line));
    EXPECT_LE(line.size(), 100u);
    EXPECT_EQ(line.find_first_of("\r\n\x01"), std::string::npos);
  }
  EXPECT_EQ(clean_line(std::string(99, 'x') + "é", 100), std::string(99, 'x'));
}

}  // namespace
}  // namespace welkin::people
