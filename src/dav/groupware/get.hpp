#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav::groupware {

/// Members as they were sent; collections as one file; a few words for browsers elsewhere.
Task<> get(const Services& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav::groupware
