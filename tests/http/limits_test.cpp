// Slow and many clients: every wait ends, every number is bounded (checks N-01, N-02, HT-03).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "http/loop.hpp"
#include "http/test_server.hpp"

namespace welkin::test {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Limits : public ::testing::Test {
 protected:
  void SetUp() override {
    server.config.header_seconds = 1;
    server.config.idle_seconds = 1;
    server.config.body_stall_seconds = 1;
    server.config.write_stall_seconds = 1;
    page.assign(1 << 20, 'x');
    server.get("/flood", [this](http::Request&, http::Reply& rp) -> Task<> {
      co_await rp.begin(http::Status::ok, "text/plain", kFloodBytes);
      for (std::uint64_t at = 0; at < kFloodBytes; at += page.size()) co_await rp.write(page);
      co_await rp.end();
    });
  }
  static constexpr std::uint64_t kFloodBytes = 40 << 20;
  std::string page;
  TestServer server;
};

TEST_F(Limits, ASilentConnectionIsClosed) {
  server.start();
  auto client = server.client();
  client.connect();
  EXPECT_EQ(client.read_until_closed(), "");
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(Limits, AnIdleKeptConnectionIsClosed) {
  server.start();
  auto client = server.client();
  client.connect();
  client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 200);
  EXPECT_EQ(client.read_until_closed(), "");
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(Limits, ASlowHeaderIsCutInTotal) {
  server.start();
  auto client = server.client();
  client.connect();
  client.send("GET /hello HTTP/1.1\r\n");
  // A byte now and then does not help: the time is for the whole header.
  for (int i = 0; i < 100 && client.send("X"); ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    if (i > 30) break;
  }
  const auto answer = client.read_response();
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(nlohmann::json::parse(answer.body).value("slug", ""), "header_too_slow");
  EXPECT_EQ(server.handled, 0u);
}

TEST_F(Limits, AStalledBodyIsCut) {
  server.start();
  auto client = server.client();
  client.connect();
  client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome");
  const auto answer = client.read_response();
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(nlohmann::json::parse(answer.body).value("slug", ""), "body_too_slow");
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(Limits, ABodyBelowOneKibibyteASecondIsCut) {
  server.start();
  auto client = server.client();
  client.connect();
  client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  const auto before = metric("welkin_http_timeouts_total{phase=\"body\"}");
  while (metric("welkin_http_timeouts_total{phase=\"body\"}") <= before && client.send("0123456789"))
    std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(client.read_response().status, 408);
}

TEST_F(Limits, ASteadyBodyIsNot) {
  server.start();
  auto client = server.client();
  client.connect();
  client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n");
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(client.send(std::string(5000, 'x')));
    std::this_thread::sleep_for(milliseconds(75));
  }
  const auto answer = client.read_response();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), 200'000u);
}

TEST_F(Limits, AReaderThatStopsIsCut) {
  server.start();
  HttpClient client(server.port(), {.receive_buffer_bytes = 4096});
  client.connect();
  const auto before = metric("welkin_http_timeouts_total{phase=\"write\"}");
  client.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n");
  while (metric("welkin_http_timeouts_total{phase=\"write\"}") <= before)
    std::this_thread::sleep_for(milliseconds(20));
  const auto answer = client.read_response();
  EXPECT_FALSE(answer.complete);
  EXPECT_LT(answer.body.size(), kFloodBytes);
}

TEST_F(Limits, ASlowButSteadyReaderIsNot) {
  server.start();
  HttpClient client(server.port(), {.receive_buffer_bytes = 65536});
  client.connect();
  client.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n");
  std::uint64_t received = 0;
  const auto begin = steady_clock::now();
  while (received < kFloodBytes) {
    const auto more = client.read_some(1 << 20);
    ASSERT_FALSE(more.empty()) << "after " << received;
    received += more.size();
    if (steady_clock::now() - begin < std::chrono::seconds(3)) std::this_thread::sleep_for(milliseconds(20));
  }
}

TEST_F(Limits, ASlowHandlerIsNobodysFault) {
  server.get("/slow", [](http::Request&, http::Reply& rp) -> Task<> {
    asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, Executor> timer(
        co_await asio::this_coro::executor, std::chrono::seconds(3));
    co_await timer.async_wait(asio::use_awaitable_t<Executor>());
    co_await rp.send(http::Status::ok, "text/plain", "at last");
  });
  server.start();
  EXPECT_EQ(server.client().get("/slow").body, "at last");
}

TEST_F(Limits, ASlowClientDoesNotHoldUpOthers) {
  server.config.header_seconds = 30;
  server.start();
  std::vector<HttpClient> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(server.client());
    slow.back().connect();
    slow.back().send(i % 2 == 0 ? "GET /hello HTTP/1.1\r\nHost"
                                : "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx");
  }
  auto healthy = server.client();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(healthy.get("/hello").status, 200);
}

TEST_F(Limits, WhenTheHouseIsFullTheIdleMakeRoom) {
  server.config.connections_max = 8;
  server.config.idle_seconds = 60;
  server.config.header_seconds = 60;
  server.config.body_stall_seconds = 60;
  server.start();
  const unsigned places = 8 + http::Admission::kReserved;
  std::vector<HttpClient> idle;
  for (unsigned i = 0; i < places + 20; ++i) {
    idle.push_back(server.client());
    ASSERT_EQ(idle.back().get("/hello").status, 200) << i;
  }
  unsigned closed = 0;
  for (unsigned i = 0; i < 20; ++i) closed += idle[i].closed_by_server() ? 1 : 0;
  EXPECT_EQ(closed, 20u) << "those that were idle for longest";
  EXPECT_EQ(idle.back().get("/hello").status, 200);
  EXPECT_LE(metric("welkin_http_connections"), places);
}

TEST_F(Limits, WhenAllAreBusyNewOnesAreTurnedAway) {
  server.config.connections_max = 1;
  server.config.body_stall_seconds = 60;
  server.start();
  const unsigned places = 1 + http::Admission::kReserved;
  std::vector<HttpClient> busy;
  for (unsigned i = 0; i < places; ++i) {
    busy.push_back(server.client());
    busy.back().connect();
    busy.back().send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n123");
  }
  while (server.handled < places) std::this_thread::yield();
  auto late = server.client();
  late.connect();
  const auto answer = late.read_response();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("retry-after"), "5");
  EXPECT_TRUE(late.closed_by_server());
  for (auto& client : busy) {
    client.send("45");
    EXPECT_EQ(client.read_response().body, "12345");
  }
  busy.clear();
  // The places are free again as soon as the server has noticed.
  for (int i = 0;; ++i) {
    auto next = server.client();
    if (next.get("/hello").status == 200) break;
    ASSERT_LT(i, 100);
    std::this_thread::sleep_for(milliseconds(50));
  }
}

TEST(Admission, CountsAddresses) {
  Config config;
  config.trusted_proxies = {"10.0.0.0/8"};
  config.connections_per_address_max = 3;
  const http::Settings settings(config);
  http::Admission door(settings, 100);
  using Answer = http::Admission::Answer;
  const auto at = [](const char* s) { return *http::parse_address(s); };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(door.enter(at("192.0.2.1")), Answer::welcome);
  EXPECT_EQ(door.enter(at("192.0.2.1")), Answer::too_many_of_address);
  EXPECT_EQ(door.enter(at("192.0.2.2")), Answer::welcome);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(door.enter(at(("2001:db8::" + std::to_string(i + 1)).c_str())), Answer::welcome);
  EXPECT_EQ(door.enter(at("2001:db8::ffff")), Answer::too_many_of_address) << "one network is one address";
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(door.enter(at("127.0.0.1")), Answer::welcome);
    EXPECT_EQ(door.enter(at("10.1.2.3")), Answer::welcome);
  }
  EXPECT_EQ(door.open(), 27u);
  door.leave(at("192.0.2.1"));
  EXPECT_EQ(door.enter(at("192.0.2.1")), Answer::welcome);
  EXPECT_EQ(door.enter(at("192.0.2.1")), Answer::too_many_of_address);
}

TEST(Admission, KeepsPlacesForTheLoopback) {
  const http::Settings settings{Config{}};
  http::Admission door(settings, 2);
  using Answer = http::Admission::Answer;
  const auto near = *http::parse_address("127.0.0.1");
  const auto far = *http::parse_address("192.0.2.1");
  EXPECT_EQ(door.enter(far), Answer::welcome);
  EXPECT_EQ(door.enter(far), Answer::welcome);
  EXPECT_EQ(door.enter(far), Answer::full);
  for (unsigned i = 0; i < http::Admission::kReserved; ++i) EXPECT_EQ(door.enter(near), Answer::welcome);
  EXPECT_EQ(door.enter(near), Answer::full);
  EXPECT_EQ(door.enter(near, true), Answer::welcome) << "in place of somebody who leaves";
  EXPECT_EQ(door.enter(far), Answer::full);
}

/// Without a free descriptor the server refuses, does not spin, and goes on when there are some again.
TEST(Descriptors, RunningOutIsSurvived) {
  TestServer server;
  server.config.idle_seconds = 600;
  server.config.body_stall_seconds = 600;
  server.start();
  EXPECT_EQ(server.client().get("/hello").status, 200);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = ::dup(0);
  ::close(lowest_free);
  const rlimit tight{static_cast<rlim_t>(lowest_free) + 12, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::vector<HttpClient> clients;
  try {
    for (int i = 0; i < 100; ++i) {
      clients.push_back(server.client());
      clients.back().connect();
      // Busy, so that nobody can be evicted.
      clients.back().send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n123");
    }
  } catch (const std::runtime_error&) {  // our own side has none left either
  }
  ASSERT_LT(clients.size(), 100u);
  const auto cpu = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  };
  const auto cpu_before = cpu();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(milliseconds(500));
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(cpu() - cpu_before, waited.count() / 2) << "half of one core: it spins";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  clients.clear();
  EXPECT_EQ(server.client().get("/hello").status, 200);
}

}  // namespace
}  // namespace welkin::test
