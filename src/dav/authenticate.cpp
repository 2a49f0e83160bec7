#include "welkin/dav/authenticate.hpp"

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav {
namespace {

people::Origin origin_of(const http::Request& rq) {
  return {rq.client_address(), rq.limit_key(), std::string(rq.header("user-agent")), rq.id()};
}

struct Credentials {
  std::string user, password, token;
};

[[noreturn]] void refuse() {
  throw Error(Errc::unauthenticated, "bad_credentials", "The credentials are not valid");
}

/// nullopt: none were given. @throws Error unauthenticated `bad_credentials` when they cannot be read
std::optional<Credentials> read_credentials(std::string_view authorization) {
  const auto blank = authorization.find(' ');
  const auto scheme = authorization.substr(0, blank);
  const auto value =
      blank == std::string_view::npos ? std::string_view() : text::trim(authorization.substr(blank));
  if (scheme.empty() || value.empty()) return std::nullopt;
  if (text::iequals(scheme, "bearer")) return Credentials{{}, {}, std::string(value)};
  if (!text::iequals(scheme, "basic")) refuse();
  const auto decoded = text::from_base64(value);
  const auto pair = decoded ? as_text(*decoded) : std::string_view();
  const auto colon = pair.find(':');
  if (colon == std::string_view::npos || !text::is_utf8(pair) || pair.find('\0') != std::string_view::npos) {
    refuse();
  }
  return Credentials{std::string(pair.substr(0, colon)), std::string(pair.substr(colon + 1)), {}};
}

/// Changes without a body that could take hours to arrive.
bool may_take_long(http::Method method) {
  using http::Method;
  switch (method) {
    case Method::get:
    case Method::head:
    case Method::options:
    case Method::propfind:
    case Method::report:
    case Method::search:
    case Method::put:
    case Method::patch:
      return false;
    default:
      return true;
  }
}

Task<> authenticated(const Services& services, std::int32_t protocols, bool required,
                     const http::Handler& next, http::Request& rq, http::Reply& rp) {
  const auto given = read_credentials(rq.header("authorization"));
  // Two Authorization fields are never honest.
  if (rq.headers().joined("authorization").size() != rq.header("authorization").size()) refuse();
  if (given) {
    std::optional<Caller> caller;
    if (!given->token.empty()) {
      caller = co_await services.people.by_access_token(given->token, Credential::session_bearer);
    } else {
      caller = co_await services.people.by_basic(given->user, given->password, protocols, origin_of(rq));
    }
    if (!caller) refuse();
    rq.set_caller(std::move(*caller));
  } else if (required) {
    throw Error(Errc::unauthenticated, "no_credentials", "Sign in with a user name and an app password");
  }
  if (given && may_take_long(rq.method())) {
    const auto turn = co_await services.people.turn_to_change(rq.caller());
    co_await next(rq, rp);
  } else {
    co_await next(rq, rp);
  }
}

}  // namespace

http::Middleware authenticate_dav(const Services& services, std::int32_t protocols) {
  return [services, protocols](const http::Handler& next, http::Request& rq, http::Reply& rp) {
    return authenticated(services, protocols, true, next, rq, rp);
  };
}

http::Middleware authenticate_claims(const Services& services, std::int32_t protocols) {
  return [services, protocols](const http::Handler& next, http::Request& rq, http::Reply& rp) {
    return authenticated(services, protocols, false, next, rq, rp);
  };
}

}  // namespace welkin::dav
