#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav::groupware {

/// GET and HEAD of /dav/public/{token}.ics: a published calendar as one file, for whoever knows its address.
Task<> serve_feed(const Services& services, http::Request& rq, http::Reply& rp);

/// The address, told once: when it is made.
std::string feed_url(const http::Request& rq, std::string_view token);

}  // namespace welkin::dav::groupware
