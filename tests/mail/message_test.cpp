#include "welkin/mail/message.hpp"

#include <gtest/gtest.h>

#include "welkin/core/bytes.hpp"
#include "welkin/core/text.hpp"

namespace welkin::mail {
namespace {

Message sample() {
  Message out;
  out.from = "cloud@example.org";
  out.from_name = "Alice";
  out.reply_to = "alice@example.org";
  out.to = "ext@elsewhere.example";
  out.subject = "Invitation: plan";
  out.text = "Hello";
  out.method = "REQUEST";
  out.calendar = "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n";
  out.id = "x@example.org";
  out.at = 1'796'040'000;
  return out;
}

std::string head_of(const std::string& mail) { return mail.substr(0, mail.find("\r\n\r\n")); }

TEST(Address, OnlyPlainOnesAreSentTo) {
  for (const char* good : {"a@b", "first.last+tag@mail.example.org", "o'neil@example.org", "1@2.3"})
    EXPECT_TRUE(is_address(good)) << good;
  const std::string bad[] = {"",
                             "a",
                             "@b",
                             "a@",
                             "a@b@c",
                             "a b@c",
                             "a@b c",
                             "<a@b>",
                             "a,b@c",
                             "a@b\r\nRCPT TO:<x@y>",
                             "\"a\"@b",
                             "a@[127.0.0.1]",
                             "a@b..c",
                             "a@.b",
                             ".a@b",
                             "-a@b",
                             std::string("a\0@b", 4),
                             "\xC3\xBC@b",
                             std::string(65, 'a') + "@b",
                             "a@" + std::string(260, 'b')};
  for (const auto& one : bad) EXPECT_FALSE(is_address(one)) << one;
}

TEST(Message, HoldsWordsHtmlAndTheCalendarTwice) {
  const auto mail = render(sample());
  const auto head = head_of(mail);
  EXPECT_NE(head.find("\r\nTo: <ext@elsewhere.example>\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nReply-To: <alice@example.org>\r\n"), std::string::npos);
  EXPECT_NE(head.find("\r\nAuto-Submitted: auto-generated"), std::string::npos) << "no robot answers a robot";
  EXPECT_NE(mail.find("Content-Type: text/calendar; charset=utf-8; method=REQUEST"), std::string::npos);
  EXPECT_NE(mail.find("Content-Type: text/plain"), std::string::npos);
  EXPECT_NE(mail.find("Content-Type: text/html"), std::string::npos);
  const auto body = text::base64(as_bytes(sample().calendar));
  const auto first = mail.find(body);
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(mail.find(body, first + 1), std::string::npos);
}

TEST(Message, NoTextMakesAHeaderOrARecipient) {
  auto message = sample();
  const std::string evil = "x\r\nBcc: victim@example.org\r\n\r\n<script>\n.\r\nMAIL FROM:<a@b>";
  message.subject = evil;
  message.from_name = evil;
  message.text = evil;
  message.calendar = evil;
  const auto mail = render(message);
  EXPECT_EQ(mail.find("Bcc"), std::string::npos);
  EXPECT_EQ(mail.find("<script>"), std::string::npos);
  EXPECT_EQ(mail.find("MAIL FROM"), std::string::npos);
  EXPECT_EQ(mail.find("\r\n.\r\n"), std::string::npos);
  for (std::size_t i = 0; i < mail.size(); ++i) {
    ASSERT_LT(static_cast<unsigned char>(mail[i]), 0x80) << "ASCII only";
    if (mail[i] == '\n') ASSERT_EQ(mail[i - 1], '\r');
  }
}

TEST(Message, LongWordsOfAnyScriptAreFoldedBetweenCodePoints) {
  auto message = sample();
  message.subject.clear();
  for (int i = 0; i < 100; ++i) message.subject += "\xF0\x9F\x98\x80";
  const auto head = head_of(render(message));
  for (const auto line : text::split(head, '\n')) EXPECT_LE(line.size(), 100u);
  std::string decoded;
  const std::string mark = "=?UTF-8?B?";
  const auto subject = head.find("Subject:");
  for (auto at = head.find(mark, subject); at != std::string::npos && at < head.find("Date:");
       at = head.find(mark, at + 1)) {
    const auto end = head.find("?=", at + mark.size());
    const auto bytes = text::from_base64(head.substr(at + mark.size(), end - at - mark.size()));
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(text::is_utf8(as_text(*bytes)));
    decoded += as_text(*bytes);
  }
  EXPECT_EQ(decoded, message.subject);
}

}  // namespace
}  // namespace welkin::mail
