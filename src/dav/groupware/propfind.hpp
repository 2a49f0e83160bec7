#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav::groupware {

Task<> propfind(const Services& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav::groupware
