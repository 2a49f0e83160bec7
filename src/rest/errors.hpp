#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "welkin/core/error.hpp"
#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

/// The one error shape of the API. `answer_errors`, the one place where exceptions become answers, is in
/// routes.hpp.
namespace welkin::rest {

/// The `error_type` that clients compare. Some slugs have a name of their own, everything else the name of
/// its kind.
std::string_view error_type(Errc code, std::string_view slug);

/// {"status":"404 Not Found","error":m,"message":m,"error_type":T,"slug":s,"request_id":r}, with
/// "retry_after_secs":n on 429. For `internal` the detail stays in the log.
std::string error_json(const Error& error, std::string_view request_id);

/// Sends it, with WWW-Authenticate on 401 and Retry-After where the error names a time. What the handler had
/// set on the reply for a success is kept only if it is true of errors too (Allow).
Task<> send_error(http::Request& rq, http::Reply& rp, const Error& error);

}  // namespace welkin::rest
