#pragma once
#include "welkin/http/session_cookies.hpp"
#include "welkin/people/people.hpp"

namespace welkin::rest {

using http::clear_session_cookies;
using http::require_csrf_proof;
using http::require_not_cross_site;
using http::session_cookies;

inline void set_session_cookies(const http::Request& rq, http::Reply& rp, const people::Tokens& tokens) {
  http::set_session_cookies(rq, rp,
                            {.access = tokens.access_token,
                             .refresh = tokens.refresh_token,
                             .access_seconds = tokens.access_seconds,
                             .refresh_seconds = tokens.refresh_seconds});
}

}  // namespace welkin::rest
