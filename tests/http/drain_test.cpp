// Stopping: idle connections go at once, requests in flight are finished or, in the end, cut.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <thread>

#include "http/test_server.hpp"

namespace welkin::test {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

Task<> sleep_for(std::chrono::milliseconds time) {
  asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, Executor> timer(
      co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable_t<Executor>());
}

TEST(Drain, ClosesIdleConnectionsAndRefusesNewOnes) {
  TestServer server(2);
  server.start();
  std::vector<HttpClient> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(server.client());
    if (i % 2 == 0)
      EXPECT_EQ(idle.back().get("/hello").status, 200);
    else
      idle.back().connect();
  }
  const auto begin = steady_clock::now();
  server.server().drain(std::chrono::seconds(30));
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(15)) << "nothing had to be waited for";
  for (auto& client : idle) EXPECT_TRUE(client.closed_by_server());
  EXPECT_THROW(server.client().connect(), std::runtime_error);
}

TEST(Drain, FinishesWhatIsInFlight) {
  TestServer server;
  std::atomic<bool> entered{false};
  server.get("/slow", [&](http::Request&, http::Reply& rp) -> Task<> {
    entered = true;
    co_await sleep_for(std::chrono::milliseconds(700));
    co_await rp.send(http::Status::ok, "text/plain", "finished");
  });
  server.start();
  auto slow = server.client();
  slow.connect();
  slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  auto uploading = server.client();
  uploading.connect();
  uploading.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  while (!entered || server.handled < 2) std::this_thread::yield();
  std::thread draining([&] { server.server().drain(std::chrono::seconds(30)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  uploading.send("67890");
  const auto uploaded = uploading.read_response();
  EXPECT_EQ(uploaded.body, "1234567890");
  EXPECT_EQ(uploaded.header("connection"), "close");
  const auto finished = slow.read_response();
  EXPECT_EQ(finished.body, "finished");
  EXPECT_EQ(finished.header("connection"), "close");
  EXPECT_TRUE(slow.closed_by_server());
  slow.close();
  uploading.close();
  draining.join();
}

TEST(Drain, CutsWhatDoesNotFinish) {
  TestServer server;
  std::atomic<int> begun{0};
  std::atomic<int> unwound{0};
  struct Guard {
    std::atomic<int>& count;
    ~Guard() { ++count; }
  };
  server.get("/forever", [&](http::Request&, http::Reply&) -> Task<> {
    const Guard guard{unwound};
    ++begun;
    for (;;) co_await sleep_for(std::chrono::hours(1));
  });
  server.get("/flood", [&](http::Request&, http::Reply& rp) -> Task<> {
    const Guard guard{unwound};
    ++begun;
    co_await rp.begin(http::Status::ok, "text/plain", std::nullopt);
    const std::string page(100'000, 'x');
    for (;;) co_await rp.write(page);
  });
  server.on(http::Method::put, "/wait", [&](http::Request& rq, http::Reply&) -> Task<> {
    const Guard guard{unwound};
    ++begun;
    co_await rq.read();
  });
  server.start();
  std::vector<HttpClient> clients;
  for (const auto* request :
       {"GET /forever HTTP/1.1\r\nHost: a\r\n\r\n", "GET /flood HTTP/1.1\r\nHost: a\r\n\r\n",
        "PUT /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"}) {
    clients.push_back(server.client());
    clients.back().connect();
    clients.back().send(request);
  }
  while (begun < 3) std::this_thread::yield();
  server.server().drain(std::chrono::seconds(1));
  EXPECT_EQ(unwound, 3);
  for (auto& client : clients) EXPECT_TRUE(client.closed_by_server());
}

TEST(Drain, UnderLoadNoAnswerIsHalf) {
  TestServer server(2);
  server.start();
  std::atomic<bool> stop{false};
  std::atomic<int> whole{0};
  std::atomic<int> half{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        try {
          auto client = server.client();
          while (!stop) {
            const auto answer = client.request("PUT", "/echo", {}, std::string(20'000, 'x'));
            if (answer.status == 0) break;
            ++(answer.complete ? whole : half);
          }
        } catch (const std::runtime_error&) {
          break;
        }
      }
    });
  while (whole < 200) std::this_thread::yield();
  server.server().drain(std::chrono::seconds(20));
  stop = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(half, 0);
}

TEST(Drain, TwiceAndWithoutAStartIsHarmless) {
  TestServer server;
  server.start();
  server.server().drain(std::chrono::seconds(1));
  server.server().drain(std::chrono::seconds(1));
  TestServer never;
}

TEST(Drain, AServerThatListensButWhoseThreadsNeverRanIsTakenApart) {
  http::IoThreads io(2);
  http::Router router;
  Config config;
  config.listen = "127.0.0.1:0";
  http::Server server(io, config, router);
  EXPECT_NE(server.listen(), 0);
}

}  // namespace
}  // namespace welkin::test
