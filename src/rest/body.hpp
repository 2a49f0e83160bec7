#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

namespace welkin::rest {

/// The JSON body of a request. @throws Error unsupported_media_type `not_json` when Content-Type is there and is not
/// application/json; invalid `bad_json`; too_large
Task<nlohmann::json> json_body(http::Request& rq);
/// The same, but an absent body is an empty object.
Task<nlohmann::json> optional_json_body(http::Request& rq);
Task<> send_json(http::Reply& rp, http::Status status, const nlohmann::json& value);

}  // namespace welkin::rest
