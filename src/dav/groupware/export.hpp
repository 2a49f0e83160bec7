#pragma once
#include "dav/groupware/target.hpp"

namespace welkin::dav::groupware {

/// A whole collection as one file, streamed: an address book is its cards one after another, a calendar one
/// VCALENDAR with all components and each time zone once.
Task<> export_collection(const Services& services, http::Request& rq, http::Reply& rp, const Target& target);

}  // namespace welkin::dav::groupware
