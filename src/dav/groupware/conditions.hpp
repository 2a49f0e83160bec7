#pragma once
#include "dav/groupware/target.hpp"

namespace welkin::dav::groupware {

/// If-Match, If-None-Match, If-Unmodified-Since (RFC 9110 §13) and If (RFC 4918 §10.4) against what is there
/// now, as a demand that the write checks again. Entity tags compare strongly, but quotes may be missing and
/// W/ is passed over: clients behind proxies that weaken tags would be refused for ever.
/// @throws Error precondition_failed, invalid `bad_if`
Task<collections::Expect> require_conditions(const Services& services, const http::Request& rq,
                                             const Target& target);

/// If-Schedule-Tag-Match (RFC 6638 §8.3): the tag that the object has to have; the write looks at it again.
/// @throws Error precondition_failed: it has another one already, or none
std::optional<collections::Etag> require_schedule_tag(const http::Request& rq, const Target& target);
/// Whether the client has told which bytes it has seen.
bool names_etag(const http::Request& rq);

/// Of a collection: what Collections::remove is to find, "" for anything.
Task<std::string> require_collection_state(const Services& services, const http::Request& rq,
                                           const Target& target);

/// The header's entity tag of an object, with quotes.
std::string etag_header(const collections::Etag& etag);

}  // namespace welkin::dav::groupware
