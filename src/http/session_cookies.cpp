#include "welkin/http/session_cookies.hpp"

#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::http {
namespace {

constexpr std::string_view kAccess = "welkin_access";
constexpr std::string_view kRefresh = "welkin_refresh";
constexpr std::string_view kCsrf = "welkin_csrf";
constexpr std::string_view kSecurePrefix = "__Secure-";
constexpr std::string_view kRefreshPath = "/api/auth";

bool is_https(const Request& rq) { return rq.is_secure() || rq.base_url().starts_with("https://"); }

std::string cookie_name(std::string_view name, bool https) {
  return (https ? std::string(kSecurePrefix) : std::string()).append(name);
}

struct Cookie {
  std::string_view name, value, path;
  bool script = false;  // may be read by scripts
  const char* same_site = "Lax";
  std::uint32_t seconds = 0;  // 0 removes it
};

void add_cookie(const Request& rq, Reply& rp, const Cookie& cookie) {
  const bool https = is_https(rq);
  std::string line = cookie_name(cookie.name, https);
  line.append("=").append(cookie.value).append("; Path=").append(rq.base_path()).append(cookie.path);
  line.append("; Max-Age=")
      .append(std::to_string(cookie.seconds))
      .append("; SameSite=")
      .append(cookie.same_site);
  if (!cookie.script) line.append("; HttpOnly");
  if (https) line.append("; Secure");
  rp.add("Set-Cookie", line);
}

/// "https://cloud.example:8443" of "https://cloud.example:8443/base".
std::string_view origin_of(std::string_view url) {
  const auto scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return {};
  return url.substr(0, url.find('/', scheme_end + 3));
}

/// Our own address as the browser sees it: the configured one, or the one this request came to.
bool is_own_origin(const Request& rq, std::string_view origin) {
  if (text::iequals(origin, origin_of(rq.base_url()))) return true;
  const auto host = rq.header("Host");
  const auto scheme_end = origin.find("://");
  return !host.empty() && scheme_end != std::string_view::npos &&
         text::iequals(origin.substr(scheme_end + 3), host) &&
         (origin.substr(0, scheme_end) == "https" ||
          !rq.is_secure());  // a proxy we are not told of may add TLS
}

bool is_from_elsewhere(const Request& rq) {
  const auto site = rq.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  return rq.headers().has("Origin") && !is_own_origin(rq, rq.header("Origin"));
}

}  // namespace

SessionCookies session_cookies(const Request& rq) {
  const bool https = is_https(rq);
  return {rq.cookie(cookie_name(kAccess, https)), rq.cookie(cookie_name(kRefresh, https)),
          rq.cookie(cookie_name(kCsrf, https))};
}

void set_session_cookies(const Request& rq, Reply& rp, const SessionCookieValues& values) {
  add_cookie(rq, rp,
             {.name = kAccess, .value = values.access, .path = "/", .seconds = values.access_seconds});
  add_cookie(rq, rp,
             {.name = kRefresh,
              .value = values.refresh,
              .path = kRefreshPath,
              .same_site = "Strict",
              .seconds = values.refresh_seconds});
  const std::string csrf = csrf_token(values.access);
  add_cookie(rq, rp,
             {.name = kCsrf, .value = csrf, .path = "/", .script = true, .seconds = values.access_seconds});
}

void clear_session_cookies(const Request& rq, Reply& rp) {
  add_cookie(rq, rp, {.name = kAccess, .value = "", .path = "/"});
  add_cookie(rq, rp, {.name = kRefresh, .value = "", .path = kRefreshPath, .same_site = "Strict"});
  add_cookie(rq, rp, {.name = kCsrf, .value = "", .path = "/", .script = true});
}

std::string csrf_token(std::string_view access_token) {
  const Sha256 digest = crypto::sha256("welkin csrf 1 " + std::string(access_token));
  return text::base64url(std::as_bytes(std::span(digest)));
}

void require_csrf_proof(const Request& rq) {
  const auto cookies = session_cookies(rq);
  const auto header = rq.header("X-CSRF-Token");
  const bool proven = !header.empty() && text::equal_secret(header, cookies.csrf) &&
                      text::equal_secret(header, csrf_token(cookies.access));
  if (!proven) throw Error(Errc::forbidden, "csrf", "CSRF token missing or invalid");
  if (is_from_elsewhere(rq))
    throw Error(
        Errc::forbidden, "csrf",
        "The request comes from another site. If this is your own address, set WELKIN_BASE_URL to it");
}

void require_csrf_field(const Request& rq, std::string_view field) {
  const auto access = session_cookies(rq).access;
  if (access.empty() || !text::equal_secret(field, csrf_token(access)))
    throw Error(Errc::forbidden, "csrf", "CSRF token missing or invalid");
  require_not_cross_site(rq);
}

void require_not_cross_site(const Request& rq) {
  // Behind a proxy that rewrites Host, Origin differs from everything we know; what the browser itself says
  // is enough.
  const auto site = rq.header("Sec-Fetch-Site");
  const bool elsewhere = site.empty() ? is_from_elsewhere(rq) : site != "same-origin" && site != "none";
  if (elsewhere)
    throw Error(
        Errc::forbidden, "cross_site",
        "The request comes from another site. If this is your own address, set WELKIN_BASE_URL to it");
}

}  // namespace welkin::http
