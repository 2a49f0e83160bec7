// Request bodies: lengths, chunks, limits, 100-continue, and bodies that end too early.
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "http/test_server.hpp"
#include "welkin/core/error.hpp"

namespace welkin::test {
namespace {

std::string random_bytes(std::size_t n) {
  std::mt19937 random(11);
  std::string out(n, '\0');
  for (auto& c : out) c = static_cast<char>(random());
  return out;
}

std::string chunked(const std::string& body, std::size_t step) {
  std::string out;
  char size[20];
  for (std::size_t at = 0; at < body.size(); at += step) {
    const auto part = body.substr(at, step);
    std::snprintf(size, sizeof size, "%zx\r\n", part.size());
    out += size + part + "\r\n";
  }
  return out + "0\r\n\r\n";
}

TEST(Body, ArrivesWholeHoweverItIsSent) {
  TestServer server;
  server.start();
  auto client = server.client();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{2047}, std::size_t{2048},
                                 std::size_t{262'144}, std::size_t{262'145}, std::size_t{3'000'000}}) {
    const auto body = random_bytes(size);
    EXPECT_EQ(client.request("PUT", "/echo", {}, body).body, body) << size;
    const auto coded =
        client.request("PUT", "/echo", {{"Transfer-Encoding", "chunked"}}, chunked(body, 70'001));
    EXPECT_EQ(coded.body, body) << size << " chunked";
  }
  const auto body = random_bytes(5000);
  EXPECT_EQ(client.request("PUT", "/echo", {{"Transfer-Encoding", "chunked"}}, chunked(body, 1)).body, body);
}

TEST(Body, ArrivesByteByByte) {
  TestServer server;
  server.start();
  const auto body = random_bytes(200);
  auto client = server.client();
  for (const std::string& request :
       {"PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200\r\n\r\n" + body,
        "PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(body, 7)}) {
    client.connect();
    for (const char c : request) ASSERT_TRUE(client.send({&c, 1}));
    EXPECT_EQ(client.read_response().body, body);
  }
}

/// N-05: a body cut off at each of 64 points is never taken for a whole one.
TEST(Body, TruncatedAtEachOf64Points) {
  TestServer server;
  std::atomic<int> whole{0};
  server.on(http::Method::put, "/store", [&whole](http::Request& rq, http::Reply& rp) -> Task<> {
    std::uint64_t n = 0;
    for (auto piece = co_await rq.read(); !piece.empty(); piece = co_await rq.read()) n += piece.size();
    ++whole;
    co_await rp.send(http::Status::created, "text/plain", std::to_string(n));
  });
  server.start();
  const auto body = random_bytes(6400);
  const auto coded = chunked(body, 1000);
  for (std::size_t i = 0; i < 64; ++i) {
    for (const bool by_length : {true, false}) {
      for (const bool half_close : {true, false}) {
        const auto& sent = by_length ? body : coded;
        auto client = server.client();
        client.connect();
        client.send(std::string("PUT /store HTTP/1.1\r\nHost: a\r\n") +
                    (by_length ? "Content-Length: 6400\r\n\r\n" : "Transfer-Encoding: chunked\r\n\r\n"));
        client.send(sent.substr(0, sent.size() * i / 64));
        if (half_close) {
          client.finish_sending();
          const auto answer = client.read_response();
          EXPECT_EQ(answer.status, 400) << i;
          EXPECT_EQ(nlohmann::json::parse(answer.body).value("slug", ""), "truncated_body");
          EXPECT_TRUE(client.closed_by_server());
        } else {
          client.close();
        }
      }
    }
  }
  EXPECT_EQ(server.client().request("PUT", "/store", {}, body).status, 201);
  EXPECT_EQ(whole, 1);
}

TEST(Body, LongerThanAnnouncedIsTheNextRequest) {
  TestServer server;
  server.start();
  auto client = server.client();
  const auto answers = parse_responses(
      client.raw("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello and more\r\n"));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].body, "hello");
  EXPECT_EQ(answers[1].status, 400);
}

TEST(Body, LimitsAreEnforcedBeforeAndWhileReading) {
  TestServer server;
  server.config.upload_bytes_max = 100'000;
  std::atomic<std::uint64_t> seen{0};
  server.on(http::Method::put, "/count", [&seen](http::Request& rq, http::Reply& rp) -> Task<> {
    for (auto piece = co_await rq.read(); !piece.empty(); piece = co_await rq.read()) seen += piece.size();
    co_await rp.send(http::Status::no_content);
  });
  server.on(http::Method::put, "/small", [](http::Request& rq, http::Reply& rp) -> Task<> {
    rq.limit_body(10);
    for (auto piece = co_await rq.read(); !piece.empty();) piece = co_await rq.read();
    co_await rp.send(http::Status::no_content);
  });
  server.on(http::Method::put, "/large", [](http::Request& rq, http::Reply& rp) -> Task<> {
    rq.limit_body(0);
    std::uint64_t n = 0;
    for (auto piece = co_await rq.read(); !piece.empty(); piece = co_await rq.read()) n += piece.size();
    co_await rp.send(http::Status::ok, "text/plain", std::to_string(n));
  });
  server.on(http::Method::put, "/text", [](http::Request& rq, http::Reply& rp) -> Task<> {
    auto text = co_await rq.text(10);
    co_await rp.send(http::Status::ok, "text/plain", std::move(text));
  });
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.request("PUT", "/count", {}, std::string(100'000, 'x')).status, 204);
  EXPECT_EQ(seen, 100'000u);
  EXPECT_EQ(client.request("PUT", "/count", {}, std::string(100'001, 'x')).status, 413);
  EXPECT_EQ(seen, 100'000u) << "refused by its length, before a byte was handed over";
  EXPECT_EQ(client
                .request("PUT", "/count", {{"Transfer-Encoding", "chunked"}},
                         chunked(std::string(100'001, 'x'), 50'000))
                .status,
            413);
  EXPECT_EQ(client.request("PUT", "/small", {}, "1234567890").status, 204);
  EXPECT_EQ(client.request("PUT", "/small", {}, "12345678901").status, 413);
  EXPECT_EQ(
      client.request("PUT", "/small", {{"Transfer-Encoding", "chunked"}}, chunked("12345678901", 3)).status,
      413);
  EXPECT_EQ(client.request("PUT", "/large", {}, std::string(300'000, 'x')).body, "300000");
  EXPECT_EQ(client.request("PUT", "/text", {}, "1234567890").body, "1234567890");
  EXPECT_EQ(client.request("PUT", "/text", {}, "12345678901").status, 413);
  EXPECT_EQ(
      client.request("PUT", "/text", {{"Transfer-Encoding", "chunked"}}, chunked("12345678901", 3)).status,
      413);
}

TEST(Body, ContinueIsSaidOnlyWhenSomebodyReads) {
  TestServer server;
  server.on(http::Method::put, "/refuse", [](http::Request&, http::Reply&) -> Task<> {
    throw Error(Errc::unauthenticated, "who", "who are you");
    co_return;
  });
  server.start();
  auto client = server.client();
  const std::string fields = " HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n";

  client.connect();
  client.send("PUT /echo" + fields);
  EXPECT_EQ(client.read_response().status, 100);
  client.send("hello");
  EXPECT_EQ(client.read_response().body, "hello");
  client.send("PUT /echo" + fields + "hello");
  EXPECT_EQ(client.read_response().status, 200) << "nobody asks for what is already there";

  client.send("PUT /refuse" + fields);
  const auto refused = client.read_response();
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.header("connection"), "close") << "whether the body still comes is not known";
  EXPECT_TRUE(client.closed_by_server());

  client.connect();
  client.send("PUT /nothing" + fields);
  EXPECT_EQ(client.read_response().status, 404);

  client.connect();
  client.send(
      "GET /hello HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 200) << "no body: nothing to continue";
  EXPECT_EQ(client.read_response().status, 200);
}

TEST(Body, ContinueIsNotSaidWhenTheBodyIsTooLarge) {
  TestServer server;
  server.config.upload_bytes_max = 4;
  server.start();
  auto client = server.client();
  client.connect();
  client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 413);
}

TEST(Body, HandlersMayReadPartAndAnswer) {
  TestServer server;
  server.on(http::Method::put, "/part", [](http::Request& rq, http::Reply& rp) -> Task<> {
    const auto piece = co_await rq.read();
    co_await rp.send(http::Status::ok, "text/plain", std::string(as_text(piece).substr(0, 3)));
  });
  server.start();
  auto client = server.client();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(client.request("PUT", "/part", {}, "abc" + std::string(40'000, 'x')).body, "abc");
}

}  // namespace
}  // namespace welkin::test
