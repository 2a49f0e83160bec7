#pragma once
#include "dav/live_properties.hpp"
#include "welkin/dav/dav.hpp"

namespace welkin::dav {

/// Refers to the request's caller.
inline Viewer viewer_of(const Services& services, const http::Request& rq) {
  return {rq.caller(), std::string(rq.base_path()) + "/dav/principals/", services.clock.now()};
}

}  // namespace welkin::dav
