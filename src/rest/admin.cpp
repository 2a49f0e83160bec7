#include <algorithm>
#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/routes.hpp"
#include "rest/user_json.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/json.hpp"

// What administrators do with accounts and settings.
namespace welkin::rest {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using nlohmann::json;

constexpr int kUsersDefault = 100;
constexpr int kUsersMax = 500;

UserId user_id(const Services& services, Request& rq) {
  const auto key = services.ids.decode(IdKind::user, rq.param("id"));
  if (!key) throw Error(Errc::not_found, "no_such_user", "User not found: " + rq.param("id"));
  return UserId{*key};
}

/// Administrators do not cut off the branch they sit on.
void refuse_self(const Request& rq, UserId id, const char* slug, const char* what) {
  if (rq.caller().user == id) throw Error(Errc::invalid, slug, what);
}

bool is_admin_role(const std::string& role) {
  if (role == "admin") return true;
  if (role == "user") return false;
  throw Error(Errc::invalid, "bad_role", "The role must be 'admin' or 'user'");
}

Task<> send_message(Reply& rp, const char* message) {
  return send_json(rp, Status::ok, json{{"message", message}});
}

std::int64_t query_number(const Request& rq, std::string_view name, std::int64_t absent) {
  const auto value = rq.query(name);
  if (!value) return absent;
  const auto number = text::signed_number(*value);
  if (!number || *number < 0)
    throw Error(Errc::invalid, "bad_query",
                "'" + std::string(name) + "' must be a number that is not negative");
  return *number;
}

/// GET /api/admin/dashboard
Task<> dashboard(Services services, Request&, Reply& rp) {
  const auto t = co_await services.people.totals();
  const bool registration = co_await services.people.registration_enabled();
  const double percent = t.quota_bytes > 0
                             ? 100.0 * static_cast<double>(t.used_bytes) / static_cast<double>(t.quota_bytes)
                             : 0.0;
  const json body{
      {"server_version", WELKIN_VERSION},
      {"auth_enabled", true},
      {"oidc_configured", false},
      {"quotas_enabled", true},
      {"total_users", t.users},
      {"active_users", t.active},
      {"admin_users", t.admins},
      {"total_quota_bytes", t.quota_bytes},
      {"total_used_bytes", t.used_bytes},
      {"storage_usage_percent", percent},
      {"users_over_80_percent", t.over_80_percent},
      {"users_over_quota", t.over_quota},
      {"registration_enabled", registration},
  };
  co_await send_json(rp, Status::ok, body);
}

/// GET /api/admin/settings/general
Task<> general(Services services, Request&, Reply& rp) {
  const auto t = co_await services.people.totals();
  const json body{{"server_version", WELKIN_VERSION},
                  {"auth_enabled", true},
                  {"total_users", t.users},
                  {"oidc_configured", false}};
  co_await send_json(rp, Status::ok, body);
}

/// GET /api/admin/settings/registration
Task<> registration(Services services, Request&, Reply& rp) {
  const bool enabled = co_await services.people.registration_enabled();
  co_await send_json(rp, Status::ok, json{{"registration_enabled", enabled}});
}

/// PUT /api/admin/settings/registration {registration_enabled}
Task<> set_registration(Services services, Request& rq, Reply& rp) {
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  const bool enabled = in.boolean("registration_enabled");
  in.done();
  co_await services.people.set_registration(enabled, rq.caller().user, origin_of(rq));
  const json answer{{"message", enabled ? "Registration is open" : "Registration is closed"},
                    {"registration_enabled", enabled}};
  co_await send_json(rp, Status::ok, answer);
}

/// GET /api/admin/users?limit&offset -> 200 {users, total, limit, offset}, newest first
Task<> list_users(Services services, Request& rq, Reply& rp) {
  const auto limit = std::clamp<std::int64_t>(query_number(rq, "limit", kUsersDefault), 1, kUsersMax);
  const auto offset = query_number(rq, "offset", 0);
  const auto page = co_await services.people.users(static_cast<int>(limit), offset);
  json users = json::array();
  for (const auto& user : page.users) users.push_back(user_json(services.ids, user));
  co_await send_json(
      rp, Status::ok,
      json{{"users", std::move(users)}, {"total", page.total}, {"limit", limit}, {"offset", offset}});
}

/// POST /api/admin/users {username, password, email?, display_name?, role?, quota_bytes?, active?}
/// -> 201 User, flat and as `user` | 400 | 409 | 422
Task<> create_user(Services services, Request& rq, Reply& rp) {
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  people::People::NewUser wanted;
  wanted.name = in.string("username");
  wanted.password = in.string("password");
  wanted.email = in.opt_string("email").value_or("");
  wanted.display_name = in.opt_string("display_name").value_or("");
  wanted.is_admin = is_admin_role(in.opt_string("role").value_or("user"));
  wanted.quota_bytes = in.opt_integer("quota_bytes");
  wanted.is_disabled = !in.opt_boolean("active").value_or(true);
  in.done();
  const auto user = co_await services.people.create_user(std::move(wanted), rq.caller().user, origin_of(rq));
  json flat = user_json(services.ids, user);
  json nested = flat;
  flat["user"] = std::move(nested);
  co_await send_json(rp, Status::created, flat);
}

/// GET /api/admin/users/{id}
Task<> get_user(Services services, Request& rq, Reply& rp) {
  const auto user = co_await services.people.user(user_id(services, rq));
  co_await send_json(rp, Status::ok, user_json(services.ids, user));
}

/// DELETE /api/admin/users/{id} -> 200 {message} | 400 SelfDeletion | 404 | 409 LastAdmin
Task<> delete_user(Services services, Request& rq, Reply& rp) {
  const UserId id = user_id(services, rq);
  refuse_self(rq, id, "self_deletion", "You cannot delete your own account");
  co_await services.people.delete_user(id, rq.caller().user, origin_of(rq));
  co_await send_message(rp, "User deleted");
}

/// PUT /api/admin/users/{id}/role {role}
Task<> set_role(Services services, Request& rq, Reply& rp) {
  const UserId id = user_id(services, rq);
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  const bool admin = is_admin_role(in.string("role"));
  in.done();
  refuse_self(rq, id, "self_role_change", "You cannot change your own role");
  co_await services.people.set_admin(id, admin, rq.caller().user, origin_of(rq));
  co_await send_message(rp, "Role changed");
}

/// PUT /api/admin/users/{id}/active {active}
Task<> set_active(Services services, Request& rq, Reply& rp) {
  const UserId id = user_id(services, rq);
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  const bool active = in.boolean("active");
  in.done();
  refuse_self(rq, id, "self_deactivation", "You cannot deactivate your own account");
  co_await services.people.set_disabled(id, !active, rq.caller().user, origin_of(rq));
  co_await send_message(rp, active ? "User activated" : "User deactivated");
}

/// PUT /api/admin/users/{id}/quota {quota_bytes}; 0: unlimited
Task<> set_quota(Services services, Request& rq, Reply& rp) {
  const UserId id = user_id(services, rq);
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  const auto quota = in.integer("quota_bytes");
  in.done();
  co_await services.people.set_quota(id, quota, rq.caller().user, origin_of(rq));
  co_await send_json(rp, Status::ok, json{{"message", "Quota changed"}, {"quota_bytes", quota}});
}

/// PUT /api/admin/users/{id}/password {new_password}; ends the user's sessions and app passwords
Task<> reset_password(Services services, Request& rq, Reply& rp) {
  const UserId id = user_id(services, rq);
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  std::string password = in.string("new_password");
  in.done();
  co_await services.people.reset_password(id, std::move(password), rq.caller().user, origin_of(rq));
  co_await send_message(rp, "Password changed");
}

}  // namespace

void mount_admin(Scopes& s, const Services& services) {
  using Action = Task<> (*)(Services, Request&, Reply&);
  const auto on = [&](Method method, const char* pattern, const char* name, const char* resource,
                      const char* action, Action handler) {
    s.admin.on({method, std::string("/api/admin") + pattern, name, Access::admin, resource, action},
               [services, handler](Request& rq, Reply& rp) { return handler(services, rq, rp); });
  };
  on(Method::get, "/dashboard", "admin.dashboard", "server", "read", dashboard);
  on(Method::get, "/settings/general", "admin.settings", "settings", "read", general);
  on(Method::get, "/settings/registration", "admin.registration", "settings", "read", registration);
  on(Method::put, "/settings/registration", "admin.set_registration", "settings", "update", set_registration);
  on(Method::get, "/users", "admin.users", "user", "read", list_users);
  on(Method::post, "/users", "admin.create_user", "user", "create", create_user);
  on(Method::get, "/users/{id}", "admin.user", "user", "read", get_user);
  on(Method::del, "/users/{id}", "admin.delete_user", "user", "delete", delete_user);
  on(Method::put, "/users/{id}/role", "admin.set_role", "user", "manage", set_role);
  on(Method::put, "/users/{id}/active", "admin.set_active", "user", "manage", set_active);
  on(Method::put, "/users/{id}/quota", "admin.set_quota", "user", "manage", set_quota);
  on(Method::put, "/users/{id}/password", "admin.reset_password", "user", "manage", reset_password);
}

}  // namespace welkin::rest
