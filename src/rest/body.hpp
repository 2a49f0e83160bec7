#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "welkin/core/config.hpp"
#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

namespace welkin::rest {

/// The JSON body of a request, at most config.json_bytes_max bytes. @throws Error unsupported_media_type
/// `not_json` when Content-Type is there and is not application/json; invalid `bad_json`; too_large
Task<nlohmann::json> json_body(http::Request& rq);
/// The same, but an absent body is an empty object.
Task<nlohmann::json> optional_json_body(http::Request& rq);
Task<> send_json(http::Reply& rp, http::Status status, const nlohmann::json& value);
/// JSON that is rendered already.
Task<> send_json_text(http::Reply& rp, http::Status status, std::string json);

/// Every route of the API takes bodies of JSON size only; this lets a route that takes files have the upload
/// limit.
void allow_upload(http::Request& rq, const Config& config);

}  // namespace welkin::rest
