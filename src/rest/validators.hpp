#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

namespace welkin::rest {

/// A strong tag over everything the answer depends on. Lengths are hashed too, so no two lists of parts look
/// alike.
std::string listing_etag(std::initializer_list<std::string_view> parts);

/// Sets the validators. @return whether the client has this already
bool not_modified(const http::Request& rq, http::Reply& rp, const std::string& etag);

/// 200 with the JSON, or 304, by a tag of the answer itself: for what depends on rights that no version
/// counts.
Task<> send_tagged(http::Request& rq, http::Reply& rp, std::string json);

}  // namespace welkin::rest
