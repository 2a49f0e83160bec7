#include "http/head.hpp"

#include <cstring>

#include "http/ascii.hpp"
#include "http/second_reading.hpp"

namespace welkin::http {
namespace {

constexpr std::size_t kKeptTargetBytes = 1024;  // memory kept between requests

bool all_digits(std::string_view s) {
  for (const char c : s)
    if (c < '0' || c > '9') return false;
  return !s.empty();
}

/// "example.org:80" is "example.org" on http.
std::string_view without_default_port(std::string_view authority, std::string_view scheme) {
  const std::string_view port = scheme == "https" ? ":443" : ":80";
  if (authority.size() > port.size() && authority.ends_with(port)) authority.remove_suffix(port.size());
  return authority;
}

}  // namespace

bool is_authority(std::string_view s) {
  if (s.empty() || s.size() > 255) return false;
  std::string_view port;
  if (s.front() == '[') {
    const auto end = s.find(']');
    if (end == s.npos || end < 3) return false;
    for (const char c : s.substr(1, end - 1))
      if (ascii::hex_digit(c) < 0 && c != ':' && c != '.') return false;
    if (end + 1 == s.size()) return true;
    if (s[end + 1] != ':') return false;
    port = s.substr(end + 2);
  } else {
    const auto colon = s.find(':');
    const auto host = s.substr(0, colon);
    if (host.empty() || !ascii::all(host, ascii::kHost)) return false;
    if (colon == s.npos) return true;
    port = s.substr(colon + 1);
  }
  return all_digits(port) && port.size() <= 5;
}

std::string_view host_of(std::string_view authority) {
  if (!authority.empty() && authority.front() == '[') return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

const char* check_field_line(std::string_view line, std::string_view& name, std::string_view& value) {
  if (line.front() == ' ' || line.front() == '\t') return "a header field is folded over several lines";
  const auto colon = line.find(':');
  if (colon == line.npos) return "a header field has no colon";
  name = line.substr(0, colon);
  if (name.empty() || !ascii::all(name, ascii::kToken)) return "a header field has a malformed name";
  value = ascii::trim(line.substr(colon + 1));
  if (!ascii::all(value, ascii::kValue)) return "a header field holds a control character";
  return nullptr;
}

void Head::clear() {
  method_token.clear();
  method = Method::other;
  target.clear();
  if (target.capacity() > kKeptTargetBytes) std::string().swap(target);
  authority.clear();
  minor = 1;
  fields.clear();
  content_length.reset();
  chunked = false;
  keep_alive = true;
  expect_continue = false;
}

void HeadParser::reset() {
  head.clear();
  line_begin_ = 0;
  head_begin_ = 0;
  looked_ = 0;
  begun_ = false;
  in_fields_ = false;
  skipped_blank_ = false;
  scheme_ = {};
  target_authority_.clear();
}

HeadParser::Step HeadParser::refuse(Status status, const char* slug, const char* message) {
  refusal_ = {status, slug, message};
  return Step::refused;
}

HeadParser::Step HeadParser::parse(std::string_view bytes) {
  for (;;) {
    const void* found =
        looked_ < bytes.size() ? std::memchr(bytes.data() + looked_, '\n', bytes.size() - looked_) : nullptr;
    if (!found) {
      looked_ = bytes.size();
      return open_line(bytes.substr(line_begin_));
    }
    const auto lf = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    if (lf >= kHeadBytesMax) {
      if (!in_fields_ && lf - line_begin_ > kTargetBytesMax)
        return open_line(bytes.substr(line_begin_, lf - line_begin_));
      return refuse(Status::header_fields_too_large, "header_too_large",
                    "the request header is larger than 32 KiB");
    }
    if (lf == line_begin_ || bytes[lf - 1] != '\r')
      return refuse(Status::bad_request, "bare_lf", "a line of the request header ends without CR");
    const auto line = bytes.substr(line_begin_, lf - 1 - line_begin_);
    line_begin_ = looked_ = lf + 1;
    if (line.empty()) {
      if (in_fields_)
        return finish(bytes.substr(head_begin_, line_begin_ - head_begin_)) ? Step::complete : Step::refused;
      if (skipped_blank_) return refuse(Status::bad_request, "bad_request_line", "the request line is empty");
      head_begin_ = line_begin_;
      skipped_blank_ = true;  // RFC 9112 §2.2: one empty line before the request line is ignored
      continue;
    }
    begun_ = true;
    if (in_fields_ ? !field_line(line) : !request_line(line)) return Step::refused;
    in_fields_ = true;
  }
}

/// A line whose end has not come: refused as soon as nothing that may follow can mend it.
HeadParser::Step HeadParser::open_line(std::string_view rest) {
  if (rest.empty() || rest == "\r") return Step::need_more;
  begun_ = true;
  if (!in_fields_) {
    const auto blank = rest.find(' ');
    const auto method = rest.substr(0, blank);
    const bool cr_at_end = blank == rest.npos && method.ends_with('\r');
    if (method.size() > kMethodBytesMax || cr_at_end || !ascii::all(method, ascii::kToken) || method.empty())
      return refuse(Status::bad_request, "bad_request_line", "this is not an HTTP/1.1 request");
    if (blank != rest.npos) {
      const auto target = rest.substr(blank + 1);
      if (target.substr(0, target.find(' ')).size() > kTargetBytesMax) {
        head.target.assign(target.substr(0, kTargetBytesMax));
        return refuse(Status::uri_too_long, "target_too_long", "the request target is longer than 8 KiB");
      }
      if (target.size() > kTargetBytesMax + 32)
        return refuse(Status::bad_request, "bad_request_line", "the request line is malformed");
    }
  }
  if (line_begin_ + rest.size() >= kHeadBytesMax)
    return refuse(Status::header_fields_too_large, "header_too_large",
                  "the request header is larger than 32 KiB");
  return Step::need_more;
}

bool HeadParser::request_line(std::string_view line) {
  const auto bad = [this](const char* message) {
    refuse(Status::bad_request, "bad_request_line", message);
    return false;
  };
  const auto first = line.find(' ');
  if (first == line.npos) return bad("the request line has no target");
  const auto method = line.substr(0, first);
  if (method.empty() || method.size() > kMethodBytesMax || !ascii::all(method, ascii::kToken))
    return bad("the method is no token");
  const auto last = line.rfind(' ');
  if (last == first) return bad("the request line has no HTTP version");
  const auto target = line.substr(first + 1, last - first - 1);
  const auto version = line.substr(last + 1);
  head.target.assign(
      target.substr(0, kTargetBytesMax));  // what is refused is answered in the form of its path
  if (target.size() > kTargetBytesMax) {
    refuse(Status::uri_too_long, "target_too_long", "the request target is longer than 8 KiB");
    return false;
  }
  if (target.empty() || !ascii::all(target, ascii::kTarget))
    return bad("the request target holds a blank, a control character or a fragment");
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.size() != 8 || !version.starts_with("HTTP/") || !digit(version[5]) || version[6] != '.' ||
      !digit(version[7]))
    return bad("the HTTP version is malformed");
  if (version[5] != '1' || version[7] > '1') {
    refuse(Status::version_not_supported, "http_version", "this server speaks HTTP/1.1 and HTTP/1.0");
    return false;
  }
  head.minor = version[7] - '0';
  head.method_token.assign(method);
  head.method = method_from(method);
  if (method == "CONNECT") {
    refuse(Status::not_implemented, "unknown_method", "this server is no proxy");
    return false;
  }
  if (target.front() == '/') return true;
  if (target == "*") return head.method == Method::options || bad("only OPTIONS may ask for *");
  return absolute_form(target) || bad("the request target is neither a path nor an absolute URI");
}

bool HeadParser::absolute_form(std::string_view target) {
  const auto colon = target.find("://");
  if (colon == target.npos) return false;
  const auto scheme = target.substr(0, colon);
  if (ascii::iequals(scheme, "http"))
    scheme_ = "http";
  else if (ascii::iequals(scheme, "https"))
    scheme_ = "https";
  else
    return false;
  target.remove_prefix(colon + 3);
  const auto end = target.find_first_of("/?");
  const auto authority = target.substr(0, end);
  if (!is_authority(authority)) return false;
  target_authority_.assign(authority);
  head.target = end == target.npos || target[end] == '?' ? "/" : "";
  if (end != target.npos) head.target.append(target.substr(end));
  return true;
}

bool HeadParser::field_line(std::string_view line) {
  if (head.fields.size() == kFieldsMax) {
    refuse(Status::header_fields_too_large, "too_many_fields", "the request has more than 100 header fields");
    return false;
  }
  std::string_view name;
  std::string_view value;
  if (const char* wrong = check_field_line(line, name, value)) {
    refuse(Status::bad_request, "bad_header_field", wrong);
    return false;
  }
  head.fields.add(name, value);
  return true;
}

bool HeadParser::finish(std::string_view bytes) {
  if (!finish_framing() || !finish_host() || !finish_connection()) return false;
  if (agrees_with_beast(bytes, head)) return true;
  refuse(Status::bad_request, "ambiguous_head", "the request header can be understood in two ways");
  return false;
}

bool HeadParser::finish_framing() {
  const auto bad = [this](const char* message) {
    refuse(Status::bad_request, "bad_framing", message);
    return false;
  };
  bool encoded = false;
  for (const auto& field : head.fields) {
    if (ascii::iequals(field.name, "content-length")) {
      if (head.content_length) return bad("Content-Length stands twice");
      const std::string_view digits = field.value;
      if (!all_digits(digits) || digits.size() > 18) return bad("Content-Length is no sane number");
      std::uint64_t length = 0;
      for (const char c : digits) length = length * 10 + static_cast<std::uint64_t>(c - '0');
      head.content_length = length;
    } else if (ascii::iequals(field.name, "transfer-encoding")) {
      if (encoded) return bad("Transfer-Encoding stands twice");
      if (!ascii::iequals(field.value, "chunked")) return bad("the only transfer encoding known is chunked");
      encoded = true;
    }
  }
  if (encoded && head.content_length) return bad("Transfer-Encoding and Content-Length exclude each other");
  if (encoded && head.minor == 0) return bad("HTTP/1.0 has no transfer encodings");
  head.chunked = encoded;
  return true;
}

bool HeadParser::finish_host() {
  const auto bad = [this](const char* message) {
    refuse(Status::bad_request, "bad_host", message);
    return false;
  };
  bool seen = false;
  for (const auto& field : head.fields) {
    if (!ascii::iequals(field.name, "host")) continue;
    if (seen) return bad("Host stands twice");
    seen = true;
    if (!is_authority(field.value)) return bad("Host is malformed");
    head.authority.assign(field.value);
  }
  if (!seen && head.minor == 1) return bad("HTTP/1.1 requests carry a Host");
  if (target_authority_.empty()) return true;
  if (seen && !ascii::iequals(without_default_port(head.authority, scheme_),
                              without_default_port(target_authority_, scheme_)))
    return bad("Host is not the one of the request target");
  head.authority.assign(target_authority_);
  return true;
}

bool HeadParser::finish_connection() {
  bool close = false;
  bool keep = false;
  for (const auto& field : head.fields) {
    if (ascii::iequals(field.name, "connection")) {
      ascii::each_element(field.value, [&](std::string_view option) {
        close |= ascii::iequals(option, "close");
        keep |= ascii::iequals(option, "keep-alive");
      });
    } else if (ascii::iequals(field.name, "expect") && head.minor == 1) {
      if (!ascii::iequals(field.value, "100-continue")) {
        refuse(Status::expectation_failed, "expectation", "the only expectation known is 100-continue");
        return false;
      }
      head.expect_continue = head.has_body();
    }
  }
  head.keep_alive = !close && (head.minor == 1 || keep);
  return true;
}

}  // namespace welkin::http
