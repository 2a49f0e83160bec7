#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace welkin {

/// What went wrong, in the few kinds that callers tell apart. Each has exactly one HTTP status (http::status_of).
enum class Errc : std::uint8_t {
  invalid,                 // 400 the request is malformed or its values are not acceptable
  unauthenticated,         // 401 no or no valid credentials
  forbidden,               // 403 known and readable, but this right is missing
  not_found,               // 404 not there, or not readable: the two are never told apart
  method_not_allowed,      // 405
  conflict,                // 409 a name is taken, a parent is missing, the state does not allow it
  gone,                    // 410
  precondition_failed,     // 412
  too_large,               // 413
  unsupported_media_type,  // 415
  range_not_satisfiable,   // 416
  misdirected,             // 421 the Host is none of ours
  unprocessable,           // 422
  locked,                  // 423
  too_many_requests,       // 429, with retry_after_seconds
  internal,                // 500 the detail is logged, never sent
  not_implemented,         // 501
  unavailable,             // 503, with retry_after_seconds: database down, store read-only, queue full
  quota_exceeded,          // 507 the owner's quota
  no_space,                // 507 the disk
};

/// Ends the current request. Thrown on any floor, caught once per protocol, in */errors.cpp.
/// `slug` is stable and machine-readable: REST prints it, DAV uses it as the precondition element (RFC 4918 §16).
/// `what()` may reach the client: no SQL, no file-system paths, no secrets.
class Error final : public std::runtime_error {
 public:
  Error(Errc code, const char* slug, const std::string& detail, std::uint32_t retry_after_seconds = 0)
      : std::runtime_error(detail), code_(code), slug_(slug), retry_after_seconds_(retry_after_seconds) {}

  Errc code() const noexcept { return code_; }
  const char* slug() const noexcept { return slug_; }
  /// 0: say nothing. Else the value of Retry-After.
  std::uint32_t retry_after_seconds() const noexcept { return retry_after_seconds_; }

 private:
  Errc code_;
  const char* slug_;  // a literal
  std::uint32_t retry_after_seconds_;
};

}  // namespace welkin
