#include "welkin/http/message.hpp"

#include <algorithm>
#include <array>

#include "http/ascii.hpp"

namespace welkin::http {
namespace {

struct MethodName {
  std::string_view token;
  Method method;
};
// The most frequent first: the search is linear.
constexpr MethodName kMethods[] = {
    {"GET", Method::get},           {"PUT", Method::put},
    {"PROPFIND", Method::propfind}, {"HEAD", Method::head},
    {"POST", Method::post},         {"OPTIONS", Method::options},
    {"REPORT", Method::report},     {"DELETE", Method::del},
    {"MKCOL", Method::mkcol},       {"MOVE", Method::move},
    {"PATCH", Method::patch},       {"PROPPATCH", Method::proppatch},
    {"COPY", Method::copy},         {"LOCK", Method::lock},
    {"UNLOCK", Method::unlock},     {"MKCALENDAR", Method::mkcalendar},
    {"SEARCH", Method::search},     {"ACL", Method::acl},
    {"BIND", Method::bind},         {"TRACE", Method::trace},
};

// What one kept field may hold on to between requests.
constexpr std::size_t kKeptFields = 32;
constexpr std::size_t kKeptValueBytes = 512;

}  // namespace

std::string_view to_string(Method m) {
  for (const auto& known : kMethods)
    if (known.method == m) return known.token;
  return "OTHER";
}

Method method_from(std::string_view token) {
  for (const auto& known : kMethods)
    if (known.token == token) return known.method;
  return Method::other;
}

std::string_view reason(Status s) {
  switch (s) {
    case Status::switching_protocols:
      return "Switching Protocols";
    case Status::ok:
      return "OK";
    case Status::created:
      return "Created";
    case Status::accepted:
      return "Accepted";
    case Status::no_content:
      return "No Content";
    case Status::partial_content:
      return "Partial Content";
    case Status::multi_status:
      return "Multi-Status";
    case Status::moved_permanently:
      return "Moved Permanently";
    case Status::found:
      return "Found";
    case Status::see_other:
      return "See Other";
    case Status::not_modified:
      return "Not Modified";
    case Status::temporary_redirect:
      return "Temporary Redirect";
    case Status::permanent_redirect:
      return "Permanent Redirect";
    case Status::bad_request:
      return "Bad Request";
    case Status::unauthorized:
      return "Unauthorized";
    case Status::forbidden:
      return "Forbidden";
    case Status::not_found:
      return "Not Found";
    case Status::method_not_allowed:
      return "Method Not Allowed";
    case Status::not_acceptable:
      return "Not Acceptable";
    case Status::request_timeout:
      return "Request Timeout";
    case Status::conflict:
      return "Conflict";
    case Status::gone:
      return "Gone";
    case Status::length_required:
      return "Length Required";
    case Status::precondition_failed:
      return "Precondition Failed";
    case Status::content_too_large:
      return "Content Too Large";
    case Status::uri_too_long:
      return "URI Too Long";
    case Status::unsupported_media_type:
      return "Unsupported Media Type";
    case Status::range_not_satisfiable:
      return "Range Not Satisfiable";
    case Status::expectation_failed:
      return "Expectation Failed";
    case Status::misdirected:
      return "Misdirected Request";
    case Status::unprocessable:
      return "Unprocessable Content";
    case Status::locked:
      return "Locked";
    case Status::failed_dependency:
      return "Failed Dependency";
    case Status::too_many_requests:
      return "Too Many Requests";
    case Status::header_fields_too_large:
      return "Request Header Fields Too Large";
    case Status::internal:
      return "Internal Server Error";
    case Status::not_implemented:
      return "Not Implemented";
    case Status::bad_gateway:
      return "Bad Gateway";
    case Status::unavailable:
      return "Service Unavailable";
    case Status::version_not_supported:
      return "HTTP Version Not Supported";
    case Status::insufficient_storage:
      return "Insufficient Storage";
  }
  return "Unknown";
}

Status status_of(Errc code) {
  switch (code) {
    case Errc::invalid:
      return Status::bad_request;
    case Errc::unauthenticated:
      return Status::unauthorized;
    case Errc::forbidden:
      return Status::forbidden;
    case Errc::not_found:
      return Status::not_found;
    case Errc::method_not_allowed:
      return Status::method_not_allowed;
    case Errc::conflict:
      return Status::conflict;
    case Errc::gone:
      return Status::gone;
    case Errc::precondition_failed:
      return Status::precondition_failed;
    case Errc::too_large:
      return Status::content_too_large;
    case Errc::unsupported_media_type:
      return Status::unsupported_media_type;
    case Errc::range_not_satisfiable:
      return Status::range_not_satisfiable;
    case Errc::misdirected:
      return Status::misdirected;
    case Errc::unprocessable:
      return Status::unprocessable;
    case Errc::locked:
      return Status::locked;
    case Errc::too_many_requests:
      return Status::too_many_requests;
    case Errc::internal:
      return Status::internal;
    case Errc::not_implemented:
      return Status::not_implemented;
    case Errc::unavailable:
      return Status::unavailable;
    case Errc::quota_exceeded:
    case Errc::no_space:
      return Status::insufficient_storage;
  }
  return Status::internal;
}

std::string_view Fields::get(std::string_view name) const {
  for (const auto& f : *this)
    if (ascii::iequals(f.name, name)) return f.value;
  return {};
}

bool Fields::has(std::string_view name) const {
  return std::any_of(begin(), end(), [&](const Field& f) { return ascii::iequals(f.name, name); });
}

std::string Fields::joined(std::string_view name) const {
  std::string out;
  bool first = true;
  for (const auto& f : *this) {
    if (!ascii::iequals(f.name, name)) continue;
    if (!first) out += ", ";
    out += f.value;
    first = false;
  }
  return out;
}

void Fields::add(std::string_view name, std::string_view value) {
  if (count_ == fields_.size()) {
    fields_.push_back(
        Field{std::string(name), std::string(value)});  // copied before anything moves: may be our own
  } else {
    fields_[count_].name.assign(name);
    fields_[count_].value.assign(value);
  }
  ++count_;
}

void Fields::set(std::string_view name, std::string_view value) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (!ascii::iequals(fields_[i].name, name)) continue;
    const std::string kept(value);  // `value` may be a view into the field that goes
    for (std::size_t j = count_; j-- > i + 1;)
      if (ascii::iequals(fields_[j].name, name)) {
        fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(j));
        --count_;
      }
    fields_[i].value = kept;
    return;
  }
  add(name, value);
}

void Fields::remove(std::string_view name) {
  for (std::size_t i = count_; i-- > 0;)
    if (ascii::iequals(fields_[i].name, name)) {
      fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(i));
      --count_;
    }
}

void Fields::clear() {
  if (fields_.size() > kKeptFields) fields_.resize(kKeptFields);
  for (std::size_t i = 0; i < std::min(count_, fields_.size()); ++i) {
    if (fields_[i].value.capacity() > kKeptValueBytes) std::string().swap(fields_[i].value);
    if (fields_[i].name.capacity() > kKeptValueBytes) std::string().swap(fields_[i].name);
  }
  count_ = 0;
}

}  // namespace welkin::http
