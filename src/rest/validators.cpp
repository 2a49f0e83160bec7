#include "rest/validators.hpp"

#include <utility>

#include "rest/body.hpp"

#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/conditional.hpp"

namespace welkin::rest {

std::string listing_etag(std::initializer_list<std::string_view> parts) {
  std::string all = WELKIN_VERSION;  // the shape of the answer
  for (const auto part : parts) ((all += '\n') += std::to_string(part.size()) += ':') += part;
  const auto digest = crypto::sha256(all);
  return '"' + text::hex(as_bytes({reinterpret_cast<const char*>(digest.data()), 16})) + '"';
}

bool not_modified(const http::Request& rq, http::Reply& rp, const std::string& etag) {
  rp.set("ETag", etag);
  // Kept by the client but asked about each time; another user's answer must not be taken for it.
  rp.set("Cache-Control", "private, no-cache");
  rp.set("Vary", "Authorization, Cookie");
  if (!rq.headers().has("if-none-match")) return false;
  const auto known = http::parse_etags(rq.headers().joined("if-none-match"));
  return known && http::weak_match(*known, etag);
}

Task<> send_tagged(http::Request& rq, http::Reply& rp, std::string json) {
  const std::string user = std::to_string(rq.caller().user.value);
  if (not_modified(rq, rp, listing_etag({json, user}))) {
    co_await rp.send(http::Status::not_modified);
    co_return;
  }
  co_await send_json_text(rp, http::Status::ok, std::move(json));
}

}  // namespace welkin::rest
