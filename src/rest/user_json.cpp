#include "rest/user_json.hpp"

#include <nlohmann/json.hpp>

namespace welkin::rest {

using nlohmann::json;

json time_json(const std::optional<Micros>& at) { return at ? json(times::rfc3339(*at)) : json(nullptr); }

json user_json(const PublicIds& ids, const people::User& user) {
  return {
      {"id", ids.encode(IdKind::user, user.id.value)},
      {"username", user.name},
      {"email", user.email},
      {"display_name", user.display_name},
      {"role", user.is_admin ? "admin" : "user"},
      {"storage_quota_bytes", user.quota_bytes},
      {"storage_used_bytes", user.used_bytes},
      {"created_at", times::rfc3339(user.created_at)},
      {"updated_at", times::rfc3339(user.updated_at)},
      {"last_login_at", time_json(user.last_login_at)},
      {"active", !user.is_disabled},
      {"auth_provider", user.auth_provider},
  };
}

json signed_in_user_json(const PublicIds& ids, const people::User& user) {
  json flat = user_json(ids, user);
  json full{{"user", flat}};
  flat["full"] = std::move(full);
  return flat;
}

people::Origin origin_of(const http::Request& rq) {
  return {.address = rq.client_address(),
          .limit_key = rq.limit_key(),
          .user_agent = std::string(rq.header("User-Agent")),
          .request_id = rq.id()};
}

}  // namespace welkin::rest
