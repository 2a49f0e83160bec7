#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

/// The three cookies of whoever has signed in with a browser: the access token (every path below the base
/// path), the refresh token (only the routes of sessions), and the proof against cross-site requests, which
/// scripts of our own origin copy into a header. On https all names begin with `__Secure-` and only those are
/// read, so that a plain-text neighbour cannot plant one.
namespace welkin::http {

struct SessionCookies {
  std::string_view access, refresh, csrf;  // "" when absent
};
SessionCookies session_cookies(const Request& rq);

/// Seconds of life; 0 removes the cookie.
struct SessionCookieValues {
  std::string_view access, refresh;
  std::uint32_t access_seconds = 0, refresh_seconds = 0;
};
void set_session_cookies(const Request& rq, Reply& rp, const SessionCookieValues& values);
void clear_session_cookies(const Request& rq, Reply& rp);

/// What the csrf cookie holds for an access token. Derived, so that it needs no memory and a planted cookie
/// is noticed; the token cannot be found from it.
std::string csrf_token(std::string_view access_token);

/// A state-changing request that a cookie has signed in: the header must repeat the cookie, and the browser
/// must not say that another site sent it. @throws Error forbidden `csrf`
void require_csrf_proof(const Request& rq);
/// The same for a form of a page of ours, which holds the token in a field. @throws Error forbidden `csrf`
void require_csrf_field(const Request& rq, std::string_view field);
/// For routes that set or use cookies without being signed in (login, refresh, set-up): refuses what a
/// browser says comes from another site. Clients that are no browsers send neither header. @throws Error
/// forbidden `cross_site`
void require_not_cross_site(const Request& rq);

}  // namespace welkin::http
