#pragma once
#include "dav/groupware/target.hpp"

namespace welkin::dav::groupware {

/// POST to the outbox: when others are busy (RFC 6638 §5). Invitations need none, they go out with the PUT.
Task<> post_to_outbox(const Services& services, http::Request& rq, http::Reply& rp, const Target& target);

}  // namespace welkin::dav::groupware
