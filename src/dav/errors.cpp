#include "welkin/dav/errors.hpp"

#include <optional>

#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {
namespace {

struct Problem {
  http::Status status;
  std::string slug, message;
  std::uint32_t retry_after_seconds = 0;
};

Problem internal() { return {http::Status::internal, "internal", "The server failed; the log knows why", 0}; }

/// How a slug is said in DAV: the element of RFC 4918 §16 or another RFC, and a status of which Errc has
/// none.
struct Wording {
  std::string_view slug;
  std::string_view element;                // "": one of our own namespace, called like the slug
  http::Status status = http::Status::ok;  // ok: that of the Errc
};
constexpr Wording kWordings[] = {
    {"quota_exceeded", "quota-not-exceeded"},      // RFC 4331 §6
    {"quota_not_exceeded", "quota-not-exceeded"},  //
    {"no_space", "sufficient-disk-space"},         //
    {"locked", "lock-token-submitted"},            // RFC 4918 §16
    {"lock_token_submitted", "lock-token-submitted"},
    {"no_conflicting_lock", "no-conflicting-lock"},
    {"lock_token_matches_request_uri", "lock-token-matches-request-uri"},
    {"no_external_entities", "no-external-entities"},
    {"forbidden", "need-privileges"},                    // RFC 3744 §7.1.1
    {"resource_must_be_null", "resource-must-be-null"},  // RFC 5689 §3
    {"valid_resourcetype", "valid-resourcetype"},        //
    {"valid-sync-token", "valid-sync-token"},            // RFC 6578 §3.2
    {"supported_report", "supported-report"},            // RFC 3253 §3.6
    {"number_of_matches_within_limits", "number-of-matches-within-limits"},
    {"search_scope_valid", "search-scope-valid"},  // RFC 5323 §2.2.2
    {"name_too_long", "", http::Status::uri_too_long},
    {"path_too_long", "", http::Status::uri_too_long},
    {"other_server", "", http::Status::bad_gateway},  // RFC 4918 §9.8.5
    {"length_required", "", http::Status::length_required},
};

/// What those clients tell errors apart by, beside the status.
constexpr std::pair<http::Status, std::string_view> kExceptions[] = {
    {http::Status::bad_request, "Sabre\\DAV\\Exception\\BadRequest"},
    {http::Status::unauthorized, "Sabre\\DAV\\Exception\\NotAuthenticated"},
    {http::Status::forbidden, "Sabre\\DAV\\Exception\\Forbidden"},
    {http::Status::not_found, "Sabre\\DAV\\Exception\\NotFound"},
    {http::Status::method_not_allowed, "Sabre\\DAV\\Exception\\MethodNotAllowed"},
    {http::Status::conflict, "Sabre\\DAV\\Exception\\Conflict"},
    {http::Status::precondition_failed, "Sabre\\DAV\\Exception\\PreconditionFailed"},
    {http::Status::content_too_large, "OCA\\DAV\\Connector\\Sabre\\Exception\\EntityTooLarge"},
    {http::Status::unsupported_media_type, "Sabre\\DAV\\Exception\\UnsupportedMediaType"},
    {http::Status::locked, "OCA\\DAV\\Connector\\Sabre\\Exception\\FileLocked"},
    {http::Status::not_implemented, "Sabre\\DAV\\Exception\\NotImplemented"},
    {http::Status::unavailable, "Sabre\\DAV\\Exception\\ServiceUnavailable"},
    {http::Status::insufficient_storage, "Sabre\\DAV\\Exception\\InsufficientStorage"},
};

const Wording* wording_of(std::string_view slug) {
  for (const auto& known : kWordings)
    if (known.slug == slug) return &known;
  return nullptr;
}

http::Status status_of(const Error& e) {
  const auto* wording = wording_of(e.slug());
  return wording && wording->status != http::Status::ok ? wording->status : http::status_of(e.code());
}

Task<> answer(const Problem& problem, ErrorWriter write, http::Reply& rp) {
  // What was set for a success is not true of the error, but for what the address takes, and the state that a
  // condition did not find.
  http::Fields kept;
  for (const char* name : {"Allow", "ETag", "Last-Modified"}) {
    const bool of_the_state = std::string_view(name) != "Allow";
    if (of_the_state && problem.status != http::Status::precondition_failed) continue;
    if (rp.headers().has(name)) kept.set(name, rp.headers().get(name));
  }
  rp.reset();
  for (const auto& field : kept) rp.set(field.name, field.value);
  if (problem.status == http::Status::unauthorized) {
    rp.set("WWW-Authenticate", "Basic realm=\"Welkin\", charset=\"UTF-8\"");
  }
  if (problem.retry_after_seconds != 0) rp.set("Retry-After", std::to_string(problem.retry_after_seconds));
  co_await rp.send(problem.status, "application/xml; charset=utf-8",
                   write == nullptr ? error_xml(problem.slug, problem.message)
                                    : write(problem.status, problem.slug, problem.message));
}

Task<> guarded(ErrorWriter write, const http::Handler& next, http::Request& rq, http::Reply& rp) {
  std::optional<Problem> problem;
  try {
    co_await next(rq, rp);
  } catch (const http::ClientGone&) {
    throw;
  } catch (const Error& e) {
    if (rp.begun()) throw;  // the session cuts the connection, so that the client can tell
    if (e.code() == Errc::internal) {
      log::error("{} {}: {} ({})", rq.id(), rq.route_name(), e.what(), e.slug());
      problem = internal();
    } else {
      problem = Problem{status_of(e), e.slug(), e.what(), e.retry_after_seconds()};
    }
  } catch (const std::exception& e) {
    if (rp.begun()) throw;
    log::error("{} {}: {}", rq.id(), rq.route_name(), e.what());
    problem = internal();
  }
  if (problem) co_await answer(*problem, write, rp);
}

}  // namespace

http::Middleware answer_errors(ErrorWriter write) {
  return [write](const http::Handler& next, http::Request& rq, http::Reply& rp) {
    return guarded(write, next, rq, rp);
  };
}

std::string error_xml(std::string_view slug, std::string_view message, std::string_view inside,
                      std::string_view exception) {
  const auto* wording = wording_of(slug);
  const bool standard = wording && !wording->element.empty();
  const std::string element = (standard ? "d:" : "w:") + std::string(standard ? wording->element : slug);
  std::string out =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<d:error xmlns:d=\"DAV:\" xmlns:s=\"http://sabredav.org/ns\" xmlns:w=\"urn:welkin:error\"><";
  out += element;
  if (inside.empty()) {
    out += "/>";
  } else {
    (((out += '>') += inside) += "</") += element;
    out += '>';
  }
  // Old clients show these two, whatever server they talk to.
  out += "<s:exception>";
  wire::append_escaped(out, exception.empty() ? slug : exception);
  out += "</s:exception><s:message>";
  wire::append_escaped(out, message);
  out += "</s:message></d:error>";
  return out;
}

std::string_view nextcloud_exception(http::Status status, std::string_view slug) {
  for (const auto* name : {"bad_name", "name_too_long", "path_too_long", "bad_path", "bad_target"}) {
    if (slug == name) return "OCA\\DAV\\Connector\\Sabre\\Exception\\InvalidPath";
  }
  for (const auto& [code, name] : kExceptions) {
    if (code == status) return name;
  }
  return "Sabre\\DAV\\Exception";
}

std::string nextcloud_error(http::Status status, std::string_view slug, std::string_view message,
                            std::string_view inside) {
  return error_xml(slug, message, inside, nextcloud_exception(status, slug));
}

std::string nextcloud_error(http::Status status, std::string_view slug, std::string_view message) {
  return nextcloud_error(status, slug, message, {});
}

}  // namespace welkin::dav
