#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "welkin/collections/collections.hpp"
#include "welkin/http/request.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav::groupware {

/// "urn:welkin:collection:{uid}/1-17": the value of DAV:sync-token and getctag, which so change together. A
/// URI with a colon and a slash, because there are clients that look for them.
std::string write_token(const collections::Collection& collection);
std::string write_token(const collections::Collection& collection, std::int64_t seq);

/// The number a token stands for; nullopt when this collection never gave it away.
std::optional<std::int64_t> read_token(const collections::Collection& collection, std::string_view token);

/// The question of a DAV:sync-collection (RFC 6578 §3.2), whatever it is asked of.
struct SyncQuestion {
  std::string token;  // "": from the beginning
  bool is_infinite = false;
  std::optional<std::uint64_t> limit;
};
/// Depth is not looked at: clients send every value, and the level says it all. It may be missing from
/// clients of the drafts, which said it with Depth. @throws Error invalid `bad_report`
SyncQuestion read_sync_question(const http::Request& rq, const wire::XmlElement& body);

}  // namespace welkin::dav::groupware
