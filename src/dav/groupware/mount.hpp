#pragma once
#include <string>
#include <vector>

#include "dav/groupware/spot.hpp"
#include "welkin/dav/dav.hpp"

namespace welkin::dav::groupware {

/// The routes below /dav, /caldav and /carddav, which are one tree, and /.well-known/.
void mount(http::Router& router, const Services& services);

/// The same tree below other addresses. @param protocols  of app passwords, one is enough
void mount_at(http::Router& router, const Services& services, const std::vector<std::string>& paths,
              std::int32_t protocols);

/// Methods an address takes, for Allow.
std::string_view allowed(const Spot& spot);

/// PROPFIND above all mounts for whoever may not see files: who he is, no more.
Task<> propfind_top(const Services& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav::groupware
