#pragma once
#include "dav/groupware/target.hpp"

namespace welkin::dav::groupware {

/// If-Match, If-None-Match, If-Unmodified-Since (RFC 9110 §13) and If (RFC 4918 §10.4) against what is there
/// now, as a demand that the write checks again. Entity tags compare strongly, but quotes may be missing and
/// W/ is passed over: clients behind proxies that weaken tags would be refused for ever.
/// @throws Error precondition_failed, invalid `bad_if`
Task<collections::Expect> require_conditions(const Services& services, const http::Request& rq,
                                             const Target& target);

/// Of a collection: what Collections::remove is to find, "" for anything.
Task<std::string> require_collection_state(const Services& services, const http::Request& rq,
                                           const Target& target);

/// The header's entity tag of an object, with quotes.
std::string etag_header(const collections::Etag& etag);

}  // namespace welkin::dav::groupware
