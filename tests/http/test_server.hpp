#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "support/http_client.hpp"
#include "welkin/http/router.hpp"
#include "welkin/http/server.hpp"

namespace welkin::test {

/// A server with a few handlers and no database. Add routes before `start`.
///   ANY-but-few /echo       the method, target and body come back
///   GET /hello              "hello"
///   GET /{*path} below /p   the segments, each in brackets
class TestServer {
 public:
  explicit TestServer(unsigned threads = 1);
  ~TestServer();

  http::Router& router() { return router_; }
  /// A route under `path` for GET.
  void get(const std::string& path, http::Handler handler) {
    on(http::Method::get, path, std::move(handler));
  }
  void on(http::Method method, const std::string& path, http::Handler handler);

  std::uint16_t start();
  std::uint16_t port() const { return port_; }
  HttpClient client() const { return HttpClient(port_); }
  http::Server& server() { return *server_; }
  void stop();  // drains and joins

  Config config;
  /// Requests that reached a handler.
  std::atomic<unsigned> handled{0};

 private:
  http::Router router_;
  http::IoThreads io_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
};

/// Value of a counter or gauge as /metrics would show it; -1 when absent.
double metric(const std::string& line);

}  // namespace welkin::test
