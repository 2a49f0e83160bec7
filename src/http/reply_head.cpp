#include "http/reply_head.hpp"

#include <array>
#include <charconv>

#include "http/ascii.hpp"
#include "welkin/core/error.hpp"

namespace welkin::http {
namespace {

struct Default {
  std::string_view name;
  std::string_view line;
};
/// What every answer carries that does not say otherwise. The last ones say what a page may do once a browser
/// shows it, so answers that only programs read go without.
constexpr std::array kDefaults = {
    Default{"x-content-type-options", "X-Content-Type-Options: nosniff\r\n"},
    Default{"x-frame-options", "X-Frame-Options: DENY\r\n"},
    Default{"cross-origin-resource-policy", "Cross-Origin-Resource-Policy: same-origin\r\n"},
    Default{"content-security-policy",
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
            "form-action 'none'\r\n"},
    Default{"cache-control", "Cache-Control: private, no-store\r\n"},
    Default{"referrer-policy", "Referrer-Policy: no-referrer\r\n"},
    Default{"permissions-policy", "Permissions-Policy: camera=(), microphone=(), geolocation=()\r\n"},
};
constexpr unsigned kOfPages = 2;
/// The first `count` defaults in a row, for the answers that set none of them.
template <std::size_t count>
constexpr auto kBlock = [] {
  constexpr std::size_t bytes = [] {
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) n += kDefaults[i].line.size();
    return n;
  }();
  std::array<char, bytes> block{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (const char c : kDefaults[i].line) block[at++] = c;
  return block;
}();

bool is_for_programs(std::string_view content_type) {
  return content_type.empty() || content_type.starts_with("application/json") ||
         content_type.starts_with("application/xml");
}

/// Appends the defaults that are not in `seen`.
template <std::size_t count>
void append_defaults(std::string& out, unsigned seen) {
  if ((seen & ((1u << count) - 1)) == 0) {
    out.append(kBlock<count>.data(), kBlock<count>.size());
    return;
  }
  for (unsigned i = 0; i < count; ++i)
    if ((seen & 1u << i) == 0) out += kDefaults[i].line;
}

constexpr unsigned kDate = 1u << 16;
constexpr unsigned kRequestId = 1u << 17;
constexpr unsigned kStrictTransport = 1u << 18;
constexpr unsigned kContentType = 1u << 19;
constexpr unsigned kFraming = 1u << 20;

/// Which of the names the writer minds this is; 0 for any other.
unsigned minded(std::string_view name) {
  if (name.size() < 4 || name.size() > 28) return 0;
  for (unsigned i = 0; i < kDefaults.size(); ++i)
    if (ascii::iequals(name, kDefaults[i].name)) return 1u << i;
  if (ascii::iequals(name, "content-type")) return kContentType;
  if (ascii::iequals(name, "date")) return kDate;
  if (ascii::iequals(name, "x-request-id")) return kRequestId;
  if (ascii::iequals(name, "strict-transport-security")) return kStrictTransport;
  if (ascii::iequals(name, "content-length") || ascii::iequals(name, "transfer-encoding") ||
      ascii::iequals(name, "connection") || ascii::iequals(name, "keep-alive"))
    return kFraming;
  return 0;
}

void append_number(std::string& out, std::uint64_t n) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

void append_status_line(std::string& out, Status status) {
  if (status == Status::ok) {  // by far the most
    out += "HTTP/1.1 200 OK\r\n";
    return;
  }
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::uint16_t>(status));
  out += ' ';
  out += reason(status);
  out += "\r\n";
}

void append_framing(std::string& out, const ReplyHead& head) {
  if (head.framing == Framing::length) {
    out += "Content-Length: ";
    append_number(out, head.length);
    out += "\r\n";
  } else if (head.framing == Framing::chunked) {
    out += "Transfer-Encoding: chunked\r\n";
  }
  if (head.close || head.framing == Framing::until_close)
    out += "Connection: close\r\n";
  else if (head.say_keep_alive)
    out += "Connection: keep-alive\r\n";
}

[[noreturn]] void refuse_field(const std::string& name) {
  throw Error(Errc::internal, "bad_header", "the header field " + name + " cannot be sent");
}

}  // namespace

void write_head(std::string& out, const ReplyHead& head) {
  append_status_line(out, head.status);
  unsigned seen = 0;
  if (head.fields) {
    for (const auto& field : *head.fields) {
      if (field.name.empty() || !ascii::all(field.name, ascii::kToken) ||
          !ascii::all(field.value, ascii::kValue))
        refuse_field(field.name);
      const unsigned which = minded(field.name);
      seen |= which;
      if (which == kFraming || (which == kContentType && !head.content_type.empty())) continue;
      if (which != 0 && field.value.empty()) continue;
      append_field(out, field.name, field.value);
    }
  }
  if (!head.content_type.empty()) {
    if (!ascii::all(head.content_type, ascii::kValue)) refuse_field("Content-Type");
    append_field(out, "Content-Type", head.content_type);
  }
  append_framing(out, head);
  if ((seen & kDate) == 0) append_field(out, "Date", head.date);
  if ((seen & kRequestId) == 0) append_field(out, "X-Request-Id", head.request_id);
  if (head.strict_transport && (seen & kStrictTransport) == 0)
    out += "Strict-Transport-Security: max-age=31536000\r\n";
  const auto type = head.content_type.empty() && head.fields ? head.fields->get("content-type")
                                                             : std::string_view(head.content_type);
  if (is_for_programs(type))
    append_defaults<kDefaults.size() - kOfPages>(out, seen);
  else
    append_defaults<kDefaults.size()>(out, seen);
  out += "\r\n";
}

}  // namespace welkin::http
