// A connection's life: keep-alive, pipelining, versions, paths, ids, methods and what happens when handlers
// fail.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "http/test_server.hpp"
#include "welkin/core/error.hpp"

namespace welkin::test {
namespace {

TEST(Session, KeepsTheConnectionForManyRequests) {
  TestServer server;
  server.start();
  auto client = server.client();
  client.connect();
  const int fd = client.native_handle();
  for (int i = 0; i < 300; ++i) {
    const auto body = std::string(static_cast<std::size_t>(i) * 37, 'x');
    const auto answer = client.request("PUT", "/echo", {}, body);
    ASSERT_EQ(answer.status, 200);
    ASSERT_EQ(answer.body, body);
    ASSERT_EQ(client.native_handle(), fd) << i;
  }
}

TEST(Session, AnswersPipelinedRequestsInOrder) {
  TestServer server;
  server.start();
  auto client = server.client();
  client.connect();
  std::string all;
  for (int i = 0; i < 200; ++i) {
    if (i % 3 == 0)
      all += "GET /p/" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
    else if (i % 3 == 1)
      all += "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n" + std::to_string(100 + i);
    else
      all += "PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n2\r\n" +
             std::to_string(i % 90 + 10) + "\r\n0\r\n\r\n";
  }
  std::thread sender([&] { client.send(all); });
  for (int i = 0; i < 200; ++i) {
    const auto answer = client.read_response();
    ASSERT_EQ(answer.status, 200) << i;
    const auto expected = i % 3 == 0   ? "[" + std::to_string(i) + "]"
                          : i % 3 == 1 ? std::to_string(100 + i)
                                       : "1" + std::to_string(i % 90 + 10);
    ASSERT_EQ(answer.body, expected) << i;
  }
  sender.join();
}

TEST(Session, PipelinedBehindAnUnreadBody) {
  TestServer server;
  server.on(http::Method::put, "/ignore", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.send(http::Status::ok, "text/plain", "ignored");
  });
  server.start();
  auto client = server.client();
  client.connect();
  client.send("PUT /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n" + std::string(30'000, 'G') +
              "PUT /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n" +
              "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_response().body, "ignored");
  EXPECT_EQ(client.read_response().body, "ignored");
  EXPECT_EQ(client.read_response().body, "hello");
}

TEST(Session, ALargeUnreadBodyClosesInsteadOfBeingSwallowed) {
  TestServer server;
  server.on(http::Method::put, "/refuse", [](http::Request&, http::Reply&) -> Task<> {
    throw Error(Errc::forbidden, "no", "not here");
    co_return;
  });
  server.start();
  auto client = server.client();
  client.connect();
  client.send("PUT /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n" +
              std::string(100'000, 'x'));
  const auto answer = client.read_response();
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.header("connection"), "close");
  client.finish_sending();
  EXPECT_TRUE(client.closed_by_server());
}

TEST(Session, TheAnswerReachesAClientThatIsStillSending) {
  TestServer server;
  server.on(http::Method::put, "/refuse", [](http::Request&, http::Reply&) -> Task<> {
    throw Error(Errc::too_large, "no", "too large");
    co_return;
  });
  server.start();
  for (int i = 0; i < 5; ++i) {
    auto client = server.client();
    client.connect();
    client.send("PUT /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
    client.send(std::string(1 << 20, 'x'));
    EXPECT_EQ(client.read_response().status, 413) << i;
  }
}

TEST(Session, Http10) {
  TestServer server;
  server.start();
  auto client = server.client();
  auto answers = parse_responses(client.raw("GET /hello HTTP/1.0\r\n\r\n"));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].status, 200);
  EXPECT_EQ(answers[0].header("connection"), "close");
  EXPECT_FALSE(answers[0].chunked);
  client.connect();
  for (int i = 0; i < 3; ++i) {
    client.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const auto answer = client.read_response();
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(answer.header("connection"), "keep-alive");
  }
}

TEST(Session, ConnectionCloseIsObeyed) {
  TestServer server;
  server.start();
  auto client = server.client();
  const auto answers =
      parse_responses(client.raw("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                                 "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].header("connection"), "close");
}

TEST(Session, AHalfClosedClientStillGetsItsAnswers) {
  TestServer server;
  server.start();
  auto client = server.client();
  client.connect();
  client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  client.finish_sending();
  EXPECT_EQ(parse_responses(client.read_until_closed()).size(), 2u);
}

TEST(Session, PathsAreDecodedOnceAndTricksRefused) {
  TestServer server;
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.get("/p/a%20b/c+d").body, "[a b][c+d]");
  EXPECT_EQ(client.get("/p//a///b/").body, "[a][b]");
  EXPECT_EQ(client.get("/p/%252e%252e").body, "[%2e%2e]");
  EXPECT_EQ(client.get("/p/..;/x").body, "[..;][x]");
  EXPECT_EQ(client.get("/p/\xC3\xA4").body, "[\xC3\xA4]");
  EXPECT_EQ(client.get("/p/" + std::string(8000, 'a')).body.size(), 8002u);
  EXPECT_EQ(client.get("/p?x=%C3%A4&y=+").status, 200);
  const unsigned before = server.handled;
  for (const auto* path : {"/p/..",        "/p/../hello",
                           "/p/./x",       "/p/%2e%2e/x",
                           "/p/.%2E/x",    "/p/%2e",
                           "/p/a%2fb",     "/p/..%2f..%2fetc%2fpasswd",
                           "/p/%00",       "/p/a%00.txt",
                           "/p/%0d%0aX:y", "/p/%c0%ae%c0%ae/x",
                           "/p/%c0%af",    "/p/%e0%80%ae",
                           "/p/%ff",       "/p/%ed%a0%80",
                           "/p/%",         "/p/%2",
                           "/p/%gg",       "/p/%u002e",
                           "/p/\xff",      "/%2e%2e/%2e%2e/etc/passwd",
                           "/p/%7f",       "/p/%c2%9b",
                           "/hello?a=%",   "/hello?a=%ff",
                           "/hello?%00"}) {
    const auto answer = client.get(path);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_EQ(nlohmann::json::parse(answer.body).value("error_type", ""), "BadRequest") << path;
  }
  EXPECT_EQ(server.handled, before);
  EXPECT_EQ(client.get("/p/x").status, 200) << "the connection is sane";
}

TEST(Session, RequestIdsComeFromTheClientIfSane) {
  TestServer server;
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.get("/hello", {{"X-Request-Id", "abc-1._"}}).header("x-request-id"), "abc-1._");
  for (const auto* bad :
       {"a b", "a\"b", "", "<script>", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    const auto id = client.get("/hello", {{"X-Request-Id", bad}}).header("x-request-id");
    EXPECT_EQ(id.size(), 36u) << bad;
  }
  const auto refused = client.get("/nothing", {{"X-Request-Id", "mine"}});
  EXPECT_EQ(nlohmann::json::parse(refused.body).value("request_id", ""), "mine");
}

TEST(Session, HeadHasTheHeadersOfGetAndNoBody) {
  TestServer server;
  server.get("/stream", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", std::nullopt);
    co_await rp.write("some");
    co_await rp.flush();
    co_await rp.write("thing");
    co_await rp.end();
  });
  server.get("/length", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", 9);
    co_await rp.write("something");
    co_await rp.end();
  });
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.request("HEAD", "/hello").header("content-length"), "5");
  EXPECT_EQ(client.request("HEAD", "/length").header("content-length"), "9");
  EXPECT_TRUE(client.request("HEAD", "/stream").chunked);
  EXPECT_EQ(client.request("HEAD", "/nothing").status, 404);
  EXPECT_EQ(client.get("/hello").body, "hello") << "nothing of a body is left on the connection";
  EXPECT_EQ(client.get("/stream").body, "something");
}

TEST(Session, MethodsThatAreNotThere) {
  TestServer server;
  server.start();
  auto client = server.client();
  const auto wrong = client.request("DELETE", "/hello");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.header("allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(client.request("OPTIONS", "/hello").status, 204);
  EXPECT_EQ(client.request("OPTIONS", "*").status, 204);
  EXPECT_EQ(client.request("BREW", "/hello").status, 501);
  EXPECT_EQ(client.request("BREW", "/nothing").status, 501);
  EXPECT_EQ(client.request("POST", "/hello", {{"X-HTTP-Method-Override", "GET"}}).status, 405);
}

TEST(Session, ErrorsOfHandlersBecomeAnswers) {
  TestServer server;
  server.get("/busy", [](http::Request&, http::Reply& rp) -> Task<> {
    rp.set("ETag", "\"secret\"");
    throw Error(Errc::unavailable, "busy", "come back later", 7);
    co_return;
  });
  server.get("/broken", [](http::Request&, http::Reply&) -> Task<> {
    throw std::runtime_error("the password is hunter2");
    co_return;
  });
  server.get("/internal", [](http::Request&, http::Reply&) -> Task<> {
    throw Error(Errc::internal, "inner", "select secret from t");
    co_return;
  });
  server.get("/odd", [](http::Request&, http::Reply&) -> Task<> {
    throw 42;
    co_return;
  });
  server.get("/silent", [](http::Request&, http::Reply&) -> Task<> { co_return; });
  server.get("/header", [](http::Request&, http::Reply& rp) -> Task<> {
    rp.set("Location", "/x\r\nSet-Cookie: a=b");
    co_await rp.send(http::Status::found);
  });
  server.start();
  auto client = server.client();
  const auto busy = client.get("/busy");
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.header("retry-after"), "7");
  EXPECT_FALSE(busy.has("etag")) << "headers of the answer that was not given are gone";
  EXPECT_EQ(nlohmann::json::parse(busy.body).value("slug", ""), "busy");
  for (const auto* path : {"/broken", "/internal", "/odd", "/silent", "/header"}) {
    const auto answer = client.get(path);
    EXPECT_EQ(answer.status, 500) << path;
    EXPECT_EQ(nlohmann::json::parse(answer.body).value("message", ""), "the server failed") << path;
    EXPECT_FALSE(answer.has("set-cookie"));
  }
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST(Session, AfterTheFirstByteAnErrorCutsTheConnection) {
  TestServer server;
  server.get("/late", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", std::nullopt);
    co_await rp.write("the beginning");
    co_await rp.flush();
    throw std::runtime_error("too late");
  });
  server.get("/late-length", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", 1000);
    co_await rp.write("the beginning");
    co_await rp.flush();
    throw Error(Errc::not_found, "x", "too late");
  });
  server.get("/unfinished", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", std::nullopt);
    co_await rp.write("the beginning");
    co_await rp.flush();
  });
  server.get("/early", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", std::nullopt);
    co_await rp.write("held back");
    throw Error(Errc::conflict, "x", "not sent yet");
  });
  server.start();
  for (const auto* path : {"/late", "/late-length", "/unfinished"}) {
    auto client = server.client();
    const auto answer = client.get(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_FALSE(answer.complete) << path;
    EXPECT_TRUE(client.closed_by_server()) << path;
  }
  auto client = server.client();
  EXPECT_EQ(client.get("/early").status, 409) << "nothing had left: a clean answer";
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST(Session, WritingMoreOrLessThanAnnouncedCutsTheConnection) {
  TestServer server;
  server.get("/more", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", 5);
    co_await rp.write("12345");
    co_await rp.flush();
    co_await rp.write("6");
    co_await rp.end();
  });
  server.get("/less", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", 5);
    co_await rp.write("1234");
    co_await rp.flush();
    co_await rp.end();
  });
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.get("/more").body, "12345");
  EXPECT_TRUE(client.closed_by_server());
  const auto less = client.get("/less");
  EXPECT_FALSE(less.complete);
  EXPECT_EQ(less.body, "1234");
}

TEST(Session, ManyThreadsShareOnePort) {
  TestServer server(3);
  server.start();
  for (int i = 0; i < 60; ++i) EXPECT_EQ(server.client().get("/hello").body, "hello");
}

TEST(Session, TwoServersDoNotShareAPortByAccident) {
  TestServer server(2);
  server.start();
  TestServer other(2);
  other.config.listen = "127.0.0.1:" + std::to_string(server.port());
  EXPECT_THROW(other.start(), std::runtime_error);
}

TEST(Session, ListensOnAllAddressesOrSaysWhyNot) {
  TestServer server;
  server.config.listen = "*:0";
  server.start();
  EXPECT_EQ(server.client().get("/hello").body, "hello") << "IPv4, whether or not there is IPv6";
  for (const auto* listen : {"192.0.2.1:0", "nonsense", "127.0.0.1:99999", "no.such.host.invalid:80"}) {
    TestServer other;
    other.config.listen = listen;
    EXPECT_THROW(other.start(), std::runtime_error) << listen;
  }
}

TEST(Session, QueriesCookiesAndParameters) {
  TestServer server;
  server.get("/q/{id}", [](http::Request& rq, http::Reply& rp) -> Task<> {
    std::string out = rq.param("id");
    out += "|" + rq.query("a").value_or("-") + "|" + std::string(rq.cookie("c")) + "|" +
           std::string(rq.cookie("d")) + "|" + std::string(rq.raw_path()) + "|" +
           std::string(rq.raw_query()) + "|" + rq.client_address() + "|" + rq.limit_key() + "|" +
           (rq.is_secure() ? "secure" : "plain") + "|" + rq.base_url();
    co_await rp.send(http::Status::ok, "text/plain", out);
  });
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.get("/q/x%20y?a=1+2", {{"Cookie", "c=1; d=2"}, {"Host", "h.example:1"}}).body,
            "x y|1 2|1|2|/q/x%20y|a=1+2|127.0.0.1|127.0.0.1|plain|http://h.example:1");
  EXPECT_EQ(client.get("/q/1", {{"Cookie", "c=1"}, {"Cookie", "d=3"}, {"Host", "h"}}).body,
            "1|-|1|3|/q/1||127.0.0.1|127.0.0.1|plain|http://h");
  EXPECT_NE(
      client.raw("GET /q/1 HTTP/1.0\r\n\r\n").find("|http://127.0.0.1:" + std::to_string(server.port())),
      std::string::npos);
}

}  // namespace
}  // namespace welkin::test
