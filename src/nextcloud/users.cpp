#include <cmath>
#include <nlohmann/json.hpp>

#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"
#include "welkin/people/devices.hpp"
#include "welkin/people/directory.hpp"

// Who the caller is, others as far as he may see them, and the app password he came with.
namespace welkin::nextcloud {
namespace {

constexpr int kUnlimited = -3;  // the clients' own number for it

/// What every profile has; all of it is ours to leave empty.
Json profile(const std::string& id, const std::string& display_name, const std::string& email) {
  return {{"id", id},
          {"enabled", true},
          {"display-name", display_name},
          {"displayname", display_name},
          {"email", email},
          {"phone", ""},
          {"address", ""},
          {"website", ""},
          {"twitter", ""},
          {"fediverse", ""},
          {"organisation", ""},
          {"role", ""},
          {"headline", ""},
          {"biography", ""}};
}

/// Of the drive the caller's files are in. A drive without a limit has what the disk has.
Task<Json> quota_of(const Services& services, const Caller& caller, const people::User& user) {
  const auto home = co_await services.files.by_path(caller, {});
  const auto use = co_await services.files.drive_use(home.drive);
  const auto total = use.used_bytes + use.free_bytes;
  const double relative =
      total == 0 ? 0.0 : static_cast<double>(use.used_bytes) * 100.0 / static_cast<double>(total);
  co_return Json{{"free", use.free_bytes},
                 {"used", use.used_bytes},
                 {"total", total},
                 {"relative", std::round(relative * 100.0) / 100.0},
                 {"quota", user.quota_bytes > 0 ? user.quota_bytes : kUnlimited}};
}

Task<Json> own_profile(const Services& services, const Caller& caller) {
  const auto user = co_await services.people.me(caller);
  auto out = profile(user.name, user.display_name.empty() ? user.name : user.display_name, user.email);
  Json groups = Json::array();
  for (const auto& group : co_await services.people.directory().groups_of(caller))
    groups.push_back(group.name);
  out["groups"] = std::move(groups);
  out["subadmin"] = Json::array();
  out["language"] = "en";
  out["locale"] = "en";
  out["timezone"] = "UTC";
  out["backend"] = "Database";
  out["lastLogin"] = user.last_login_at.value_or(0) / 1000;
  out["storageLocation"] = "";
  out["notify_email"] = nullptr;
  out["manager"] = "";
  out["additional_mail"] = Json::array();
  out["quota"] = co_await quota_of(services, caller, user);
  co_return out;
}

/// GET /cloud/user
Task<> me(Call& call) { co_await answer(call, co_await own_profile(call.services, call.rq.caller())); }

/// Whom the caller may look up. @throws Error not_found
Task<people::Person> visible_person(Call& call, const std::string& name) {
  auto directory = call.services.people.directory();
  const auto person = co_await directory.named(name);
  if (!person || !co_await directory.may_see(call.rq.caller(), person->id))
    throw Error(Errc::not_found, "no_such_user", "User not found");
  co_return *person;
}

/// GET /cloud/users/{id}: oneself, or what others may know.
Task<> somebody(Call& call) {
  const auto& name = call.rq.param("id");
  if (name == call.rq.caller().name) co_return co_await me(call);
  const auto person = co_await visible_person(call, name);
  auto out = profile(person.name, person.display_name, "");
  out["groups"] = Json::array();
  co_await answer(call, out);
}

/// GET /hovercard/v1/{id}: what stands beside a name. Nothing can be done there.
Task<> hovercard(Call& call) {
  const auto person = co_await visible_person(call, call.rq.param("id"));
  const Json data{{"userId", person.name}, {"displayName", person.display_name}, {"actions", Json::array()}};
  co_await answer(call, data);
}

/// GET /core/getapppassword: 403 for one who came with an app password already, which clients rely on.
Task<> get_app_password(Call& call) {
  const auto secret = co_await call.services.people.devices().app_password(
      call.rq.caller(), std::string(call.rq.header("user-agent")), origin_of(call.rq));
  co_await answer(call, Json{{"apppassword", secret}});
}

/// DELETE /core/apppassword: the account is taken off a device.
Task<> delete_app_password(Call& call) {
  co_await call.services.people.devices().revoke_own(call.rq.caller(), origin_of(call.rq));
  co_await answer(call, Json::array());
}

/// POST /index.php/core/wipe/check and /success: asked after every 401. No device of ours is ever to be
/// wiped.
Task<> nothing_to_wipe(http::Request& /*rq*/, http::Reply& rp) {
  co_await rp.send(http::Status::not_found, kJsonType, "[]");
}

}  // namespace

void mount_users(OcsRoutes& ocs) {
  using http::Method;
  ocs.user(Method::get, "/cloud/user", "user", "account", "read", me);
  ocs.user(Method::get, "/cloud/users/{id}", "users", "account", "read", somebody);
  ocs.user(Method::get, "/hovercard/v1/{id}", "hovercard", "account", "read", hovercard);
  ocs.user(Method::get, "/core/getapppassword", "get_app_password", "app_password", "create",
           get_app_password);
  ocs.user(Method::del, "/core/apppassword", "delete_app_password", "app_password", "delete",
           delete_app_password);
}

void mount_remote_wipe(WebScopes& s) {
  for (const char* what : {"check", "success"})
    at_both(std::string("/core/wipe/") + what, [&](const std::string& path, const std::string& suffix) {
      s.open.on({http::Method::post, path, std::string("nextcloud.wipe_") + what + suffix, http::Access::open,
                 "-", "-"},
                nothing_to_wipe);
    });
}

}  // namespace welkin::nextcloud
