#include "welkin/http/body.hpp"

#include <optional>

#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/http/problem.hpp"
#include "welkin/http/range.hpp"

namespace welkin::http {
namespace {

/// What lets a stored body do nothing in a browser: no script, no form, no frame, an origin of its own.
constexpr auto kSandbox =
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'";

void set_headers(Reply& rp, const UserBody& body) {
  const bool shown = body.inline_asked && may_show_inline(body.mime_type);
  rp.set("Content-Disposition", content_disposition(shown ? "inline" : "attachment", body.name));
  rp.set("Content-Security-Policy", kSandbox);
  rp.set("Cross-Origin-Resource-Policy", "same-site");
  rp.set("Cache-Control", body.cache_control);
  rp.set("ETag", body.etag);
  if (body.last_modified) rp.set("Last-Modified", times::http_date(*body.last_modified));
  rp.set("Accept-Ranges", "bytes");
}

/// The slices to send: empty for the whole body, nullopt when none can be (416).
std::optional<std::vector<Slice>> wanted(Request& rq, const UserBody& body) {
  // Ranges are defined for GET only (RFC 9110 §14.2).
  if (rq.method() != Method::get || !rq.headers().has("range") ||
      !if_range_holds(rq.headers(), body.etag, body.last_modified))
    return std::vector<Slice>{};
  try {
    return parse_range(rq.headers().joined("range"), body.size_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Task<> send_unsatisfiable(Request& rq, Reply& rp, const UserBody& body) {
  rp.reset();
  rp.set("Content-Range", "bytes */" + std::to_string(body.size_bytes));
  co_await rp.send(Status::range_not_satisfiable, "application/json",
                   error_json(Status::range_not_satisfiable, "range",
                              "no byte of the requested range is in the body", rq.id()));
}

/// multipart/byteranges (RFC 9110 §14.6).
Task<> send_parts(Reply& rp, const UserBody& body, const std::string& type,
                  const std::vector<Slice>& slices) {
  const auto boundary = crypto::random_token(18);  // nobody can put into a file what nobody knows
  const auto closing = "\r\n--" + boundary + "--\r\n";
  std::vector<std::string> openings;
  std::uint64_t length = closing.size();
  for (const auto& slice : slices) {
    std::string opening = openings.empty() ? "--" : "\r\n--";
    opening.append(boundary).append("\r\nContent-Type: ").append(type);
    opening.append("\r\nContent-Range: ").append(content_range(slice, body.size_bytes)).append("\r\n\r\n");
    length += opening.size() + slice.length;
    openings.push_back(std::move(opening));
  }
  const auto multipart = "multipart/byteranges; boundary=" + boundary;
  co_await rp.begin(Status::partial_content, multipart, length);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    co_await rp.write(openings[i]);
    co_await body.feed(slices[i], rp);
  }
  co_await rp.write(closing);
  co_await rp.end();
}

}  // namespace

Task<> serve_body(Request& rq, Reply& rp, const UserBody& body) {
  const auto decision = evaluate(rq.method(), rq.headers(), body.etag, body.last_modified);
  if (decision == Precondition::failed)
    throw Error(Errc::precondition_failed, "precondition", "the body is not the one the request expects");
  set_headers(rp, body);
  if (decision == Precondition::not_modified) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  const auto type = safe_content_type(body.mime_type);
  const auto slices = wanted(rq, body);
  if (!slices) {
    co_await send_unsatisfiable(rq, rp, body);
    co_return;
  }
  if (slices->size() > 1) {
    co_await send_parts(rp, body, type, *slices);
    co_return;
  }
  Slice slice{0, body.size_bytes};
  auto status = Status::ok;
  if (!slices->empty()) {
    slice = slices->front();
    status = Status::partial_content;
    rp.set("Content-Range", content_range(slice, body.size_bytes));
  }
  co_await rp.begin(status, type, slice.length);
  if (rq.method() != Method::head && slice.length > 0) co_await body.feed(slice, rp);
  co_await rp.end();
}

}  // namespace welkin::http
