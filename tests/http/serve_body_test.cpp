// The one function that serves users' bytes: conditions, ranges, types (checks SV-01, N-10, HD-01).
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "http/test_server.hpp"
#include "welkin/http/body.hpp"

namespace welkin::test {
namespace {

constexpr auto kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

class ServeBody : public ::testing::Test {
 protected:
  void SetUp() override {
    content.resize(10'000);
    std::mt19937 random(9);
    for (auto& c : content) c = static_cast<char>(random());
    body.name = "r\xC3\xA9sum\xC3\xA9.bin";
    body.mime_type = "application/octet-stream";
    body.etag = "\"v1\"";
    body.last_modified = *times::from_http_date(kDate);
    body.size_bytes = content.size();
    body.feed = [this](Slice slice, ByteSink& sink) -> Task<> {
      ++fed;
      co_await sink.write(as_bytes(std::string_view(content).substr(slice.offset, slice.length)));
    };
    const auto serve = [this](http::Request& rq, http::Reply& rp) -> Task<> {
      co_await http::serve_body(rq, rp, body);
    };
    server.get("/file", serve);
    server.on(http::Method::post, "/file", serve);
    server.start();
    client = std::make_unique<HttpClient>(server.port());
  }

  std::string part(std::size_t offset, std::size_t length) const { return content.substr(offset, length); }

  TestServer server;
  std::string content;
  http::UserBody body;
  std::atomic<int> fed{0};
  std::unique_ptr<HttpClient> client;
};

TEST_F(ServeBody, Whole) {
  const auto answer = client->get("/file");
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.body == content);
  EXPECT_EQ(answer.header("etag"), "\"v1\"");
  EXPECT_EQ(answer.header("last-modified"), kDate);
  EXPECT_EQ(answer.header("accept-ranges"), "bytes");
  EXPECT_EQ(answer.header("content-length"), "10000");
  EXPECT_EQ(answer.header("cache-control"), "private, no-cache");
  EXPECT_EQ(answer.header("content-disposition"),
            "attachment; filename=\"r_sum_.bin\"; filename*=UTF-8''r%C3%A9sum%C3%A9.bin");
  EXPECT_EQ(answer.header("content-security-policy"),
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'");
  EXPECT_EQ(answer.header("x-content-type-options"), "nosniff");
  EXPECT_EQ(answer.header("cross-origin-resource-policy"), "same-site");
  EXPECT_EQ(answer.header("referrer-policy"), "no-referrer");
  EXPECT_EQ(answer.header("x-frame-options"), "DENY");
  EXPECT_EQ(answer.all("content-security-policy").size(), 1u);
}

TEST_F(ServeBody, HeadFeedsNothing) {
  const auto answer = client->request("HEAD", "/file");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-length"), "10000");
  EXPECT_EQ(answer.header("etag"), "\"v1\"");
  EXPECT_EQ(client->request("HEAD", "/file", {{"Range", "bytes=0-1"}}).status, 200) << "ranges are for GET";
  EXPECT_EQ(fed, 0);
  EXPECT_EQ(client->get("/file").status, 200);
}

TEST_F(ServeBody, SingleRanges) {
  const struct {
    const char* range;
    std::size_t offset, length;
  } cases[] = {{"bytes=0-0", 0, 1},       {"bytes=0-99", 0, 100},  {"bytes=9000-", 9000, 1000},
               {"bytes=-1", 9999, 1},     {"bytes=0-", 0, 10'000}, {"bytes=5000-99999", 5000, 5000},
               {"bytes=0-9,10-19", 0, 20}};
  for (const auto& c : cases) {
    const auto answer = client->get("/file", {{"Range", c.range}});
    EXPECT_EQ(answer.status, 206) << c.range;
    EXPECT_TRUE(answer.body == part(c.offset, c.length)) << c.range;
    EXPECT_EQ(answer.header("content-range"),
              "bytes " + std::to_string(c.offset) + "-" + std::to_string(c.offset + c.length - 1) + "/10000");
    EXPECT_EQ(answer.header("etag"), "\"v1\"");
  }
}

TEST_F(ServeBody, OutsideIs416AndNonsenseIgnored) {
  for (const auto* range : {"bytes=10000-", "bytes=-0", "bytes=99999-100000"}) {
    const auto answer = client->get("/file", {{"Range", range}});
    EXPECT_EQ(answer.status, 416) << range;
    EXPECT_EQ(answer.header("content-range"), "bytes */10000");
    EXPECT_EQ(answer.header("content-type"), "application/json");
    EXPECT_FALSE(answer.has("content-disposition"));
  }
  for (const auto* range : {"bytes=5-2", "bytes=x", "lines=1-2", "bytes=", "bytes=1-2;3-4"}) {
    EXPECT_EQ(client->get("/file", {{"Range", range}}).status, 200) << range;
  }
  std::string flood = "bytes=0-0";
  for (int i = 1; i < 2000; ++i) flood += "," + std::to_string(i * 3) + "-" + std::to_string(i * 3);
  EXPECT_EQ(client->get("/file", {{"Range", flood}}).status, 200);
}

TEST_F(ServeBody, SeveralRangesAreMultipart) {
  const auto answer = client->get("/file", {{"Range", "bytes=0-9, 5000-5009, -10"}});
  EXPECT_EQ(answer.status, 206);
  const auto type = answer.header("content-type");
  ASSERT_TRUE(type.starts_with("multipart/byteranges; boundary=")) << type;
  EXPECT_FALSE(answer.has("content-range"));
  const auto boundary = type.substr(type.find('=') + 1);
  std::string expected;
  for (const auto& [offset, length] : {std::pair<std::size_t, std::size_t>{0, 10}, {5000, 10}, {9990, 10}})
    expected += (expected.empty() ? "--" : "\r\n--") + boundary +
                "\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes " +
                std::to_string(offset) + "-" + std::to_string(offset + length - 1) + "/10000\r\n\r\n" +
                part(offset, length);
  expected += "\r\n--" + boundary + "--\r\n";
  EXPECT_TRUE(answer.body == expected);
  EXPECT_EQ(client->get("/file").status, 200);
}

TEST_F(ServeBody, IfRange) {
  const auto status = [&](const char* value) {
    return client->get("/file", {{"Range", "bytes=0-9"}, {"If-Range", value}}).status;
  };
  EXPECT_EQ(status("\"v1\""), 206);
  EXPECT_EQ(status("\"v0\""), 200);
  EXPECT_EQ(status("W/\"v1\""), 200);
  EXPECT_EQ(status(kDate), 206);
  EXPECT_EQ(status("Sun, 06 Nov 1994 08:49:36 GMT"), 200);
  EXPECT_EQ(client->get("/file", {{"Range", "bytes=99999-"}, {"If-Range", "\"v0\""}}).status, 200);
}

TEST_F(ServeBody, Conditions) {
  const auto same = client->get("/file", {{"If-None-Match", "\"v1\""}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.header("etag"), "\"v1\"");
  EXPECT_EQ(same.header("cache-control"), "private, no-cache");
  EXPECT_TRUE(same.header("content-security-policy").starts_with("sandbox"));
  EXPECT_FALSE(same.has("content-length"));
  EXPECT_EQ(client->get("/file", {{"If-None-Match", "\"v0\""}}).status, 200);
  EXPECT_EQ(client->get("/file", {{"If-None-Match", "*"}}).status, 304);
  EXPECT_EQ(client->get("/file", {{"If-Modified-Since", kDate}}).status, 304);
  EXPECT_EQ(client->get("/file", {{"If-Match", "\"v0\""}}).status, 412);
  EXPECT_EQ(client->get("/file", {{"If-Match", "\"v1\""}, {"Range", "bytes=0-1"}}).status, 206);
  EXPECT_EQ(client->get("/file", {{"If-None-Match", "\"v1\""}, {"Range", "bytes=0-1"}}).status, 304);
  EXPECT_EQ(client->get("/file", {{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"}}).status, 412);
  EXPECT_EQ(client->get("/file", {{"If-None-Match", "v1"}}).status, 400);
}

TEST_F(ServeBody, NeverCompressed) {
  body.mime_type = "text/plain";
  const auto answer = client->get("/file", {{"Accept-Encoding", "gzip, zstd"}});
  EXPECT_FALSE(answer.has("content-encoding"));
  EXPECT_EQ(answer.header("etag"), "\"v1\"");
  EXPECT_TRUE(answer.body == content);
}

TEST_F(ServeBody, EmptyBodies) {
  body.size_bytes = 0;
  const auto answer = client->get("/file");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-length"), "0");
  EXPECT_EQ(client->get("/file", {{"Range", "bytes=0-"}}).status, 200);
  EXPECT_EQ(fed, 0);
}

TEST_F(ServeBody, NothingABrowserRunsIsShownOrNamed) {
  body.inline_asked = true;
  const struct {
    const char* stored;
    const char* sent;
    bool shown;
  } cases[] = {
      {"image/png", "image/png", true},
      {"text/plain", "text/plain; charset=utf-8", true},
      {"application/pdf", "application/pdf", true},
      {"text/html", "text/plain; charset=utf-8", false},
      {"TEXT/HTML; charset=x", "text/plain; charset=utf-8", false},
      {"image/svg+xml", "application/octet-stream", false},
      {"application/xhtml+xml", "application/octet-stream", false},
      {"text/xml", "text/plain; charset=utf-8", false},
      {"application/javascript", "application/octet-stream", false},
      {"text/javascript", "text/plain; charset=utf-8", false},
      {"multipart/related", "application/octet-stream", false},
      {"message/rfc822", "application/octet-stream", false},
      {"application/x-shockwave-flash", "application/octet-stream", false},
      {"text/html\r\nX-Evil: 1", "application/octet-stream", false},
      {"", "application/octet-stream", false},
  };
  for (const auto& c : cases) {
    body.mime_type = c.stored;
    const auto answer = client->get("/file");
    EXPECT_EQ(answer.header("content-type"), c.sent) << c.stored;
    EXPECT_EQ(answer.header("content-disposition").starts_with("inline"), c.shown) << c.stored;
    EXPECT_FALSE(answer.has("x-evil"));
  }
  body.inline_asked = false;
  body.mime_type = "image/png";
  EXPECT_TRUE(client->get("/file").header("content-disposition").starts_with("attachment"));
}

}  // namespace
}  // namespace welkin::test
