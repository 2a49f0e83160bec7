// Requests that two parsers in a row could understand differently, or that cost more than they should (checks
// N-03, N-04, HT-01): each is refused with its status, reaches no handler, and the connection ends.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "http/test_server.hpp"

namespace welkin::test {
namespace {

struct Abuse {
  const char* name;
  std::string bytes;
  int status;
};

std::string zero(std::string s) {  // '@' stands for NUL
  for (auto& c : s)
    if (c == '@') c = '\0';
  return s;
}

/// A request whose only fault is in its request line.
std::string line(const std::string& request_line) { return request_line + "\r\nHost: a\r\n\r\n"; }
/// A request whose only fault is in its fields.
std::string fields(const std::string& all) { return "POST /echo HTTP/1.1\r\nHost: a\r\n" + all + "\r\n"; }
/// A chunked request that a handler would read.
std::string chunks(const std::string& body) { return fields("Transfer-Encoding: chunked\r\n") + body; }

std::vector<Abuse> request_lines() {
  return {
      {"HTTP/0.9", "GET /hello\r\n", 400},
      {"HTTP/0.9 with fields", line("GET /hello"), 400},
      {"HTTP/0.9 with a bare LF", "GET /hello\n", 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"HTTP/2.0", line("GET /hello HTTP/2.0"), 505},
      {"HTTP/3.0", line("GET /hello HTTP/3.0"), 505},
      {"HTTP/1.2", line("GET /hello HTTP/1.2"), 505},
      {"HTTP/0.9 said", line("GET /hello HTTP/0.9"), 505},
      {"HTTP/1.10", line("GET /hello HTTP/1.10"), 400},
      {"HTTP/1", line("GET /hello HTTP/1"), 400},
      {"HTTP/1.", line("GET /hello HTTP/1."), 400},
      {"HTTP/.1", line("GET /hello HTTP/.1"), 400},
      {"HTTP/11", line("GET /hello HTTP/11.1"), 400},
      {"lower-case version", line("GET /hello http/1.1"), 400},
      {"another protocol", line("GET /hello HTTPS/1.1"), 400},
      {"RTSP", line("OPTIONS * RTSP/1.0"), 400},
      {"blank in the version", line("GET /hello HTTP/ 1.1"), 400},
      {"blank after the version", line("GET /hello HTTP/1.1 "), 400},
      {"tab after the version", line("GET /hello HTTP/1.1\t"), 400},
      {"two blanks before the target", line("GET  /hello HTTP/1.1"), 400},
      {"two blanks before the version", line("GET /hello  HTTP/1.1"), 400},
      {"tab for a blank", line("GET\t/hello HTTP/1.1"), 400},
      {"tab before the version", line("GET /hello\tHTTP/1.1"), 400},
      {"vertical tab for a blank", line("GET\x0b/hello HTTP/1.1"), 400},
      {"blank before the method", line(" GET /hello HTTP/1.1"), 400},
      {"CR before the method", "\rGET /hello HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"LF before the method", "\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"two empty lines before", "\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"no method", line(" /hello HTTP/1.1"), 400},
      {"no target", line("GET  HTTP/1.1"), 400},
      {"only a method", line("GET"), 400},
      {"method with a slash", line("G/T /hello HTTP/1.1"), 400},
      {"method with a colon", line("GET: /hello HTTP/1.1"), 400},
      {"method in brackets", line("(GET) /hello HTTP/1.1"), 400},
      {"method with a NUL", zero(line("G@ET /hello HTTP/1.1")), 400},
      {"method with a high byte", line("G\xc3\x89T /hello HTTP/1.1"), 400},
      {"method without end", std::string(100, 'A'), 400},
      {"method of 33 letters", line(std::string(33, 'A') + " /hello HTTP/1.1"), 400},
      {"unknown method", line("BREW /hello HTTP/1.1"), 501},
      {"lower-case method", line("get /hello HTTP/1.1"), 501},
      {"TRACE", line("TRACE /hello HTTP/1.1"), 405},
      {"CONNECT", line("CONNECT a.example:443 HTTP/1.1"), 501},
      {"CONNECT to a path", line("CONNECT /hello HTTP/1.1"), 501},
      {"target without a slash", line("GET hello HTTP/1.1"), 400},
      {"target with a fragment", line("GET /hello#x HTTP/1.1"), 400},
      {"target with a NUL", zero(line("GET /hel@lo HTTP/1.1")), 400},
      {"target with a control", line("GET /hel\x01lo HTTP/1.1"), 400},
      {"target with DEL", line("GET /hel\x7flo HTTP/1.1"), 400},
      {"target with a CR", line("GET /hel\rlo HTTP/1.1"), 400},
      {"target with a blank", line("GET /hel lo HTTP/1.1"), 400},
      {"asterisk for GET", line("GET * HTTP/1.1"), 400},
      {"asterisk with more", line("OPTIONS *x HTTP/1.1"), 400},
      {"authority form", line("GET a:80 HTTP/1.1"), 400},
      {"scheme-relative stays a path", line("GET //a/hello HTTP/1.1"), 404},
      {"absolute form of another host", line("GET http://b/hello HTTP/1.1"), 400},
      {"absolute form of another port", line("GET http://a:81/hello HTTP/1.1"), 400},
      {"absolute form with a user", line("GET http://u@a/hello HTTP/1.1"), 400},
      {"absolute form without a host", line("GET http:///hello HTTP/1.1"), 400},
      {"absolute form of a file", line("GET file:///etc/passwd HTTP/1.1"), 400},
      {"absolute form of another scheme", line("GET gopher://a/hello HTTP/1.1"), 400},
      {"absolute form with a bad port", line("GET http://a:x/hello HTTP/1.1"), 400},
      {"target of 9,000 bytes", line("GET /" + std::string(9000, 'a') + " HTTP/1.1"), 414},
      {"target of 64 kB", line("GET /" + std::string(65536, 'a') + " HTTP/1.1"), 414},
      {"target of 1 MB", line("GET /" + std::string(1 << 20, 'a') + " HTTP/1.1"), 414},
      {"query of 10,000 arguments",
       line("GET /hello?" +
            [] {
              std::string q;
              for (int i = 0; i < 10'000; ++i) q += "a=1&";
              return q;
            }() +
            " HTTP/1.1"),
       414},
      {"TLS on a plain port", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400},
      {"SSH", "SSH-2.0-OpenSSH_9.2\r\n", 400},
      {"SMTP", "EHLO a.example\r\n", 400},
      {"binary", std::string("\x00\x01\x02\x03", 4), 400},
      {"high bytes", "\xff\xfe\xfd", 400},
  };
}

std::vector<Abuse> header_fields() {
  const std::string many = [] {
    std::string s;
    for (int i = 0; i < 101; ++i) s += "X-" + std::to_string(i) + ": a\r\n";
    return s;
  }();
  const std::string flood = [] {
    std::string s;
    for (int i = 0; i < 10'000; ++i) s += "X: a\r\n";
    return s;
  }();
  const std::string get = "GET /hello HTTP/1.1\r\n";
  return {
      {"bare LF after the request line", "GET /hello HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"bare LF after a field", get + "Host: a\nX: b\r\n\r\n", 400},
      {"bare LF before the blank line", get + "Host: a\r\n\n", 400},
      {"bare LFs everywhere", "GET /hello HTTP/1.1\nHost: a\n\n", 400},
      {"bare CR in a value", get + "Host: a\r\nX: b\rY: c\r\n\r\n", 400},
      {"bare CR for a line end", get + "Host: a\rX: b\r\n\r\n", 400},
      {"CR CR LF", get + "Host: a\r\r\n\r\n", 400},
      {"bare CR in a name", get + "Host: a\r\nX\rY: c\r\n\r\n", 400},
      {"folded with a blank", get + "Host: a\r\nX: b\r\n c\r\n\r\n", 400},
      {"folded with a tab", get + "Host: a\r\nX: b\r\n\tc\r\n\r\n", 400},
      {"folded first line", get + " Host: a\r\n\r\n", 400},
      {"folded length", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 5\r\n\r\nhello", 400},
      {"blank before the colon", get + "Host : a\r\n\r\n", 400},
      {"tab before the colon", get + "Host\t: a\r\n\r\n", 400},
      {"blank in a name", get + "Host: a\r\nX Y: b\r\n\r\n", 400},
      {"no colon", get + "Host: a\r\nXY\r\n\r\n", 400},
      {"no name", get + "Host: a\r\n: b\r\n\r\n", 400},
      {"NUL in a value", zero(get + "Host: a\r\nX: b@c\r\n\r\n"), 400},
      {"NUL in a name", zero(get + "Host: a\r\nX@Y: c\r\n\r\n"), 400},
      {"control in a value", get + "Host: a\r\nX: b\x01\r\n\r\n", 400},
      {"escape in a value", get + "Host: a\r\nX: \x1b[31m\r\n\r\n", 400},
      {"DEL in a value", get + "Host: a\r\nX: b\x7f\r\n\r\n", 400},
      {"brackets in a name", get + "Host: a\r\nX[0]: c\r\n\r\n", 400},
      {"high byte in a name", get + "Host: a\r\n\xc3\x89: c\r\n\r\n", 400},
      {"quotes in a name", get + "Host: a\r\n\"X\": c\r\n\r\n", 400},
      {"101 fields", get + "Host: a\r\n" + many + "\r\n", 431},
      {"10,000 fields", get + "Host: a\r\n" + flood + "\r\n", 431},
      {"a value of 40 kB", get + "Host: a\r\nX: " + std::string(40'000, 'a') + "\r\n\r\n", 431},
      {"a name of 40 kB", get + "Host: a\r\n" + std::string(40'000, 'a') + ": b\r\n\r\n", 431},
      {"a header without end", get + "Host: a\r\nX: " + std::string(100'000, 'a'), 431},
      {"no Host", get + "\r\n", 400},
      {"two Hosts", get + "Host: a\r\nHost: b\r\n\r\n", 400},
      {"two equal Hosts", get + "Host: a\r\nhost: a\r\n\r\n", 400},
      {"two Hosts on HTTP/1.0", "GET /hello HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"empty Host", get + "Host: \r\n\r\n", 400},
      {"Host with a path", get + "Host: a/b\r\n\r\n", 400},
      {"Host with a user", get + "Host: u@a\r\n\r\n", 400},
      {"Host with a blank", get + "Host: a b\r\n\r\n", 400},
      {"Host as a list", get + "Host: a,b\r\n\r\n", 400},
      {"Host with a bad port", get + "Host: a:b\r\n\r\n", 400},
      {"Host with an open bracket", get + "Host: [::1\r\n\r\n", 400},
      {"Host of 300 letters", get + "Host: " + std::string(300, 'a') + "\r\n\r\n", 400},
      {"unknown expectation", fields("Expect: 200-ok\r\n"), 417},
      {"two expectations", fields("Expect: 100-continue, x\r\n"), 417},
  };
}

std::vector<Abuse> lengths() {
  const std::string smuggled = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
  return {
      {"CL and TE", fields("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" + smuggled,
       400},
      {"TE and CL", fields("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n" + smuggled,
       400},
      {"TE and CL 0", fields("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n") + "0\r\n\r\n", 400},
      {"two CLs", fields("Content-Length: 0\r\nContent-Length: 33\r\n") + smuggled, 400},
      {"two equal CLs", fields("Content-Length: 5\r\nContent-Length: 5\r\n") + "hello", 400},
      {"CL as a list", fields("Content-Length: 5, 5\r\n") + "hello", 400},
      {"CL with a plus", fields("Content-Length: +5\r\n") + "hello", 400},
      {"CL with a minus", fields("Content-Length: -5\r\n") + "hello", 400},
      {"CL in hex", fields("Content-Length: 0x5\r\n") + "hello", 400},
      {"CL with a fraction", fields("Content-Length: 5.0\r\n") + "hello", 400},
      {"CL with an exponent", fields("Content-Length: 5e0\r\n") + "hello", 400},
      {"CL with a blank inside", fields("Content-Length: 5 5\r\n") + "hello", 400},
      {"CL with letters", fields("Content-Length: five\r\n") + "hello", 400},
      {"empty CL", fields("Content-Length: \r\n") + "hello", 400},
      {"CL beyond 64 bits", fields("Content-Length: 18446744073709551621\r\n") + "hello", 400},
      {"CL of 2^63", fields("Content-Length: 9223372036854775808\r\n") + "hello", 400},
      {"CL with a NUL", zero(fields("Content-Length: 5@\r\n")) + "hello", 400},
      {"CL with a vertical tab",
       fields("Content-Length: \x0b"
              "5\r\n") +
           "hello",
       400},
      {"CL with a no-break space",
       fields("Content-Length: \xc2\xa0"
              "5\r\n") +
           "hello",
       400},
      {"TE gzip", fields("Transfer-Encoding: gzip\r\n"), 400},
      {"TE identity", fields("Transfer-Encoding: identity\r\n"), 400},
      {"TE gzip, chunked", fields("Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n", 400},
      {"TE chunked, gzip", fields("Transfer-Encoding: chunked, gzip\r\n") + "0\r\n\r\n", 400},
      {"TE chunked, chunked", fields("Transfer-Encoding: chunked, chunked\r\n") + "0\r\n\r\n", 400},
      {"TE twice", fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400},
      {"TE twice, the second identity",
       fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") + "0\r\n\r\n", 400},
      {"TE with a comma", fields("Transfer-Encoding: ,chunked\r\n") + "0\r\n\r\n", 400},
      {"TE in quotes", fields("Transfer-Encoding: \"chunked\"\r\n") + "0\r\n\r\n", 400},
      {"TE with a parameter", fields("Transfer-Encoding: chunked;q=1\r\n") + "0\r\n\r\n", 400},
      {"TE xchunked", fields("Transfer-Encoding: xchunked\r\n") + "0\r\n\r\n", 400},
      {"TE empty", fields("Transfer-Encoding:\r\n") + "0\r\n\r\n", 400},
      {"TE with a vertical tab",
       fields("Transfer-Encoding: \x0b"
              "chunked\r\n") +
           "0\r\n\r\n",
       400},
      {"TE with a blank before the colon", fields("Transfer-Encoding : chunked\r\n") + "0\r\n\r\n", 400},
      {"TE folded", fields("Transfer-Encoding:\r\n chunked\r\n") + "0\r\n\r\n", 400},
      {"TE on HTTP/1.0", "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       400},
      {"TE on HTTP/1.0 with CL",
       "POST /echo HTTP/1.0\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
  };
}

/// These are found while the handler reads; it gets an exception, never the bytes.
std::vector<Abuse> bodies() {
  std::string extensions;
  for (int i = 0; i < 30; ++i) extensions += "1;" + std::string(1000, 'x') + "\r\na\r\n";
  std::string trailers = "0\r\n";
  for (int i = 0; i < 40; ++i) trailers += "X: y\r\n";
  return {
      {"no chunk size", chunks("\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with letters", chunks("5g\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with a plus", chunks("+5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with a minus", chunks("-5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size 0x5", chunks("0x5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with a blank", chunks("5 \r\nhello\r\n0\r\n\r\n"), 400},
      {"blank before a chunk size", chunks(" 5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size of 17 digits", chunks("00000000000000005\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size of 2^63", chunks("8000000000000000\r\nhello"), 400},
      {"chunk size of 2^64", chunks("10000000000000000\r\nhello"), 400},
      {"chunk line with a bare LF", chunks("5\nhello\r\n0\r\n\r\n"), 400},
      {"chunk line with a bare CR", chunks("5\rhello\r\n0\r\n\r\n"), 400},
      {"chunk longer than it says", chunks("4\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk shorter than it says", chunks("6\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk ended by a bare LF", chunks("5\r\nhello\n0\r\n\r\n"), 400},
      {"chunk without its end", chunks("5\r\nhello0\r\n\r\n"), 400},
      {"chunk extension of 1 MB", chunks("5;" + std::string(1 << 20, 'x') + "\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk extensions of 30 kB in all", chunks(extensions + "0\r\n\r\n"), 400},
      {"chunk extension with a bare LF", chunks("5;a\nb\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk extension with a NUL", zero(chunks("5;a@b\r\nhello\r\n0\r\n\r\n")), 400},
      {"trailer without a colon", chunks("0\r\nrubbish\r\n\r\n"), 400},
      {"trailer folded", chunks("0\r\nX: a\r\n b\r\n\r\n"), 400},
      {"trailer with a bare LF", chunks("0\r\nX: a\n\r\n"), 400},
      {"trailer with a control", chunks("0\r\nX: \x01\r\n\r\n"), 400},
      {"trailer of 10 kB", chunks("0\r\nX: " + std::string(10'000, 'a') + "\r\n\r\n"), 400},
      {"40 trailers", chunks(trailers + "\r\n"), 400},
      {"a request where a chunk should be", chunks("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"), 400},
  };
}

class Framing : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server = new TestServer;
    server->config.header_seconds = 5;
    server->start();
  }
  static void TearDownTestSuite() {
    delete server;
    server = nullptr;
  }

  /// One raw request, then a good one behind it that must not be answered.
  static void expect_refused(const Abuse& abuse, bool may_reach_handler) {
    SCOPED_TRACE(abuse.name);
    const unsigned before = server->handled;
    auto client = server->client();
    client.connect();
    client.send(abuse.bytes);
    const auto received = client.read_until_closed();
    ASSERT_TRUE(client.closed_by_server()) << "the connection stays open";
    const auto answers = parse_responses(received);
    ASSERT_EQ(answers.size(), 1u) << received;
    const auto& answer = answers.front();
    EXPECT_EQ(answer.status, abuse.status) << received;
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_EQ(answer.header("content-type"), "application/json");
    const auto body = nlohmann::json::parse(answer.body, nullptr, false);
    ASSERT_TRUE(body.is_object()) << answer.body;
    EXPECT_EQ(body.value("status", ""), std::to_string(abuse.status) + " " + answer.reason);
    EXPECT_EQ(body.value("error", "x"), body.value("message", "y"));
    EXPECT_FALSE(body.value("error_type", "").empty());
    EXPECT_FALSE(body.value("slug", "").empty());
    EXPECT_EQ(body.value("request_id", ""), answer.header("x-request-id"));
    if (abuse.status == 400) {
      EXPECT_EQ(body.value("error_type", ""), "BadRequest");
    }
    if (!may_reach_handler) {
      EXPECT_EQ(server->handled, before) << "a handler was reached";
    }
  }

  static TestServer* server;
};
TestServer* Framing::server = nullptr;

TEST_F(Framing, TheTableIsLongEnough) {
  EXPECT_GE(request_lines().size() + header_fields().size() + lengths().size() + bodies().size(), 120u);
}

TEST_F(Framing, RequestLines) {
  for (const auto& abuse : request_lines()) {
    if (abuse.status == 404 || std::string_view(abuse.name) == "unknown method" ||
        std::string_view(abuse.name) == "lower-case method" || std::string_view(abuse.name) == "TRACE") {
      // Well-formed: answered, and the connection lives on.
      SCOPED_TRACE(abuse.name);
      const unsigned before = server->handled;
      auto client = server->client();
      client.connect();
      client.send(abuse.bytes);
      EXPECT_EQ(client.read_response().status, abuse.status);
      EXPECT_EQ(server->handled, before);
      EXPECT_EQ(client.get("/hello").status, 200);
      continue;
    }
    expect_refused(abuse, false);
  }
}

TEST_F(Framing, HeaderFields) {
  for (const auto& abuse : header_fields()) expect_refused(abuse, false);
}

TEST_F(Framing, Lengths) {
  for (const auto& abuse : lengths()) expect_refused(abuse, false);
}

TEST_F(Framing, ChunkedBodies) {
  for (const auto& abuse : bodies()) expect_refused(abuse, true);
}

TEST_F(Framing, WhatLooksOddButIsSoundIsServed) {
  const std::pair<const char*, std::string> sound[] = {
      {"one empty line before", "\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"no blank after the colon", "GET /hello HTTP/1.1\r\nHost:a\r\n\r\n"},
      {"tabs around a value", "GET /hello HTTP/1.1\r\nHost: \ta\t \r\n\r\n"},
      {"an empty value", "GET /hello HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n"},
      {"high bytes in a value", "GET /hello HTTP/1.1\r\nHost: a\r\nX: \xc3\xa4\xff\r\n\r\n"},
      {"HTTP/1.0 without Host", "GET /hello HTTP/1.0\r\n\r\n"},
      {"absolute form", "GET http://a/hello HTTP/1.1\r\nHost: A\r\n\r\n"},
      {"TE in capitals", "POST /echo HTTP/1.1\r\nHost: a\r\nTRANSFER-ENCODING: CHUNKED\r\n\r\n0\r\n\r\n"},
      {"leading zeros in CL", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0005\r\n\r\nhello"},
      {"a chunk extension", chunks("5;a=\"b\"\r\nhello\r\n0\r\n\r\n")},
      {"a trailer", chunks("5\r\nhello\r\n0\r\nX: y\r\n\r\n")},
      {"Expect on HTTP/1.0 is nothing", "GET /hello HTTP/1.0\r\nExpect: x\r\n\r\n"},
      {"doubled slashes", "GET //hello HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"GET with a body", "GET /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"},
  };
  for (const auto& [name, bytes] : sound) {
    auto client = server->client();
    client.connect();
    client.send(bytes);
    EXPECT_EQ(client.read_response().status, 200) << name;
  }
}

/// The same request again and again, cut off at every byte: no answer, no handler, no harm.
TEST_F(Framing, CutOffAtEveryByte) {
  const std::string request = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
  const auto head = request.size() - 5;
  for (std::size_t n = 1; n < request.size(); ++n) {
    auto client = server->client();
    client.connect();
    client.send(request.substr(0, n));
    client.finish_sending();
    const auto received = client.read_until_closed();
    ASSERT_TRUE(client.closed_by_server()) << n;
    if (n < head) {
      EXPECT_EQ(received, "") << n;
    } else {
      EXPECT_EQ(parse_response(received).status, 400) << n;
    }
  }
  EXPECT_EQ(server->client().get("/hello").body, "hello");
}

}  // namespace
}  // namespace welkin::test
