#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "welkin/core/bytes.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

namespace welkin::http {

/// A stored body about to be served.
struct UserBody {
  std::string name;                     // for Content-Disposition
  std::string mime_type;                // as stored; sent as it is only when no browser could run it
  std::string etag;                     // strong, with quotes
  std::optional<Micros> last_modified;  // none: dates in conditions never hold, tags do
  std::uint64_t size_bytes;
  bool inline_asked = false;  // ?inline
  std::string cache_control = "private, no-cache";
  /// Feeds one slice into the sink.
  std::function<Task<>(Slice, ByteSink&)> feed;
};

/// The one function that serves users' bytes (security check SV-01): conditional requests, If-Range, single
/// and multi range, 416, HEAD; types that a browser could run are sent as attachments; nosniff and a
/// sandboxing policy always. 304 and 416 are sent from here; a failed precondition is thrown, so that the
/// protocol words it. Bodies are never compressed: ranges and strong tags are about the stored bytes.
/// @throws Error precondition_failed `precondition`, invalid `bad_precondition`; whatever `feed` throws
Task<> serve_body(Request& rq, Reply& rp, const UserBody& body);

/// `attachment; filename="a.txt"; filename*=UTF-8''a.txt` (RFC 6266): ASCII fallback, no CR, LF, quotes or
/// bidi.
std::string content_disposition(std::string_view kind, std::string_view name);
/// Whether a browser may show this stored type inline.
bool may_show_inline(std::string_view mime_type);
/// The Content-Type to send for a stored type: itself when it is passive (images but SVG, sound, video,
/// fonts, office files, text that nothing executes), else text/plain or application/octet-stream. Text always
/// says UTF-8.
std::string safe_content_type(std::string_view mime_type);

}  // namespace welkin::http
