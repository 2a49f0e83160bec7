#include <optional>

#include "rest/cookies.hpp"
#include "rest/routes.hpp"
#include "rest/user_json.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

// Who asks. The first credential that is present decides; a bad one never falls through to the next.
namespace welkin::rest {
namespace {

constexpr std::size_t kCredentialsBytesMax = 4096;

Error no_token() { return {Errc::unauthenticated, "no_token", "Token not provided"}; }
Error bad_token() { return {Errc::unauthenticated, "bad_token", "Invalid or expired token"}; }
Error bad_scheme() {
  return {Errc::unauthenticated, "bad_authorization", "The Authorization header is not usable"};
}

bool changes_state(http::Method method) {
  return method != http::Method::get && method != http::Method::head && method != http::Method::options;
}

Task<Caller> by_header(const Services& services, http::Request& rq, std::string_view header) {
  const auto blank = header.find(' ');
  const auto scheme = header.substr(0, blank);
  const auto value =
      blank == std::string_view::npos ? std::string_view{} : text::trim(header.substr(blank + 1));
  if (value.size() > kCredentialsBytesMax || rq.headers().joined("Authorization").size() != header.size())
    throw bad_scheme();  // two Authorization fields are never honest
  std::optional<Caller> caller;
  if (text::iequals(scheme, "Bearer")) {
    caller = co_await services.people.by_access_token(value, Credential::session_bearer);
  } else if (text::iequals(scheme, "Basic")) {
    const auto decoded = text::from_base64(value);
    if (!decoded) throw bad_scheme();
    const auto pair = as_text(*decoded);
    const auto colon = pair.find(':');
    if (colon == std::string_view::npos) throw bad_scheme();
    caller = co_await services.people.by_basic(pair.substr(0, colon), pair.substr(colon + 1),
                                               protocols::kRest, origin_of(rq));
    // A browser that knows a password for this address sends it along to whatever page asks.
    if (changes_state(rq.method())) require_not_cross_site(rq);
  } else {
    throw bad_scheme();
  }
  if (!caller) throw bad_token();
  co_return std::move(*caller);
}

Task<Caller> by_cookie(const Services& services, http::Request& rq) {
  const auto access = session_cookies(rq).access;
  if (access.empty()) throw no_token();
  auto caller = co_await services.people.by_access_token(access, Credential::session_cookie);
  if (!caller) throw bad_token();
  if (changes_state(rq.method())) require_csrf_proof(rq);
  co_return std::move(*caller);
}

/// Bodies may take hours to arrive, and what is done with them is brief.
bool may_take_long(const http::Request& rq) {
  return changes_state(rq.method()) && rq.method() != http::Method::put &&
         rq.method() != http::Method::patch &&
         !text::lower(rq.header("content-type")).starts_with("multipart/");
}

Task<> as_user(Services services, const http::Handler& next, http::Request& rq, http::Reply& rp) {
  co_await authenticate(services, rq);
  if (may_take_long(rq)) {
    const auto turn = co_await services.people.turn_to_change(rq.caller());
    co_await next(rq, rp);
  } else {
    co_await next(rq, rp);
  }
}

Task<> as_admin(Services services, const http::Handler& next, http::Request& rq, http::Reply& rp) {
  co_await authenticate(services, rq);
  const auto& caller = rq.caller();
  const bool has_session =
      caller.credential == Credential::session_bearer || caller.credential == Credential::session_cookie;
  if (!has_session)
    throw Error(Errc::unauthenticated, "session_required",
                "Administration needs a session, not an app password");
  if (!caller.is_admin) throw Error(Errc::forbidden, "admin_required", "Administrator rights are required");
  co_await next(rq, rp);
}

}  // namespace

Task<> authenticate(const Services& services, http::Request& rq) {
  if (rq.headers().has("Authorization")) {
    rq.set_caller(co_await by_header(services, rq, rq.header("Authorization")));
  } else {
    rq.set_caller(co_await by_cookie(services, rq));
  }
}

http::Middleware require_user(const Services& services) {
  return [services](const http::Handler& next, http::Request& rq, http::Reply& rp) {
    return as_user(services, next, rq, rp);
  };
}

http::Middleware require_admin(const Services& services) {
  return [services](const http::Handler& next, http::Request& rq, http::Reply& rp) {
    return as_admin(services, next, rq, rp);
  };
}

}  // namespace welkin::rest
