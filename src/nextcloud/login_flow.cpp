#include <nlohmann/json.hpp>

#include "nextcloud/pages.hpp"
#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/session_cookies.hpp"
#include "welkin/people/devices.hpp"

// How a device gets an app password of its own: its owner agrees in a browser. In the newer way the device
// asks until he has; in the older one the browser is the app's own, and is sent on to an address that only
// the app understands.
//
// A browser that is signed in already is asked to agree only. Any other signs in for this one thing: no
// cookie is set, and the session ends with the answer.
namespace welkin::nextcloud {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr std::size_t kFormBytesMax = 16 << 10;
// Per address and minute, as multiples of the tries to sign in: several devices share an address, and each
// asks once a second.
constexpr unsigned kBeginsFactor = 6, kPollsFactor = 100;
constexpr const char* kDeviceForm = "'self'";
constexpr const char* kAppForm = "'self' nc:";

/// The user of the browser's own session, if there is one.
Task<std::optional<Caller>> signed_in(const Services& services, const Request& rq) {
  const std::string access(http::session_cookies(rq).access);
  if (access.empty()) co_return std::nullopt;
  co_return co_await services.people.by_access_token(access, Credential::session_cookie);
}

std::string field(const char* label, const char* name, const char* type, const char* autocomplete,
                  std::string_view value) {
  return std::string("<label for=\"") + name + "\">" + label + "</label><input id=\"" + name + "\" name=\"" +
         name + "\" type=\"" + type + "\" autocomplete=\"" + autocomplete +
         "\" autocapitalize=\"none\" spellcheck=\"false\" required value=\"" + escaped(value) + "\">";
}

/// What is asked of the owner, and what he has done so far.
struct Question {
  std::string device, address;  // address "": the browser's own
  std::string wrong;            // what was wrong with his last try
  std::string typed;            // as his name
  std::optional<Caller> caller;
  const char* form_action = kDeviceForm;
};

Page question_page(const Request& rq, const Question& question) {
  const bool again = rq.query("other").has_value();
  std::string body = heading("Let this device in?", "It asks to use your account at " + rq.base_url() + ".");
  body += "<dl><dt>Device</dt><dd id=\"device\">" + escaped(question.device) + "</dd>";
  if (!question.address.empty())
    body += "<dt>It asks from</dt><dd id=\"address\">" + escaped(question.address) + "</dd>";
  body +=
      "</dl><p>It will read and change your files, calendars and contacts until you take that back. Go on "
      "only if "
      "you began this yourself, just now.</p>";
  body += complaint(question.wrong) + "<form method=\"post\">";
  if (question.caller && !again) {
    body +=
        "<p>You are signed in as <strong>" + escaped(question.caller->name) +
        "</strong>.</p><input type=\"hidden\" name=\"csrf\" value=\"" +
        escaped(http::csrf_token(http::session_cookies(rq).access)) +
        "\"><button id=\"allow\" type=\"submit\">Let it in</button></form><p><a href=\"?other\">Use another "
        "account</a></p>";
  } else {
    body += field("Name or e-mail", "username", "text", "username", question.typed);
    body += field("Password", "password", "password", "current-password", "");
    body += "<button id=\"allow\" type=\"submit\">Sign in and let it in</button></form>";
  }
  return {"Let a device in · Welkin", std::move(body), "", question.form_action};
}

Task<> send_end(Reply& rp, Status status, const char* title, const char* text) {
  return send_page(rp, status, {std::string(title) + " · Welkin", heading(title, text)});
}

Task<> send_expired(Reply& rp) {
  return send_end(rp, Status::not_found, "This link has expired", "Begin again on the device.");
}

/// What the owner has sent: he agrees, or signs in and agrees.
struct Consent {
  std::string csrf, user, password;
};

Task<Consent> read_consent(Request& rq) {
  http::require_not_cross_site(rq);
  Params params;
  if (!add_form(params, co_await rq.text(kFormBytesMax)))
    throw Error(Errc::invalid, "bad_parameter", "The form cannot be read");
  co_return Consent{params.get("csrf"), params.get("username"), params.get("password")};
}

/// Proves who agrees, lets `let_in` do what he agreed to, and ends the session if it was made for that.
/// @throws Error forbidden `bad_credentials`, `csrf`; too_many_requests; what `let_in` throws
template <class LetIn>
Task<> with_consent(const Services& services, Request& rq, const Consent& consent, LetIn let_in) {
  if (!consent.csrf.empty()) {
    http::require_csrf_field(rq, consent.csrf);
    const auto caller = co_await signed_in(services, rq);
    if (!caller) throw Error(Errc::forbidden, "session_required", "Your session has ended; sign in again");
    co_await let_in(*caller, caller->name);
    co_return;
  }
  const auto tokens = co_await services.people.login(consent.user, consent.password, origin_of(rq));
  const auto caller =
      co_await services.people.by_access_token(tokens.access_token, Credential::session_bearer);
  if (!caller) throw Error(Errc::forbidden, "bad_credentials", "Invalid user name or password");
  std::exception_ptr failed;
  try {
    co_await let_in(*caller, consent.user);
  } catch (...) {
    failed = std::current_exception();
  }
  co_await services.people.logout(*caller, origin_of(rq));
  if (failed) std::rethrow_exception(failed);
}

/// POST /login/v2 -> 200 {poll: {token, endpoint}, login}
Task<> begin(const Services& services, Request& rq, Reply& rp) {
  services.people.count_attempt("device_login", rq.limit_key(),
                                services.config.login_attempts_per_minute * kBeginsFactor, 60);
  const auto begun = co_await services.people.devices().begin(origin_of(rq));
  const auto base = rq.base_url();
  const Json body{{"poll", {{"token", begun.poll_token}, {"endpoint", base + "/login/v2/poll"}}},
                  {"login", base + "/login/v2/flow/" + begun.page_token}};
  co_await rp.send(Status::ok, kJsonType, body.dump());
}

/// POST /login/v2/poll token=... -> 404 [] until somebody has agreed, then once 200 {server, loginName,
/// appPassword}
Task<> poll(const Services& services, Request& rq, Reply& rp) {
  services.people.count_attempt("device_poll", rq.limit_key(),
                                services.config.login_attempts_per_minute * kPollsFactor, 60);
  rq.limit_body(kFormBytesMax);
  const auto params = co_await params_of(rq);
  const auto admitted = co_await services.people.devices().poll(params.get("token"), origin_of(rq));
  if (!admitted) {
    co_await rp.send(Status::not_found, kJsonType, "[]");
    co_return;
  }
  const Json body{
      {"server", rq.base_url()}, {"loginName", admitted->login}, {"appPassword", admitted->app_password}};
  co_await rp.send(Status::ok, kJsonType, body.dump());
}

/// GET /login/v2/flow/{token}: the page that asks.
Task<> show_question(const Services& services, Request& rq, Reply& rp) {
  const auto waiting = co_await services.people.devices().waiting(rq.param("token"));
  if (!waiting || waiting->is_granted) co_return co_await send_expired(rp);
  const Question question{waiting->device, waiting->address, "", rq.query("user").value_or(""),
                          co_await signed_in(services, rq)};
  co_await send_page(rp, Status::ok, question_page(rq, question));
}

/// POST /login/v2/flow/{token}
Task<> take_answer(const Services& services, Request& rq, Reply& rp) {
  const std::string token = rq.param("token");
  auto devices = services.people.devices();
  const auto waiting = co_await devices.waiting(token);
  if (!waiting || waiting->is_granted) co_return co_await send_expired(rp);
  std::optional<Error> refused;
  Consent consent;
  try {
    consent = co_await read_consent(rq);
    co_await with_consent(services, rq, consent, [&](const Caller& caller, const std::string& login) {
      return devices.grant(caller, token, login, origin_of(rq));
    });
  } catch (const Error& e) {
    if (e.code() == Errc::internal) throw;
    refused = e;
  }
  if (!refused) {
    co_await send_end(rp, Status::ok, "It is in", "The device goes on by itself. You can close this window.");
    co_return;
  }
  if (refused->code() == Errc::not_found || refused->code() == Errc::conflict)
    co_return co_await send_expired(rp);
  if (refused->retry_after_seconds() > 0)
    rp.set("Retry-After", std::to_string(refused->retry_after_seconds()));
  const Question question{waiting->device, waiting->address, refused->what(), consent.user,
                          co_await signed_in(services, rq)};
  co_await send_page(rp, http::status_of(refused->code()), question_page(rq, question));
}

/// GET /login/flow: the older way.
Task<> show_app_question(const Services& services, Request& rq, Reply& rp) {
  const Question question{std::string(rq.header("user-agent")), "",      "", rq.query("user").value_or(""),
                          co_await signed_in(services, rq),     kAppForm};
  co_await send_page(rp, Status::ok, question_page(rq, question));
}

/// POST /login/flow -> 303 nc://login/server:<url>&user:<login>&password:<app password>
Task<> send_to_app(const Services& services, Request& rq, Reply& rp) {
  std::optional<Error> refused;
  Consent consent;
  std::string target;
  try {
    consent = co_await read_consent(rq);
    co_await with_consent(services, rq, consent,
                          [&](const Caller& caller, const std::string& login) -> Task<> {
                            const auto secret = co_await services.people.devices().app_password(
                                caller, std::string(rq.header("user-agent")), origin_of(rq));
                            target = "nc://login/server:" + text::percent_encode(rq.base_url(), ":/[]") +
                                     "&user:" + text::percent_encode(text::trim(login)) +
                                     "&password:" + text::percent_encode(secret);
                          });
  } catch (const Error& e) {
    if (e.code() == Errc::internal) throw;
    refused = e;
  }
  if (!refused) {
    rp.set("Location", target);
    co_await rp.send(Status::see_other);
    co_return;
  }
  if (refused->retry_after_seconds() > 0)
    rp.set("Retry-After", std::to_string(refused->retry_after_seconds()));
  const Question question{std::string(rq.header("user-agent")), "",      refused->what(), consent.user,
                          co_await signed_in(services, rq),     kAppForm};
  co_await send_page(rp, http::status_of(refused->code()), question_page(rq, question));
}

}  // namespace

void mount_login_flow(http::Router& router, const Kept& services) {
  auto open = router.scope({answer_plain_errors()});
  using Action = Task<> (*)(const Services&, Request&, Reply&);
  const auto add = [&](Method method, const char* path, const char* name, Action action) {
    at_both(path, [&](const std::string& at, const std::string& suffix) {
      open.on({method, at, std::string("nextcloud.") + name + suffix, Access::open, "-", "-"},
              [services, action](Request& rq, Reply& rp) { return action(*services, rq, rp); });
    });
  };
  add(Method::post, "/login/v2", "login_begin", begin);
  add(Method::post, "/login/v2/poll", "login_poll", poll);
  add(Method::get, "/login/v2/flow/{token}", "login_question", show_question);
  add(Method::post, "/login/v2/flow/{token}", "login_answer", take_answer);
  add(Method::get, "/login/flow", "login_app_question", show_app_question);
  add(Method::post, "/login/flow", "login_app_answer", send_to_app);
}

}  // namespace welkin::nextcloud
