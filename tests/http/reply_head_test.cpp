#include "http/reply_head.hpp"

#include <gtest/gtest.h>

#include "welkin/core/error.hpp"

namespace welkin::http {
namespace {

std::string render(const Fields& fields, ReplyHead head = {}) {
  head.fields = &fields;
  head.date = "D";
  head.request_id = "R";
  std::string out;
  write_head(out, head);
  return out;
}

std::size_t count(const std::string& s, std::string_view what) {
  std::size_t n = 0;
  for (auto at = s.find(what); at != s.npos; at = s.find(what, at + 1)) ++n;
  return n;
}

TEST(ReplyHead, CarriesTheDefaults) {
  ReplyHead head;
  head.framing = Framing::length;
  head.length = 12;
  head.content_type = "text/plain";
  const auto out = render({}, head);
  EXPECT_TRUE(out.starts_with("HTTP/1.1 200 OK\r\n")) << out;
  EXPECT_TRUE(out.ends_with("\r\n\r\n"));
  for (const auto* line : {"Content-Type: text/plain\r\n", "Content-Length: 12\r\n", "Date: D\r\n",
                           "X-Request-Id: R\r\n", "X-Content-Type-Options: nosniff\r\n",
                           "X-Frame-Options: DENY\r\n", "Referrer-Policy: no-referrer\r\n",
                           "Permissions-Policy: ", "Cross-Origin-Resource-Policy: same-origin\r\n",
                           "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri "
                           "'none'; form-action 'none'\r\n",
                           "Cache-Control: private, no-store\r\n"})
    EXPECT_EQ(count(out, line), 1u) << line;
  EXPECT_EQ(count(out, "Strict-Transport-Security"), 0u);
  EXPECT_EQ(count(out, "Connection"), 0u);
}

TEST(ReplyHead, OnlyPagesSayWhatPagesMayDo) {
  for (const auto* type : {"application/json", "application/xml; charset=utf-8", ""}) {
    ReplyHead head;
    head.content_type = type;
    const auto out = render({}, head);
    EXPECT_EQ(count(out, "X-Content-Type-Options: nosniff\r\n"), 1u) << type;
    EXPECT_EQ(count(out, "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'"), 1u) << type;
    EXPECT_EQ(count(out, "Referrer-Policy") + count(out, "Permissions-Policy"), 0u) << type;
  }
  Fields fields;
  fields.set("Content-Type", "text/html; charset=utf-8");
  EXPECT_EQ(count(render(fields), "Referrer-Policy: no-referrer\r\n"), 1u) << "set as a field";
  fields.set("Content-Type", "image/svg+xml");
  fields.set("X-Frame-Options", "SAMEORIGIN");
  const auto out = render(fields);
  EXPECT_EQ(count(out, "Permissions-Policy: "), 1u);
  EXPECT_EQ(count(out, "X-Frame-Options"), 1u);
}

TEST(ReplyHead, WhatTheHandlerSetReplacesItsDefault) {
  Fields fields;
  fields.set("cache-control", "max-age=60");
  fields.set("X-Frame-Options", "");
  fields.set("DATE", "other");
  fields.set("x-request-id", "mine");
  ReplyHead head;
  head.strict_transport = true;
  const auto out = render(fields, head);
  EXPECT_EQ(count(out, "ache-"), 0u + 0u + count(out, "cache-control: max-age=60"));
  EXPECT_EQ(count(out, "no-store"), 0u);
  EXPECT_EQ(count(out, "X-Frame-Options"), 0u) << "set to nothing: left out";
  EXPECT_EQ(count(out, "Date: D"), 0u);
  EXPECT_EQ(count(out, "X-Request-Id: R"), 0u);
  EXPECT_EQ(count(out, "Content-Security-Policy"), 1u);
  EXPECT_EQ(count(out, "Strict-Transport-Security: max-age=31536000\r\n"), 1u);
}

TEST(ReplyHead, FramingBelongsToTheWriter) {
  Fields fields;
  fields.set("Content-Length", "999");
  fields.set("Transfer-Encoding", "gzip");
  fields.set("Connection", "upgrade");
  ReplyHead head;
  head.framing = Framing::chunked;
  head.close = true;
  const auto out = render(fields, head);
  EXPECT_EQ(count(out, "999"), 0u);
  EXPECT_EQ(count(out, "Transfer-Encoding: chunked\r\n"), 1u);
  EXPECT_EQ(count(out, "gzip"), 0u);
  EXPECT_EQ(count(out, "Connection: close\r\n"), 1u);
  EXPECT_EQ(count(out, "Connection"), 1u);
}

TEST(ReplyHead, NothingSplitsAnAnswer) {
  const std::string values[] = {"a\r\nX: y", "a\nb", "a\rb", std::string("a\0b", 3), "\x1b[31m", "\x7f"};
  for (const auto& value : values) {
    Fields fields;
    fields.set("Location", value);
    EXPECT_THROW(render(fields), Error) << value;
    ReplyHead head;
    head.content_type = value;
    EXPECT_THROW(render({}, head), Error) << value;
  }
  for (const auto* name : {"", "a b", "a:", "a\r\nb", "a\n"}) {
    Fields fields;
    fields.set(name, "x");
    EXPECT_THROW(render(fields), Error) << name;
  }
  Fields fine;
  fine.set("X-Name", "\xC3\xA4\t!");
  EXPECT_NO_THROW(render(fine));
}

}  // namespace
}  // namespace welkin::http
