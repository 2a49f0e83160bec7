#include "welkin/http/problem.hpp"

#include "welkin/core/text.hpp"

namespace welkin::http {

std::string_view error_type(Status status) {
  switch (status) {
    case Status::bad_request:
      return "BadRequest";
    case Status::unauthorized:
      return "Unauthorized";
    case Status::forbidden:
      return "Forbidden";
    case Status::not_found:
      return "NotFound";
    case Status::method_not_allowed:
      return "MethodNotAllowed";
    case Status::request_timeout:
      return "Timeout";
    case Status::conflict:
      return "Conflict";
    case Status::gone:
      return "Expired";
    case Status::length_required:
      return "LengthRequired";
    case Status::precondition_failed:
      return "PreconditionFailed";
    case Status::content_too_large:
      return "PayloadTooLarge";
    case Status::uri_too_long:
      return "UriTooLong";
    case Status::unsupported_media_type:
      return "UnsupportedMediaType";
    case Status::range_not_satisfiable:
      return "RangeNotSatisfiable";
    case Status::expectation_failed:
      return "ExpectationFailed";
    case Status::misdirected:
      return "Misdirected";
    case Status::unprocessable:
      return "Unprocessable";
    case Status::locked:
      return "Locked";
    case Status::failed_dependency:
      return "FailedDependency";
    case Status::too_many_requests:
      return "TooManyRequests";
    case Status::header_fields_too_large:
      return "HeaderFieldsTooLarge";
    case Status::not_implemented:
      return "NotImplemented";
    case Status::bad_gateway:
      return "BadGateway";
    case Status::unavailable:
      return "Unavailable";
    case Status::version_not_supported:
      return "VersionNotSupported";
    case Status::insufficient_storage:
      return "InsufficientStorage";
    default:
      return "InternalError";
  }
}

void append_json_string(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  const bool clean = text::is_utf8(text);
  out += '"';
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u == 0x7f) {
      out += "\\u00";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else if (u >= 0x80 && !clean) {
      out += "\xEF\xBF\xBD";
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string error_json(Status status, std::string_view slug, std::string_view message,
                       std::string_view request_id) {
  std::string out;
  out.reserve(160 + 2 * message.size());
  out += "{\"status\":";
  append_json_string(out, std::to_string(static_cast<int>(status)) + " " + std::string(reason(status)));
  out += ",\"error\":";
  append_json_string(out, message);
  out += ",\"message\":";
  append_json_string(out, message);
  out += ",\"error_type\":";
  append_json_string(out, error_type(status));
  out += ",\"slug\":";
  append_json_string(out, slug);
  out += ",\"request_id\":";
  append_json_string(out, request_id);
  out += '}';
  return out;
}

}  // namespace welkin::http
