#include "rest/user_json.hpp"

#include <nlohmann/json.hpp>

#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {

using nlohmann::json;

json time_json(const std::optional<Micros>& at) { return at ? json(times::rfc3339(*at)) : json(nullptr); }

// Written without a tree: the web app asks for it with every page, and members stand in the order of a
// tree's.
std::string user_text(const PublicIds& ids, const people::User& user) {
  std::string out;
  out.reserve(400);
  wire::JsonWriter w(out);
  w.begin_object();
  w.field("active", !user.is_disabled);
  w.field("auth_provider", user.auth_provider);
  w.field("created_at", times::rfc3339(user.created_at));
  w.field("display_name", user.display_name);
  w.field("email", user.email);
  w.field("id", ids.encode(IdKind::user, user.id.value));
  if (user.last_login_at)
    w.field("last_login_at", times::rfc3339(*user.last_login_at));
  else
    w.null_field("last_login_at");
  w.field("role", user.is_admin ? "admin" : "user");
  w.field("storage_quota_bytes", user.quota_bytes);
  w.field("storage_used_bytes", user.used_bytes);
  w.field("updated_at", times::rfc3339(user.updated_at));
  w.field("username", user.name);
  w.end_object();
  return out;
}

json user_json(const PublicIds& ids, const people::User& user) { return json::parse(user_text(ids, user)); }

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
