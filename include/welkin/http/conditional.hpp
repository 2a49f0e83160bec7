#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/clock.hpp"
#include "welkin/http/message.hpp"

namespace welkin::http {

/// What RFC 9110 §13.2.2 decides before a method runs.
enum class Precondition { proceed, not_modified, failed };

/// An entity tag list: `*` or a list of tags with their quotes, W/ kept.
struct EtagList {
  bool any = false;
  std::vector<std::string> tags;
};
/// nullopt: malformed. @param value of If-Match or If-None-Match
std::optional<EtagList> parse_etags(std::string_view value);
/// Strong comparison (RFC 9110 §8.8.3.2): both strong and equal.
bool strong_match(const EtagList& list, std::string_view etag);
bool weak_match(const EtagList& list, std::string_view etag);

/// Evaluates If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since in the order of §13.2.2.
/// @param etag          the current strong tag with quotes; empty: the target does not exist
/// @param last_modified of the target; ignored when it does not exist. None: conditions on dates are ignored
/// (§13.1.3, §13.1.4)
/// @throws Error invalid `bad_precondition` when an etag list is malformed
Precondition evaluate(Method method, const Fields& headers, std::string_view etag,
                      std::optional<Micros> last_modified);

}  // namespace welkin::http
