#include "app/waiting_room.hpp"

#include "welkin/http/router.hpp"
#include "welkin/http/server.hpp"
#include "welkin/nextcloud/nextcloud.hpp"

namespace welkin::app {
namespace {

constexpr const char* kJson = "application/json";

Task<> say_alive(http::Request&, http::Reply& rp) {
  co_await rp.send(http::Status::ok, kJson, R"({"status":"ok"})");
}

Task<> say_not_ready(http::Request&, http::Reply& rp) {
  rp.set("Retry-After", "5");
  co_await rp.send(http::Status::unavailable, kJson, R"({"status":"error","db":"error"})");
}

Task<> say_in_maintenance(http::Request&, http::Reply& rp) {
  co_await rp.send(http::Status::ok, kJson, nextcloud::status_json(true));
}

Task<> say_later(http::Request& rq, http::Reply& rp, const std::string&) {
  rp.set("Retry-After", "5");
  rp.close_after();
  co_await rp.send(http::Status::unavailable, kJson,
                   R"({"status":"503 Service Unavailable","error":"The database does not answer.",)"
                   R"("message":"The database does not answer.","error_type":"Disabled","slug":"database",)"
                   R"("request_id":")" +
                       rq.id() + R"("})");
}

}  // namespace

struct WaitingRoom::Impl {
  explicit Impl(const Config& config) : io(1) {
    auto open = router.scope({});
    open.on({http::Method::get, "/health", "health", http::Access::open, "health", "read"}, say_alive);
    open.on({http::Method::get, "/ready", "ready", http::Access::open, "health", "read"}, say_not_ready);
    open.on({http::Method::get, "/status.php", "status", http::Access::open, "-", "-"}, say_in_maintenance);
    router.set_fallback("", say_later);
    server = std::make_unique<http::Server>(io, config, router);
    io.start();
    port = server->listen();
  }
  ~Impl() {
    server->drain(std::chrono::seconds(1));
    server.reset();
    io.stop_and_join();
  }
  http::IoThreads io;
  http::Router router;
  std::unique_ptr<http::Server> server;
  std::uint16_t port = 0;
};

WaitingRoom::WaitingRoom(const Config& config) : impl_(std::make_unique<Impl>(config)) {}
WaitingRoom::~WaitingRoom() = default;
std::uint16_t WaitingRoom::port() const { return impl_->port; }

}  // namespace welkin::app
