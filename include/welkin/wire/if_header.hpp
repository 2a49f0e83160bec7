#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::wire {

/// One thing a list demands: `<token>`, `["etag"]`, either with `Not`.
struct IfCondition {
  bool negated = false;
  bool is_etag = false;
  std::string value;  // the token's URI without brackets; the entity tag with its quotes, W/ kept
};

struct IfList {
  bool tagged = false;
  std::string resource;  // the URI it speaks of, without brackets; untagged: the request's
  std::vector<IfCondition> conditions;
};

/// The If header of RFC 4918 §10.4: true when any list is, a list when all its conditions are.
struct IfHeader {
  std::vector<IfList> lists;
};

struct IfParsed {
  IfHeader header;
  const char* fault = nullptr;  // nullptr: read; else what is wrong, and `header` means nothing
};

inline constexpr std::size_t kIfBytesMax = 8192, kIfListsMax = 32, kIfConditionsMax = 32;

/// Never throws but for memory. `Not` in either case; blanks and tabs between any two parts; URIs are taken
/// as they are (clients put blanks and UTF-8 there).
IfParsed parse_if(std::string_view value);

}  // namespace welkin::wire
