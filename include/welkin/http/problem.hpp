#pragma once
#include <string>
#include <string_view>

#include "welkin/http/message.hpp"

namespace welkin::http {

/// The `error_type` of a status in JSON errors: one fixed table, "NotFound" for 404. Clients compare it.
std::string_view error_type(Status status);

/// The one JSON shape of errors:
/// {"status":"404 Not Found","error":m,"message":m,"error_type":"NotFound","slug":s,"request_id":r}
std::string error_json(Status status, std::string_view slug, std::string_view message,
                       std::string_view request_id);

/// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace welkin::http
