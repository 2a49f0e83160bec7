#include "http/test_server.hpp"

#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::test {

TestServer::TestServer(unsigned threads) : io_(threads) {
  config.listen = "127.0.0.1:0";
  config.access_log = false;
  using http::Method;
  for (const auto method : {Method::get, Method::post, Method::put, Method::propfind, Method::del})
    on(method, "/echo", [](http::Request& rq, http::Reply& rp) -> Task<> {
      auto body = co_await rq.text(64 << 20);
      rp.set("X-Method", rq.method_token());
      co_await rp.send(http::Status::ok, "application/octet-stream", std::move(body));
    });
  get("/hello", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.send(http::Status::ok, "text/plain; charset=utf-8", "hello");
  });
  get("/p/{*path}", [](http::Request& rq, http::Reply& rp) -> Task<> {
    std::string out;
    for (const auto& segment : rq.rest()) out += "[" + segment + "]";
    co_await rp.send(http::Status::ok, "text/plain; charset=utf-8", out);
  });
}

TestServer::~TestServer() { stop(); }

void TestServer::on(http::Method method, const std::string& path, http::Handler handler) {
  router_.scope({}).on(
      {method, path, "test" + path + std::string(to_string(method)), http::Access::open, "-", "-"},
      [this, handler = std::move(handler)](http::Request& rq, http::Reply& rp) {
        ++handled;
        return handler(rq, rp);
      });
}

std::uint16_t TestServer::start() {
  server_ = std::make_unique<http::Server>(io_, config, router_);
  port_ = server_->listen();
  io_.start();
  return port_;
}

void TestServer::stop() {
  if (server_) server_->drain(std::chrono::seconds(2));
  io_.stop_and_join();
  server_.reset();
}

double metric(const std::string& line) {
  const auto all = "\n" + metrics::render();
  const auto at = all.find("\n" + line + " ");
  return at == all.npos ? -1 : std::stod(all.substr(at + line.size() + 2));
}

}  // namespace welkin::test
