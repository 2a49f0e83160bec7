#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/cookies.hpp"
#include "rest/routes.hpp"
#include "rest/setup_page.hpp"
#include "rest/user_json.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::rest {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using nlohmann::json;

/// POST /api/setup {username, email?, password, setup_token?} -> 201 User | 400 | 403 | 422 | 429
Task<> set_up(Services services, Request& rq, Reply& rp) {
  require_not_cross_site(rq);
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  std::string name = in.string("username");
  std::string email = in.opt_string("email").value_or("");
  std::string password = in.string("password");
  std::string token = in.opt_string("setup_token").value_or("");
  in.done();
  const auto user = co_await services.people.setup(std::move(name), std::move(email), std::move(password),
                                                   std::move(token), origin_of(rq));
  co_await send_json(rp, Status::created, user_json(services.ids, user));
}

/// GET /setup
Task<> send_page(Request& rq, Reply& rp) {
  auto page = setup_page(rq.base_path());
  rp.set("Content-Security-Policy", page.content_security_policy);
  co_await rp.send(Status::ok, "text/html; charset=utf-8", std::move(page.html));
}

/// GET / -> 302 /setup, which also says what to do once there are accounts.
Task<> send_home(Request& rq, Reply& rp) {
  rp.set("Location", std::string(rq.base_path()) + "/setup");
  co_await rp.send(Status::found);
}

}  // namespace

void mount_setup(Scopes& s, const Services& services, OwnSetup own) {
  s.open.on({Method::post, "/api/setup", "setup.create", Access::open, "-", "-"},
            [services](Request& rq, Reply& rp) { return set_up(services, rq, rp); });
  if (own == OwnSetup::none) return;
  s.open.on({Method::get, "/", "setup.home", Access::open, "-", "-"}, send_home);
  s.open.on({Method::get, "/setup", "setup.page", Access::open, "-", "-"}, send_page);
}

}  // namespace welkin::rest
