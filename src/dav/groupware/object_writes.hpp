#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav::groupware {

Task<> put(const Services& services, http::Request& rq, http::Reply& rp);
Task<> remove(const Services& services, http::Request& rq, http::Reply& rp);
Task<> copy(const Services& services, http::Request& rq, http::Reply& rp);
Task<> move(const Services& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav::groupware
