#include "welkin/http/request.hpp"

#include <algorithm>
#include <stdexcept>

#include "http/ascii.hpp"
#include "http/body_reader.hpp"
#include "http/path.hpp"
#include "http/request_state.hpp"
#include "http/settings.hpp"
#include "welkin/core/error.hpp"

namespace welkin::http {

void Request::State::clear() {
  head.clear();
  raw_path = raw_query = {};
  segments.clear();
  trailing_slash = false;
  route = nullptr;
  captures.clear();
  secure = false;
  forwarded_hosts.clear();
  id.clear();
  caller = Caller{};
}

Request::~Request() = default;

Method Request::method() const { return state_.head.method; }
std::string_view Request::method_token() const { return state_.head.method_token; }
std::string_view Request::target() const { return state_.head.target; }
std::string_view Request::raw_path() const { return state_.raw_path; }
const std::vector<std::string>& Request::segments() const { return state_.segments; }
bool Request::trailing_slash() const { return state_.trailing_slash; }

const std::string& Request::param(std::string_view name) const {
  if (state_.route) {
    const auto& names = state_.route->param_names;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto at = static_cast<std::size_t>(found - names.begin());
    if (at < state_.captures.size() && state_.captures[at] < state_.segments.size())
      return state_.segments[state_.captures[at]];
    static const std::string kEmptyRest;
    if (at < state_.captures.size()) return kEmptyRest;
  }
  throw std::logic_error("this route has no parameter " + std::string(name));
}

std::vector<std::string> Request::rest() const {
  if (!state_.route || state_.captures.empty()) return {};
  const auto begin = std::min<std::size_t>(state_.captures.back(), state_.segments.size());
  return {state_.segments.begin() + static_cast<std::ptrdiff_t>(begin), state_.segments.end()};
}

std::optional<std::string> Request::query(std::string_view name) const {
  return find_query(state_.raw_query, name);
}
std::string_view Request::raw_query() const { return state_.raw_query; }
const Fields& Request::headers() const { return state_.head.fields; }

std::string_view Request::cookie(std::string_view name) const {
  // Several Cookie fields are one list: front ends that speak HTTP/2 split it (RFC 9113 §8.2.3).
  for (const auto& field : state_.head.fields) {
    if (!ascii::iequals(field.name, "cookie")) continue;
    if (const auto value = find_cookie(field.value, name); !value.empty()) return value;
  }
  return {};
}

std::optional<std::uint64_t> Request::content_length() const {
  if (state_.head.chunked) return std::nullopt;
  return state_.head.content_length.value_or(0);
}
bool Request::has_body() const { return state_.head.has_body(); }
Task<ByteView> Request::read() { return state_.body->read(); }

Task<std::string> Request::text(std::size_t bytes_max) {
  const auto too_large = [] {
    return Error(Errc::too_large, "body_too_large", "the request body is too large");
  };
  std::string out;
  if (const auto length = content_length()) {
    if (*length > bytes_max) throw too_large();
    out.reserve(std::min<std::size_t>(*length, 64 * 1024));  // a promise is no body yet
  }
  for (;;) {
    const auto piece = co_await state_.body->read();
    if (piece.empty()) co_return out;
    if (piece.size() > bytes_max - out.size()) throw too_large();
    out.append(as_text(piece));
  }
}

void Request::limit_body(std::uint64_t bytes_max) { state_.body->limit(bytes_max); }

bool Request::is_secure() const { return state_.secure; }
const std::string& Request::client_address() const { return state_.address_text; }
std::string Request::limit_key() const { return state_.address.limit_text(); }

std::string Request::base_url() const {
  if (!state_.settings.base_url.empty()) return state_.settings.base_url;
  const auto& authority = state_.head.authority.empty() ? state_.local_authority : state_.head.authority;
  return (state_.secure ? "https://" : "http://") + authority + state_.settings.base_path;
}
bool Request::is_own_host(std::string_view host) const {
  const auto own = host_of(state_.head.authority.empty() ? state_.local_authority : state_.head.authority);
  if (ascii::iequals(host, own)) return true;
  const auto is_host = [&](const std::string& known) { return ascii::iequals(host, known); };
  const auto& hosts = state_.settings.hosts;
  if (std::any_of(hosts.begin(), hosts.end(), is_host)) return true;
  const auto& forwarded = state_.forwarded_hosts;
  if (std::any_of(forwarded.begin(), forwarded.end(), is_host)) return true;
  return is_loopback_name(own) && is_loopback_name(host);
}

std::string_view Request::base_path() const { return state_.settings.base_path; }
const std::string& Request::id() const { return state_.id; }
void Request::set_caller(Caller caller) { state_.caller = std::move(caller); }
const Caller& Request::caller() const { return state_.caller; }
std::string_view Request::route_name() const {
  return state_.route ? std::string_view(state_.route->name) : "";
}

}  // namespace welkin::http
