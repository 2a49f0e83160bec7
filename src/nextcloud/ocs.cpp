#include "nextcloud/ocs.hpp"

#include <boost/system/system_error.hpp>
#include <nlohmann/json.hpp>

#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/authenticate.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::nextcloud {
namespace {

using http::Method;
using http::Status;
using wire::OcsFormat;
using wire::OcsVersion;

constexpr int kNotLoggedIn = 997, kUnknown = 998, kServerError = 996;
constexpr std::string_view kVersions[] = {"/ocs/v1.php", "/ocs/v2.php"};

/// How an error is told: the number in the meta data, and the HTTP status of v2 and of v1.
struct Verdict {
  int code = 0;
  Status v2 = Status::ok, v1 = Status::ok;
};

Verdict verdict_of(const Error& e) {
  const auto status = http::status_of(e.code());
  switch (e.code()) {
    case Errc::unauthenticated:
      return {kNotLoggedIn, status, status};
    case Errc::internal:
      return {kServerError, status, Status::ok};
    case Errc::too_many_requests:
    case Errc::unavailable:
      return {static_cast<int>(status), status, status};
    case Errc::unprocessable:
      return {400, Status::bad_request, Status::ok};
    default:
      break;
  }
  if (e.slug() == std::string_view("no_such_route")) return {kUnknown, Status::not_found, Status::ok};
  if (e.slug() == std::string_view("no_ocs_header"))
    return {kNotLoggedIn, Status::precondition_failed, Status::ok};
  return {static_cast<int>(status), status, Status::ok};
}

Task<> send(http::Request& rq, http::Reply& rp, Status status, wire::OcsMeta meta, Json data) {
  std::string body;
  const auto format = format_of(rq);
  wire::append_ocs(body, version_of(rq), format, meta, data);
  co_await rp.send(status, wire::ocs_content_type(format), std::move(body));
}

Task<> send_error(http::Request& rq, http::Reply& rp, const Error& e) {
  const auto verdict = verdict_of(e);
  rp.reset();
  if (e.code() == Errc::unauthenticated) rp.set("WWW-Authenticate", kChallenge);
  if (e.retry_after_seconds() > 0) rp.set("Retry-After", std::to_string(e.retry_after_seconds()));
  const std::string message = e.code() == Errc::internal ? "The server failed; the log knows why" : e.what();
  const bool v1 = version_of(rq) == OcsVersion::v1;
  co_await send(rq, rp, v1 ? verdict.v1 : verdict.v2, {verdict.code, message}, Json::array());
}

using ErrorSender = Task<> (*)(http::Request&, http::Reply&, const Error&);

/// The one catch of this room's addresses.
Task<> guarded(ErrorSender tell, const http::Handler& next, http::Request& rq, http::Reply& rp) {
  std::optional<Error> error;
  try {
    co_await next(rq, rp);
  } catch (const http::ClientGone&) {
    throw;
  } catch (const boost::system::system_error&) {
    throw;  // the session was cancelled
  } catch (const Error& e) {
    if (rp.begun()) throw;
    if (e.code() == Errc::internal)
      log::error("{} {}: {} ({})", rq.id(), rq.route_name(), e.what(), e.slug());
    error = e;
  } catch (const std::exception& e) {
    if (rp.begun()) throw;
    log::error("{} {}: {}", rq.id(), rq.route_name(), e.what());
    error = Error(Errc::internal, "internal", "");
  }
  if (error) co_await tell(rq, rp, *error);
}

http::Middleware answer_ocs_errors() {
  return [](const http::Handler& next, http::Request& rq, http::Reply& rp) {
    return guarded(send_error, next, rq, rp);
  };
}

Task<> send_plain_error(http::Request& /*rq*/, http::Reply& rp, const Error& e) {
  rp.reset();
  if (e.code() == Errc::unauthenticated) rp.set("WWW-Authenticate", kChallenge);
  if (e.retry_after_seconds() > 0) rp.set("Retry-After", std::to_string(e.retry_after_seconds()));
  const Json body{{"message", e.code() == Errc::internal ? "The server failed" : e.what()}};
  co_await rp.send(http::status_of(e.code()), kJsonType,
                   body.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// A browser that knows a password for this address sends it along to whatever page asks; no page of another
/// site can add this header.
http::Middleware require_ocs_header() {
  return [](const http::Handler& next, http::Request& rq, http::Reply& rp) -> Task<> {
    const bool changes = rq.method() != Method::get && rq.method() != Method::head;
    if (changes && !text::iequals(rq.header("ocs-apirequest"), "true"))
      throw Error(Errc::precondition_failed, "no_ocs_header", "The header OCS-APIRequest is missing");
    return next(rq, rp);
  };
}

/// Nothing that is asked here is long.
http::Middleware limit_body(const Config& config) {
  return [&config](const http::Handler& next, http::Request& rq, http::Reply& rp) -> Task<> {
    rq.limit_body(config.json_bytes_max);
    return next(rq, rp);
  };
}

void add_json(Params& params, const nlohmann::json& body) {
  const auto text_of = [](const nlohmann::json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_null()) return std::string();
    if (value.is_boolean()) return std::string(value.get<bool>() ? "true" : "false");
    return value.dump();
  };
  for (const auto& [name, value] : body.items()) {
    if (!value.is_array()) {
      params.add(name, text_of(value));
      continue;
    }
    for (const auto& element : value) params.add(name + "[]", text_of(element));
  }
}

std::optional<std::string> decode_form_part(std::string_view part) {
  std::string spaced(part);
  for (auto& c : spaced)
    if (c == '+') c = ' ';
  auto decoded = text::percent_decode(spaced);
  if (!decoded || !text::is_utf8(*decoded) || decoded->find('\0') != std::string::npos) return std::nullopt;
  return decoded;
}

Error bad_parameter(const std::string& name) {
  return {Errc::invalid, "bad_parameter", "The value of \"" + name + "\" is not usable"};
}

}  // namespace

OcsVersion version_of(const http::Request& rq) {
  return rq.raw_path().starts_with("/ocs/v1.php") ? OcsVersion::v1 : OcsVersion::v2;
}

OcsFormat format_of(const http::Request& rq) {
  if (const auto asked = rq.query("format")) {
    if (*asked == "json") return OcsFormat::json;
    if (*asked == "xml") return OcsFormat::xml;
  }
  return rq.header("accept").find("application/json") != std::string_view::npos ? OcsFormat::json
                                                                                : OcsFormat::xml;
}

Task<> answer(Call& call, Json data) {
  return send(call.rq, call.rp, Status::ok, wire::ocs_ok(call.version), std::move(data));
}

Task<> answer_tagged(Call& call, Json data) {
  const auto digest = crypto::sha256(data.dump());
  const auto etag = '"' + text::hex(std::as_bytes(std::span(digest)).first(16)) + '"';
  call.rp.set("ETag", etag);
  call.rp.set("Cache-Control", "private, no-cache");
  const auto asked = http::parse_etags(call.rq.headers().joined("if-none-match"));
  if (call.rq.headers().has("if-none-match") && asked && http::weak_match(*asked, etag)) {
    co_await call.rp.send(Status::not_modified);
    co_return;
  }
  co_await answer(call, std::move(data));
}

std::optional<std::string> Params::find(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::string Params::get(const std::string& name, const std::string& otherwise) const {
  return find(name).value_or(otherwise);
}

std::optional<std::int64_t> Params::number(const std::string& name) const {
  const auto value = find(name);
  if (!value || value->empty()) return std::nullopt;
  const auto number = text::signed_number(*value);
  if (!number) throw bad_parameter(name);
  return number;
}

bool Params::flag(const std::string& name, bool otherwise) const {
  const auto value = find(name);
  if (!value || value->empty()) return otherwise;
  const auto lower = text::lower(*value);
  if (lower == "true" || lower == "1" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "0" || lower == "no" || lower == "off") return false;
  throw bad_parameter(name);
}

std::vector<std::string> Params::list(const std::string& name) const {
  std::vector<std::string> out;
  for (const auto& key : {name + "[]", name}) {
    const auto [begin, end] = values_.equal_range(key);
    for (auto at = begin; at != end; ++at) out.push_back(at->second);
  }
  return out;
}

bool add_form(Params& params, std::string_view text, std::size_t parameters_max) {
  if (text.empty()) return true;
  const auto parts = text::split(text, '&');
  if (parts.size() > parameters_max) return false;
  for (const auto part : parts) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    const auto name = decode_form_part(part.substr(0, equals));
    const auto value = equals == std::string_view::npos ? std::optional<std::string>("")
                                                        : decode_form_part(part.substr(equals + 1));
    if (!name || !value) return false;
    params.add(*name, *value);
  }
  return true;
}

Task<Params> params_of(http::Request& rq) {
  constexpr std::size_t body_bytes_max = std::size_t{1} << 20;
  Params params;
  const auto bad = [] { return Error(Errc::invalid, "bad_parameter", "The parameters cannot be read"); };
  if (rq.has_body()) {
    const auto type = text::lower(rq.header("content-type"));
    const auto body = co_await rq.text(body_bytes_max);
    if (type.starts_with("application/json")) {
      const auto value = body.empty() ? nlohmann::json::object() : wire::parse_json(body);
      if (!value.is_object()) throw Error(Errc::invalid, "bad_json", "The body is not a JSON object");
      add_json(params, value);
    } else if (!add_form(params, body)) {
      throw bad();
    }
  }
  if (!add_form(params, rq.raw_query())) throw bad();
  co_return params;
}

OcsRoutes::OcsRoutes(http::Router& router, std::shared_ptr<const Services> services)
    : router_(router),
      services_(std::move(services)),
      open_(router.scope({answer_ocs_errors(), limit_body(services_->config), require_ocs_header(),
                          dav::authenticate_claims(dav_services(*services_), protocols::kNextcloud)})),
      user_(router.scope({answer_ocs_errors(), limit_body(services_->config),
                          dav::authenticate_dav(dav_services(*services_), protocols::kNextcloud),
                          require_ocs_header()})) {}

void OcsRoutes::add(http::Router::Scope& scope, http::Access access, Method method, const std::string& path,
                    const std::string& name, const std::string& resource, const std::string& action,
                    const OcsHandler& handler) {
  for (const auto version : kVersions) {
    const auto route_name = "ocs." + std::string(version.substr(5, 2)) + "." + name;
    scope.on({method, std::string(version) + path, route_name, access, resource, action},
             [services = services_, handler](http::Request& rq, http::Reply& rp) -> Task<> {
               Call call{*services, rq, rp, version_of(rq), format_of(rq)};
               co_await handler(call);
             });
  }
}

void OcsRoutes::open(Method method, const std::string& path, const std::string& name, OcsHandler handler) {
  add(open_, http::Access::open, method, path, name, "-", "-", handler);
}

void OcsRoutes::user(Method method, const std::string& path, const std::string& name,
                     const std::string& resource, const std::string& action, OcsHandler handler) {
  add(user_, http::Access::dav, method, path, name, resource, action, handler);
}

void OcsRoutes::finish() {
  const auto errors = answer_ocs_errors();
  const http::Handler unknown = [](http::Request&, http::Reply&) -> Task<> {
    throw Error(Errc::not_found, "no_such_route", "There is nothing at this address");
  };
  const http::Handler other_method = [](http::Request&, http::Reply&) -> Task<> {
    throw Error(Errc::method_not_allowed, "method_not_allowed", "This address does not take that method");
  };
  const auto fallback = [errors, unknown, other_method](http::Request& rq, http::Reply& rp,
                                                        const std::string& allowed) -> Task<> {
    co_await errors(allowed.empty() ? unknown : other_method, rq, rp);
  };
  router_.set_fallback("/ocs", fallback);
  for (const auto version : kVersions) router_.set_fallback(std::string(version), fallback);
}

http::Middleware answer_plain_errors() {
  return [](const http::Handler& next, http::Request& rq, http::Reply& rp) {
    return guarded(send_plain_error, next, rq, rp);
  };
}

}  // namespace welkin::nextcloud
