#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav {

/// Finds out who asks, before any handler: Basic (an app password with one of `protocols`, or the account's
/// own where that is allowed) or a Bearer access token. Cookies never count: a browser sends them without
/// being asked to, and DAV has no CSRF proof. An empty Bearer token is no credentials. Throws Error
/// unauthenticated `no_credentials` or `bad_credentials`, too_many_requests.
http::Middleware authenticate_dav(const Services& services, std::int32_t protocols = protocols::kWebdav);

/// The same, but nobody needs to be known who does not claim to be somebody (OPTIONS).
http::Middleware authenticate_claims(const Services& services, std::int32_t protocols = protocols::kWebdav);

}  // namespace welkin::dav
