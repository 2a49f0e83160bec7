#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/routes.hpp"

namespace welkin::rest {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using nlohmann::json;

/// GET /health: the process answers. For supervisors; touches nothing.
Task<> health(Request& /*rq*/, Reply& rp) { return send_json_text(rp, Status::ok, R"({"status":"ok"})"); }

/// GET /ready -> 200, or 503 with what is missing. For load balancers.
Task<> ready(const std::function<Task<std::string>()>& healthy, Reply& rp) {
  const std::string missing = co_await healthy();
  if (missing.empty()) {
    co_await send_json(rp, Status::ok, json{{"status", "ok"}, {"db", "ok"}});
    co_return;
  }
  // Anybody may ask, so the particulars after the colon stay in the log.
  const std::string what = missing.substr(0, missing.find(':'));
  const json body{{"status", "error"}, {"db", what == "database" ? "error" : "ok"}, {"reason", what}};
  co_await send_json(rp, Status::unavailable, body);
}

Task<> version(Request& /*rq*/, Reply& rp) {
  return send_json(rp, Status::ok, json{{"name", "Welkin"}, {"version", WELKIN_VERSION}});
}

}  // namespace

void mount_system(Scopes& s, const Services& /*services*/, std::function<Task<std::string>()> healthy) {
  s.open.on({Method::get, "/health", "system.health", Access::open, "-", "-"}, health);
  s.open.on({Method::get, "/ready", "system.ready", Access::open, "-", "-"},
            [healthy = std::move(healthy)](Request&, Reply& rp) { return ready(healthy, rp); });
  s.open.on({Method::get, "/api/version", "system.version", Access::open, "-", "-"}, version);
}

}  // namespace welkin::rest
