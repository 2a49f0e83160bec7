#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/cookies.hpp"
#include "rest/routes.hpp"
#include "rest/user_json.hpp"
#include "welkin/core/error.hpp"
#include "welkin/wire/json.hpp"

// Signing in and out, the signed-in user, his sessions.
namespace welkin::rest {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using nlohmann::json;

Task<> send_tokens(const Services& services, Request& rq, Reply& rp, const people::Tokens& tokens) {
  set_session_cookies(rq, rp, tokens);
  const json body{
      {"user", signed_in_user_json(services.ids, tokens.user)},
      {"access_token", tokens.access_token},
      {"refresh_token", tokens.refresh_token},
      {"token_type", "Bearer"},
      {"expires_in", tokens.access_seconds},
  };
  co_await send_json(rp, Status::ok, body);
}

/// GET /api/auth/status
Task<> status(Services services, Reply& rp) {
  const auto now = co_await services.people.status();
  const bool may_register = now.initialized && co_await services.people.registration_enabled();
  const json body{
      {"initialized", now.initialized},
      {"admin_count", now.admin_count},
      {"registration_allowed", may_register},
      {"setup_token_required", !now.initialized && services.people.setup_needs_token()},
  };
  co_await send_json(rp, Status::ok, body);
}

/// POST /api/auth/register {username, email?, password} -> 201 User | 400 | 403 | 409 | 422 | 429
Task<> sign_up(Services services, Request& rq, Reply& rp) {
  require_not_cross_site(rq);
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  std::string name = in.string("username");
  std::string email = in.opt_string("email").value_or("");
  std::string password = in.string("password");
  in.done();
  const auto user = co_await services.people.register_user(std::move(name), std::move(email),
                                                           std::move(password), origin_of(rq));
  co_await send_json(rp, Status::created, user_json(services.ids, user));
}

/// POST /api/auth/login {username, password} -> 200 tokens and cookies | 403 whatever was wrong | 422 | 429
Task<> login(Services services, Request& rq, Reply& rp) {
  require_not_cross_site(rq);
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  std::string name = in.string("username");
  std::string password = in.string("password");
  in.done();
  const auto tokens = co_await services.people.login(std::move(name), std::move(password), origin_of(rq));
  co_await send_tokens(services, rq, rp, tokens);
}

/// The refresh token of the body, else of the cookie; "" when there is none.
Task<std::string> refresh_token_of(Request& rq) {
  const json body = co_await optional_json_body(rq);
  wire::JsonObject in(body);
  auto token = in.opt_string("refresh_token");
  in.done();
  co_return token ? std::move(*token) : std::string(session_cookies(rq).refresh);
}

/// POST /api/auth/refresh {refresh_token?} -> 200 tokens and cookies | 401 none | 403 used before, expired |
/// 404 unknown
Task<> refresh(Services services, Request& rq, Reply& rp) {
  require_not_cross_site(rq);
  std::string token = co_await refresh_token_of(rq);
  const auto tokens = co_await services.people.refresh(std::move(token), origin_of(rq));
  co_await send_tokens(services, rq, rp, tokens);
}

/// POST /api/auth/logout {refresh_token?} -> 200
Task<> logout(Services services, Request& rq, Reply& rp) {
  std::string token = co_await refresh_token_of(rq);
  co_await services.people.logout(rq.caller(), std::move(token), origin_of(rq));
  clear_session_cookies(rq, rp);
  co_await rp.send(Status::ok);
}

/// GET /api/auth/me -> 200 User
Task<> me(Services services, Request& rq, Reply& rp) {
  const auto user = co_await services.people.me(rq.caller());
  co_await send_json_text(rp, Status::ok, user_text(services.ids, user));
}

/// PUT /api/auth/change-password {current_password, new_password} -> 200; every session ends
Task<> change_password(Services services, Request& rq, Reply& rp) {
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  std::string current = in.string("current_password");
  std::string next = in.string("new_password");
  in.done();
  co_await services.people.change_password(rq.caller(), std::move(current), std::move(next), origin_of(rq));
  clear_session_cookies(rq, rp);
  co_await rp.send(Status::ok);
}

/// GET /api/auth/sessions -> 200 {sessions: [...], total}
Task<> sessions(Services services, Request& rq, Reply& rp) {
  const Caller& caller = rq.caller();
  const auto all = co_await services.people.sessions(caller);
  json list = json::array();
  for (const auto& session : all) {
    list.push_back({
        {"id", services.ids.encode(IdKind::session, session.id.value)},
        {"user_agent", session.user_agent},
        {"address", session.address},
        {"created_at", times::rfc3339(session.created_at)},
        {"last_used_at", times::rfc3339(session.last_used_at)},
        {"expires_at", times::rfc3339(session.expires_at)},
        {"current", session.id == caller.session},
    });
  }
  co_await send_json(rp, Status::ok, json{{"sessions", std::move(list)}, {"total", all.size()}});
}

/// DELETE /api/auth/sessions/{id} -> 200 {status, id} | 404
Task<> revoke_session(Services services, Request& rq, Reply& rp) {
  const auto& id = rq.param("id");
  const auto key = services.ids.decode(IdKind::session, id);
  if (!key) throw Error(Errc::not_found, "no_such_session", "Session not found");
  co_await services.people.revoke_session(rq.caller(), SessionId{*key}, origin_of(rq));
  co_await send_json(rp, Status::ok, json{{"status", "revoked"}, {"id", id}});
}

}  // namespace

void mount_auth(Scopes& s, const Services& services) {
  using Action = Task<> (*)(Services, Request&, Reply&);
  const auto run = [&services](Action action) {
    return [services, action](Request& rq, Reply& rp) { return action(services, rq, rp); };
  };
  s.open.on({Method::get, "/api/auth/status", "auth.status", Access::open, "-", "-"},
            [services](Request&, Reply& rp) { return status(services, rp); });
  s.open.on({Method::post, "/api/auth/register", "auth.register", Access::open, "-", "-"}, run(sign_up));
  s.open.on({Method::post, "/api/auth/login", "auth.login", Access::open, "-", "-"}, run(login));
  s.open.on({Method::post, "/api/auth/refresh", "auth.refresh", Access::open, "-", "-"}, run(refresh));
  s.user.on({Method::post, "/api/auth/logout", "auth.logout", Access::user, "session", "delete"},
            run(logout));
  s.user.on({Method::get, "/api/auth/me", "auth.me", Access::user, "account", "read"}, run(me));
  s.user.on(
      {Method::put, "/api/auth/change-password", "auth.change_password", Access::user, "account", "update"},
      run(change_password));
  s.user.on({Method::get, "/api/auth/sessions", "auth.sessions", Access::user, "session", "read"},
            run(sessions));
  s.user.on(
      {Method::del, "/api/auth/sessions/{id}", "auth.revoke_session", Access::user, "session", "delete"},
      run(revoke_session));
}

}  // namespace welkin::rest
