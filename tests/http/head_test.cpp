#include "http/head.hpp"

#include <gtest/gtest.h>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <random>
#include <string>

namespace welkin::http {
namespace {

using Step = HeadParser::Step;

struct Outcome {
  Step step;
  unsigned status = 0;
  std::string slug;
};

Outcome parse(const std::string& bytes) {
  HeadParser parser;
  parser.reset();
  const auto step = parser.parse(bytes);
  if (step != Step::refused) return {step, 0, ""};
  return {step, static_cast<unsigned>(parser.refusal().status), parser.refusal().slug};
}

std::string get(const std::string& fields) { return "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; }

TEST(Head, ReadsAnOrdinaryRequest) {
  HeadParser parser;
  parser.reset();
  const std::string bytes =
      "PROPFIND /webdav/a%20b?x=1 HTTP/1.1\r\nHost: Cloud.example:8443\r\nDepth:1\r\nX-Empty:\r\nAccept: \t "
      "a \t\r\n"
      "Content-Length: 17\r\n\r\nrest";
  ASSERT_EQ(parser.parse(bytes), Step::complete);
  EXPECT_EQ(parser.consumed(), bytes.size() - 4);
  EXPECT_EQ(parser.head.method, Method::propfind);
  EXPECT_EQ(parser.head.target, "/webdav/a%20b?x=1");
  EXPECT_EQ(parser.head.authority, "Cloud.example:8443");
  EXPECT_EQ(parser.head.fields.get("depth"), "1");
  EXPECT_TRUE(parser.head.fields.has("x-empty"));
  EXPECT_EQ(parser.head.fields.get("accept"), "a");
  EXPECT_EQ(parser.head.content_length, 17u);
  EXPECT_FALSE(parser.head.chunked);
  EXPECT_TRUE(parser.head.keep_alive);
  EXPECT_EQ(parser.head.minor, 1);
}

TEST(Head, ComesToTheSameInAnyPieces) {
  const std::string bytes =
      "\r\nPUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n5\r\n";
  for (std::size_t cut = 0; cut < bytes.size() - 3; ++cut) {
    HeadParser parser;
    parser.reset();
    const auto first = parser.parse(bytes.substr(0, cut));
    if (cut < bytes.size() - 3) {
      ASSERT_EQ(first, Step::need_more) << cut;
    }
    ASSERT_EQ(parser.parse(bytes), Step::complete) << cut;
    EXPECT_EQ(parser.consumed(), bytes.size() - 3);
    EXPECT_TRUE(parser.head.chunked);
    EXPECT_TRUE(parser.head.expect_continue);
    EXPECT_EQ(parser.head.fields.size(), 3u);
  }
  HeadParser bytewise;
  bytewise.reset();
  for (std::size_t n = 1; n < bytes.size() - 3; ++n)
    ASSERT_EQ(bytewise.parse(bytes.substr(0, n)), Step::need_more) << n;
  EXPECT_EQ(bytewise.parse(bytes), Step::complete);
}

TEST(Head, CanBeUsedAgain) {
  HeadParser parser;
  parser.reset();
  ASSERT_EQ(parser.parse(get("Connection: close\r\nX-A: " + std::string(3000, 'v') + "\r\n")),
            Step::complete);
  EXPECT_FALSE(parser.head.keep_alive);
  parser.reset();
  ASSERT_EQ(parser.parse(get("")), Step::complete);
  EXPECT_TRUE(parser.head.keep_alive);
  EXPECT_EQ(parser.head.fields.size(), 1u);
  EXPECT_FALSE(parser.head.fields.has("x-a"));
}

TEST(Head, KeepAliveFollowsVersionAndConnection) {
  const auto keeps = [](const std::string& bytes) {
    HeadParser parser;
    parser.reset();
    EXPECT_EQ(parser.parse(bytes), Step::complete) << bytes;
    return parser.head.keep_alive;
  };
  EXPECT_TRUE(keeps(get("")));
  EXPECT_TRUE(keeps(get("Connection: keep-alive\r\n")));
  EXPECT_FALSE(keeps(get("Connection: Close\r\n")));
  EXPECT_FALSE(keeps(get("Connection: keep-alive, close\r\n")));
  EXPECT_FALSE(keeps(get("Connection: keep-alive\r\nConnection: foo,close\r\n")));
  EXPECT_TRUE(keeps(get("Connection: closed\r\n")));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
}

TEST(Head, AbsoluteFormIsCutDownToItsPath) {
  const auto target = [](const std::string& form, const std::string& host) {
    HeadParser parser;
    parser.reset();
    if (parser.parse("GET " + form + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n") != Step::complete)
      return std::string("-");
    return parser.head.target + " " + parser.head.authority;
  };
  EXPECT_EQ(target("http://a.example/x?y", "a.example"), "/x?y a.example");
  EXPECT_EQ(target("HTTP://A.example", "a.example"), "/ A.example");
  EXPECT_EQ(target("https://a.example?q", "a.example:443"), "/?q a.example");
  EXPECT_EQ(target("http://a.example:80/", "a.example"), "/ a.example:80");
  EXPECT_EQ(target("http://[::1]:8086/", "[::1]:8086"), "/ [::1]:8086");
  EXPECT_EQ(target("http://b.example/", "a.example"), "-");
  EXPECT_EQ(target("http://a.example:81/", "a.example"), "-");
  EXPECT_EQ(target("https://a.example:80/", "a.example"), "-");
  EXPECT_EQ(target("http://user@a.example/", "a.example"), "-");
  EXPECT_EQ(target("ftp://a.example/", "a.example"), "-");
  EXPECT_EQ(target("http:///x", "a.example"), "-");
  EXPECT_EQ(target("/a://b", "a.example"), "/a://b a.example");
}

TEST(Head, LimitsAreExact) {
  const auto with_target = [](std::size_t bytes) {
    return "GET /" + std::string(bytes - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_EQ(parse(with_target(kTargetBytesMax)).step, Step::complete);
  EXPECT_EQ(parse(with_target(kTargetBytesMax + 1)).status, 414u);
  EXPECT_EQ(parse("GET /" + std::string(kTargetBytesMax, 'a')).status, 414u) << "without waiting for the end";

  const auto with_head = [](std::size_t bytes) {
    const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    return begin + std::string(bytes - begin.size() - 4, 'a') + "\r\n\r\n";
  };
  EXPECT_EQ(parse(with_head(kHeadBytesMax)).step, Step::complete);
  EXPECT_EQ(parse(with_head(kHeadBytesMax + 1)).status, 431u);
  EXPECT_EQ(parse(with_head(1 << 20)).status, 431u);

  const auto with_fields = [](std::size_t count) {
    std::string fields;
    for (std::size_t i = 1; i < count; ++i) fields += "X" + std::to_string(i) + ": a\r\n";
    return get(fields);
  };
  EXPECT_EQ(parse(with_fields(kFieldsMax)).step, Step::complete);
  EXPECT_EQ(parse(with_fields(kFieldsMax + 1)).status, 431u);
}

TEST(Head, NonsenseIsRefusedBeforeItsEnd) {
  EXPECT_EQ(parse("\x16\x03\x01\x02").status, 400u) << "a TLS client on a plain port";
  EXPECT_EQ(parse("GET /\r\n").status, 400u) << "HTTP/0.9 sends no more";
  EXPECT_EQ(parse("GET / HTTP/1.1\nHost").status, 400u);
  EXPECT_EQ(parse(std::string(40, 'G')).status, 400u);
  EXPECT_EQ(parse("PRI * HTTP/2.0\r\n").status, 505u);
  EXPECT_EQ(parse("\r\n\r\n").status, 400u);
  EXPECT_EQ(parse("\r\n").step, Step::need_more);
  EXPECT_EQ(parse("GE").step, Step::need_more);
}

TEST(Head, Authorities) {
  for (const auto* good :
       {"a", "a.example", "A-1.example:80", "127.0.0.1:8086", "[::1]", "[fe80::1]:80", "x_y"})
    EXPECT_TRUE(is_authority(good)) << good;
  for (const auto* bad : {"", ":80", "a:", "a:b", "a:123456", "a b", "a/b", "a@b", "[::1", "[]", "[::1]80",
                          "[g::1]", "a,b", "a\\b", "a%41", "::1", "a\"b", "a<b"})
    EXPECT_FALSE(is_authority(bad)) << bad;
  EXPECT_EQ(host_of("a.example:80"), "a.example");
  EXPECT_EQ(host_of("[::1]:80"), "[::1]");
}

/// Beast, an independent parser, must understand what we accept in the same way: whatever the two see
/// differently would be a gap for smuggling. @return false when it refuses the request, which is no such gap
bool beast_agrees(const std::string& bytes, const HeadParser& ours) {
  namespace beast = boost::beast;
  namespace http = boost::beast::http;
  http::request_parser<http::empty_body> parser;
  parser.header_limit(1 << 20);
  parser.skip(true);
  parser.eager(false);
  beast::error_code error;
  const std::size_t skip = bytes.starts_with("\r\n") ? 2 : 0;
  const auto n = parser.put(boost::asio::buffer(bytes.data() + skip, bytes.size() - skip), error);
  if (error) return false;
  EXPECT_TRUE(parser.is_header_done()) << bytes;
  EXPECT_EQ(n + skip, ours.consumed()) << bytes;
  const auto& seen = parser.get();
  EXPECT_EQ(seen.method_string(), ours.head.method_token);
  EXPECT_EQ(seen.version(), 10u + static_cast<unsigned>(ours.head.minor));
  EXPECT_EQ(parser.chunked(), ours.head.chunked) << bytes;
  if (ours.head.content_length) {
    EXPECT_EQ(parser.content_length().value_or(UINT64_MAX), *ours.head.content_length) << bytes;
  }
  EXPECT_EQ(static_cast<std::size_t>(std::distance(seen.begin(), seen.end())), ours.head.fields.size());
  for (const auto& field : ours.head.fields) {  // Beast keeps fields of one name together
    const auto [first, last] = seen.equal_range(field.name);
    std::string theirs;
    for (auto f = first; f != last; ++f) theirs.append(theirs.empty() ? "" : ", ").append(f->value());
    std::string own;
    for (const auto& other : ours.head.fields)
      if (beast::iequals(other.name, field.name)) own.append(own.empty() ? "" : ", ").append(other.value);
    EXPECT_EQ(theirs, own) << bytes;
  }
  return true;
}

TEST(Head, AgreesWithAnotherParserOnMutatedRequests) {
  const std::string seeds[] = {
      "GET /a/b?c=d HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nCookie: a=b; c=d\r\n\r\n",
      "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nConnection: close\r\n\r\nhello, world",
      "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: "
      "100-continue\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "GET http://a/x HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
  };
  const std::string pieces[] = {"\r",       "\n",      "\r\n",
                                ":",        " ",       "\t",
                                ",",        "chunked", "Content-Length: 3\r\n",
                                "0",        "\0",      "Transfer-Encoding: x\r\n",
                                "\x80",     "\x7f",    "Host: b\r\n",
                                "HTTP/1.1", "\r\n ",   "/"};
  std::mt19937 random(20261130);
  unsigned accepted = 0;
  unsigned agreed = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = seeds[random() % std::size(seeds)];
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      const auto at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes.erase(at, 1 + random() % 3);
          break;
        case 1:
          bytes.insert(at, pieces[random() % std::size(pieces)]);
          break;
        case 2:
          bytes[at] = static_cast<char>(random());
          break;
        default:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 12));
      }
      if (bytes.empty()) bytes = "G";
    }
    HeadParser whole;
    whole.reset();
    const auto step = whole.parse(bytes);
    HeadParser pieces_parser;
    pieces_parser.reset();
    auto bytewise = Step::need_more;
    for (std::size_t n = 1; n <= bytes.size() && bytewise == Step::need_more; ++n)
      bytewise = pieces_parser.parse(std::string_view(bytes).substr(0, n));
    ASSERT_EQ(step, bytewise) << bytes;
    if (step != Step::complete) continue;
    ++accepted;
    agreed += beast_agrees(bytes, whole) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(agreed, 1'000u) << "the mutations leave something to compare";
  EXPECT_GT(agreed, accepted * 9 / 10) << "what we accept, others nearly always do too";
}

}  // namespace
}  // namespace welkin::http
