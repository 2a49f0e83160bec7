#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav::groupware {

/// POST says in its body what it wants; which bodies there are is the address's business.
Task<> post(const Services& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav::groupware
