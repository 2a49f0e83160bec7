#include "rest/errors.hpp"

#include <array>
#include <boost/system/system_error.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "rest/routes.hpp"
#include "welkin/core/log.hpp"

namespace welkin::rest {
namespace {

constexpr std::string_view kJson = "application/json";

struct SlugType {
  std::string_view slug, type;
};
constexpr std::array kSlugTypes = {
    SlugType{"account_locked", "AccountLocked"},
    SlugType{"admin_required", "Forbidden"},
    SlugType{"already_initialized", "SystemAlreadyInitialized"},
    SlugType{"email_exists", "Already Exists"},
    SlugType{"exists", "Already Exists"},
    SlugType{"last_admin", "LastAdmin"},
    SlugType{"no_such_route", "NotFound"},
    SlugType{"not_local", "ResetPasswordFailed"},
    SlugType{"registration_disabled", "RegistrationDisabled"},
    SlugType{"self_deactivation", "SelfDeactivation"},
    SlugType{"self_deletion", "SelfDeletion"},
    SlugType{"self_role_change", "SelfRoleChange"},
    SlugType{"user_exists", "Already Exists"},
};

std::string_view type_of(Errc code) {
  switch (code) {
    case Errc::invalid:
      return "Invalid Input";
    case Errc::unauthenticated:
      return "Unauthorized";
    case Errc::forbidden:
      return "Access Denied";
    case Errc::not_found:
      return "Not Found";
    case Errc::method_not_allowed:
      return "MethodNotAllowed";
    case Errc::conflict:
      return "Conflict";
    case Errc::gone:
      return "Expired";
    case Errc::precondition_failed:
      return "PreconditionFailed";
    case Errc::too_large:
      return "PayloadTooLarge";
    case Errc::unsupported_media_type:
      return "UnsupportedMediaType";
    case Errc::range_not_satisfiable:
      return "RangeNotSatisfiable";
    case Errc::misdirected:
      return "Misdirected";
    case Errc::unprocessable:
      return "Unprocessable";
    case Errc::locked:
      return "Locked";
    case Errc::too_many_requests:
      return "TooManyRequests";
    case Errc::internal:
      return "Internal Error";
    case Errc::not_implemented:
      return "Not Implemented";
    case Errc::unavailable:
      return "Unavailable";
    case Errc::quota_exceeded:
      return "Quota Exceeded";
    case Errc::no_space:
      return "Insufficient Storage";
  }
  return "Internal Error";
}

Error unexpected() { return {Errc::internal, "internal", ""}; }

Task<> answer(const http::Handler& next, http::Request& rq, http::Reply& rp) {
  std::optional<Error> error;
  try {
    co_await next(rq, rp);
  } catch (const http::ClientGone&) {
    throw;  // nobody is left to tell
  } catch (const boost::system::system_error&) {
    throw;  // the session was cancelled
  } catch (const Error& e) {
    if (rp.begun()) throw;  // the client learns it from the missing end
    error = e;
    if (e.code() == Errc::internal) log::error("request {}: {}: {}", rq.id(), e.slug(), e.what());
  } catch (const std::exception& e) {
    if (rp.begun()) throw;
    log::error("request {}: {}", rq.id(), e.what());
    error = unexpected();
  }
  if (error) co_await send_error(rq, rp, *error);
}

}  // namespace

std::string_view error_type(Errc code, std::string_view slug) {
  for (const auto& known : kSlugTypes)
    if (known.slug == slug) return known.type;
  return type_of(code);
}

std::string error_json(const Error& error, std::string_view request_id) {
  const auto status = http::status_of(error.code());
  const std::string message =
      error.code() == Errc::internal ? "The server failed to answer this request" : error.what();
  nlohmann::json body{
      {"status", std::to_string(static_cast<int>(status)) + ' ' + std::string(http::reason(status))},
      {"error", message},
      {"message", message},
      {"error_type", error_type(error.code(), error.slug())},
      {"slug", error.slug()},
      {"request_id", request_id},
  };
  if (error.code() == Errc::too_many_requests) body["retry_after_secs"] = error.retry_after_seconds();
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Task<> send_error(http::Request& rq, http::Reply& rp, const Error& error) {
  const std::string allow(rp.headers().get("Allow"));
  rp.headers().clear();
  if (!allow.empty()) rp.set("Allow", allow);
  if (error.code() == Errc::unauthenticated) rp.set("WWW-Authenticate", "Bearer");
  if (error.retry_after_seconds() > 0) rp.set("Retry-After", std::to_string(error.retry_after_seconds()));
  co_await rp.send(http::status_of(error.code()), kJson, error_json(error, rq.id()));
}

http::Middleware answer_errors() {
  return [](const http::Handler& next, http::Request& rq, http::Reply& rp) { return answer(next, rq, rp); };
}

}  // namespace welkin::rest
