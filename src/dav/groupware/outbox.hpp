#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav::groupware {

/// POST to the outbox: when others are busy (RFC 6638 §5). Invitations need none, they go out with the PUT.
Task<> post(const Services& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav::groupware
