#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "welkin/core/error.hpp"

namespace welkin::http {

enum class Method : std::uint8_t {
  get,
  head,
  post,
  put,
  patch,
  del,
  options,
  propfind,
  proppatch,
  mkcol,
  mkcalendar,
  copy,
  move,
  lock,
  unlock,
  report,
  search,
  acl,
  bind,
  trace,  // never served: it would give back what a proxy has added
  other,
};
std::string_view to_string(Method m);
/// `other` for a token we do not know; the router answers 501 to it.
Method method_from(std::string_view token);

enum class Status : std::uint16_t {
  switching_protocols = 101,  // only for WebSockets
  ok = 200,
  created = 201,
  accepted = 202,
  no_content = 204,
  partial_content = 206,
  multi_status = 207,
  moved_permanently = 301,
  found = 302,
  see_other = 303,
  not_modified = 304,
  temporary_redirect = 307,
  permanent_redirect = 308,
  bad_request = 400,
  unauthorized = 401,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  not_acceptable = 406,
  request_timeout = 408,
  conflict = 409,
  gone = 410,
  length_required = 411,
  precondition_failed = 412,
  content_too_large = 413,
  uri_too_long = 414,
  unsupported_media_type = 415,
  range_not_satisfiable = 416,
  expectation_failed = 417,
  misdirected = 421,
  unprocessable = 422,
  locked = 423,
  failed_dependency = 424,
  too_many_requests = 429,
  header_fields_too_large = 431,
  internal = 500,
  not_implemented = 501,
  bad_gateway = 502,
  unavailable = 503,
  version_not_supported = 505,
  insufficient_storage = 507,
};
/// The registered phrase, "Not Found".
std::string_view reason(Status s);
/// The one mapping of error kinds (RFC 9110 §15, RFC 4918 §11).
Status status_of(Errc code);

/// Header fields in order of arrival. Names compare without case. Few fields: a linear search wins.
/// Clearing keeps the strings' memory (bounded), so that a kept-alive connection stops allocating.
class Fields {
 public:
  struct Field {
    std::string name, value;
  };
  /// The first value of `name`; "" when absent. Use `has` to tell absent from empty.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const;
  /// All values of `name` joined with ", " (RFC 9110 §5.3).
  std::string joined(std::string_view name) const;
  void add(std::string_view name, std::string_view value);
  /// Replaces the first `name` and drops further ones; adds it when absent.
  void set(std::string_view name, std::string_view value);
  void remove(std::string_view name);
  void clear();
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.begin() + static_cast<std::ptrdiff_t>(count_); }
  std::size_t size() const { return count_; }

 private:
  std::vector<Field> fields_;  // the first count_ are in use
  std::size_t count_ = 0;
};

}  // namespace welkin::http
