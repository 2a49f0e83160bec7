#pragma once
#include "welkin/dav/dav.hpp"

namespace welkin::dav::groupware {

/// RFC 4791 §5.3.1.
Task<> mkcalendar(const Services& services, http::Request& rq, http::Reply& rp);
/// RFC 5689, which has to say in its body what it makes.
Task<> mkcol(const Services& services, http::Request& rq, http::Reply& rp);
Task<> proppatch(const Services& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav::groupware
