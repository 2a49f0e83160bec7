#include "dav/errors.hpp"

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

struct Precondition {
  std::string_view slug, element;
};
constexpr Precondition kPreconditions[] = {
    {"quota_exceeded", "quota-not-exceeded"},          // RFC 4331 §6
    {"no_space", "sufficient-disk-space"},             // RFC 4331 §6
    {"locked", "lock-token-submitted"},                // RFC 4918 §16
    {"no_external_entities", "no-external-entities"},  // RFC 4918 §16
};

Task<> answer(const Problem& problem, http::Reply& rp) {
  // What was set for a success is not true of the error, but for what the address takes.
  const std::string allow(rp.headers().get("Allow"));
  rp.reset();
  if (!allow.empty()) rp.set("Allow", allow);
  if (problem.status == http::Status::unauthorized) {
    rp.set("WWW-Authenticate", "Basic realm=\"Welkin\", charset=\"UTF-8\"");
  }
  if (problem.retry_after_seconds != 0) rp.set("Retry-After", std::to_string(problem.retry_after_seconds));
  co_await rp.send(problem.status, "application/xml; charset=utf-8",
                   error_xml(problem.slug, problem.message));
}

Task<> guarded(const http::Handler& next, http::Request& rq, http::Reply& rp) {
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
      problem = Problem{http::status_of(e.code()), e.slug(), e.what(), e.retry_after_seconds()};
    }
  } catch (const std::exception& e) {
    if (rp.begun()) throw;
    log::error("{} {}: {}", rq.id(), rq.route_name(), e.what());
    problem = internal();
  }
  if (problem) co_await answer(*problem, rp);
}

}  // namespace

http::Middleware answer_errors() { return guarded; }

std::string error_xml(std::string_view slug, std::string_view message) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<D:error xmlns:D=\"DAV:\" xmlns:s=\"http://sabredav.org/ns\" xmlns:w=\"urn:welkin:error\"><";
  std::string_view element;
  for (const auto& known : kPreconditions) {
    if (known.slug == slug) element = known.element;
  }
  (out += element.empty() ? "w:" : "D:") += element.empty() ? slug : element;
  // Old clients show these two, whatever server they talk to.
  out += "/><s:exception>";
  wire::append_escaped(out, slug);
  out += "</s:exception><s:message>";
  wire::append_escaped(out, message);
  out += "</s:message></D:error>";
  return out;
}

}  // namespace welkin::dav
