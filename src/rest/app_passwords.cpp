#include <array>
#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/routes.hpp"
#include "rest/user_json.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::rest {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using nlohmann::json;

constexpr Micros kDay = Micros{86'400} * 1'000'000;
constexpr std::int64_t kDaysMax = 36'500;
constexpr std::int32_t kDefaultProtocols = protocols::kWebdav | protocols::kCaldav | protocols::kCarddav;

struct Scope {
  std::string_view name;
  std::int32_t bit;
};
constexpr std::array kScopes = {
    Scope{"webdav", protocols::kWebdav},   Scope{"caldav", protocols::kCaldav},
    Scope{"carddav", protocols::kCarddav}, Scope{"nextcloud", protocols::kNextcloud},
    Scope{"rest", protocols::kRest},
};

std::int32_t scope_bit(std::string_view name) {
  for (const auto& scope : kScopes)
    if (text::iequals(scope.name, name)) return scope.bit;
  throw Error(
      Errc::invalid, "bad_scopes",
      "Unknown scope '" + std::string(name) + "'; known are webdav, caldav, carddav, nextcloud and rest");
}

std::vector<std::string> scope_names(std::int32_t mask) {
  std::vector<std::string> names;
  for (const auto& scope : kScopes)
    if (mask & scope.bit) names.emplace_back(scope.name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

/// `scopes` is the text of older clients, "webdav,caldav"; `protocols` the same as an array. Together they
/// must agree.
std::int32_t protocol_mask(wire::JsonObject& in) {
  const auto scopes = in.opt_string("scopes");
  const bool listed = in.has("protocols") && !in.raw("protocols")->is_null();
  std::int32_t by_text = 0, by_list = 0;
  if (scopes)
    for (const auto name : text::split(*scopes, ','))
      if (const auto trimmed = text::trim(name); !trimmed.empty()) by_text |= scope_bit(trimmed);
  if (listed)
    for (const auto& name : in.strings("protocols")) by_list |= scope_bit(name);
  if (scopes && listed && by_text != by_list)
    throw Error(Errc::invalid, "bad_scopes", "'scopes' and 'protocols' name different protocols");
  if (listed) return by_list;
  return scopes ? by_text : kDefaultProtocols;
}

std::optional<Micros> expiry(wire::JsonObject& in, Micros now) {
  const auto days = in.opt_integer("expires_in_days");
  const auto at = in.opt_string("expires_at");
  if (days && at) throw Error(Errc::invalid, "bad_expiry", "Give either 'expires_in_days' or 'expires_at'");
  if (days) {
    if (*days < 1 || *days > kDaysMax)
      throw Error(Errc::invalid, "bad_expiry", "'expires_in_days' must be between 1 and 36500");
    return now + *days * kDay;
  }
  if (!at) return std::nullopt;
  const auto parsed = times::from_rfc3339(*at);
  if (!parsed)
    throw Error(Errc::invalid, "bad_expiry", "'expires_at' is not a time like 2030-01-31T12:00:00Z");
  return parsed;
}

/// The folder the password is to be limited to: one the caller can see. 0: none.
Task<NodeId> wanted_folder(const Services& services, const Caller& caller, std::optional<std::string> text) {
  if (!text) co_return NodeId{};
  const auto key = services.ids.decode(IdKind::folder, *text);
  if (!key) throw Error(Errc::not_found, "no_such_folder", "Folder not found: " + *text);
  const auto node = co_await services.files.node(caller, NodeId{*key});
  if (!node.is_folder()) throw Error(Errc::not_found, "no_such_folder", "Folder not found: " + *text);
  co_return node.id;
}

json instructions(const Request& rq, const std::string& user) {
  const std::string dav = rq.base_url();
  return {
      {"davx5", "Add an account with base URL " + dav + "/ , user name " + user + " and this password"},
      {"thunderbird", "Calendars and address books: location " + dav + "/ , user name " + user},
      {"rclone", "rclone config create welkin webdav url=" + dav + "/webdav/ vendor=owncloud user=" + user + " pass=THIS_PASSWORD"},
      {"curl_example", "curl -u " + user + " " + dav + "/webdav/"},
  };
}

/// What both the list and the answer to a creation show.
json shown(const PublicIds& ids, const people::AppPassword& p, Micros now) {
  const auto names = scope_names(p.protocol_mask);
  return {
      {"id", ids.encode(IdKind::app_password, p.id.value)},
      {"label", p.label},
      {"prefix", p.prefix + "..."},
      {"scopes", joined(names)},
      {"protocols", names},
      {"read_only", p.read_only},
      {"folder_id", p.folder ? json(ids.encode(IdKind::folder, p.folder.value)) : json(nullptr)},
      {"created_at", times::rfc3339(p.created_at)},
      {"last_used_at", time_json(p.last_used_at)},
      {"expires_at", time_json(p.expires_at)},
      {"active", !p.revoked_at && (!p.expires_at || *p.expires_at > now)},
  };
}

/// POST /api/auth/app-passwords {label, scopes?, protocols?, folder_id?, read_only?, expires_at? |
/// expires_in_days?}
/// -> 200 with the secret, which is never shown again | 400 | 403 | 404 | 409 | 422
Task<> create(Services services, Request& rq, Reply& rp) {
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  people::NewAppPassword wanted;
  wanted.label = in.string("label");
  wanted.protocol_mask = protocol_mask(in);
  wanted.read_only = in.opt_boolean("read_only").value_or(false);
  wanted.expires_at = expiry(in, services.clock.now());
  auto folder = in.opt_string("folder_id");
  in.done();
  const Caller caller = rq.caller();
  wanted.folder = co_await wanted_folder(services, caller, std::move(folder));
  const auto made = co_await services.people.create_app_password(caller, std::move(wanted), origin_of(rq));
  json answer = shown(services.ids, made.first, services.clock.now());
  answer["password"] = made.second;
  answer["username"] = caller.name;
  answer["instructions"] = instructions(rq, caller.name);
  co_await send_json(rp, Status::ok, answer);
}

/// GET /api/auth/app-passwords -> 200 {app_passwords: [...], total}, newest first
Task<> list(Services services, Request& rq, Reply& rp) {
  const auto all = co_await services.people.app_passwords(rq.caller());
  json items = json::array();
  for (const auto& password : all) items.push_back(shown(services.ids, password, services.clock.now()));
  co_await send_json(rp, Status::ok, json{{"app_passwords", std::move(items)}, {"total", all.size()}});
}

/// DELETE /api/auth/app-passwords/{id} -> 200 {status, id} | 400 | 404
Task<> revoke(Services services, Request& rq, Reply& rp) {
  const auto& id = rq.param("id");
  const auto key = services.ids.decode(IdKind::app_password, id);
  if (!key) throw Error(Errc::not_found, "no_such_app_password", "App password not found");
  co_await services.people.revoke_app_password(rq.caller(), AppPasswordId{*key}, origin_of(rq));
  co_await send_json(rp, Status::ok, json{{"status", "revoked"}, {"id", id}});
}

}  // namespace

void mount_app_passwords(Scopes& s, const Services& services) {
  using Action = Task<> (*)(Services, Request&, Reply&);
  const auto run = [&services](Action action) {
    return [services, action](Request& rq, Reply& rp) { return action(services, rq, rp); };
  };
  s.user.on({Method::post, "/api/auth/app-passwords", "app_passwords.create", Access::user, "app_password",
             "create"},
            run(create));
  s.user.on(
      {Method::get, "/api/auth/app-passwords", "app_passwords.list", Access::user, "app_password", "read"},
      run(list));
  s.user.on({Method::del, "/api/auth/app-passwords/{id}", "app_passwords.revoke", Access::user,
             "app_password", "delete"},
            run(revoke));
}

}  // namespace welkin::rest
