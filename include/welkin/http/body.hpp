#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "welkin/core/bytes.hpp"
#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

namespace welkin::http {

/// A stored body about to be served.
struct UserBody {
  std::string name;        // for Content-Disposition
  std::string mime_type;   // as stored
  std::string etag;        // strong, with quotes
  Micros last_modified;
  std::uint64_t size_bytes;
  bool inline_asked = false;                       // ?inline
  std::string cache_control = "private, no-cache";
  /// Feeds one slice into the sink.
  std::function<Task<>(Slice, ByteSink&)> feed;
};

/// The one function that serves users' bytes (security check SV-01): conditional requests, If-Range, single and multi
/// range, 416, HEAD; types that a browser could run are sent as attachments; nosniff and a sandboxing policy always.
/// Precondition answers 304/412 are sent from here too.
Task<> serve_body(Request& rq, Reply& rp, const UserBody& body);

/// `attachment; filename="a.txt"; filename*=UTF-8''a.txt` (RFC 6266): ASCII fallback, no CR, LF, quotes or bidi.
std::string content_disposition(std::string_view kind, std::string_view name);
/// Whether a browser may show this stored type inline.
bool may_show_inline(std::string_view mime_type);

}  // namespace welkin::http
