#pragma once
#include <string>
#include <string_view>

namespace welkin::dav {

/// The change log's tokens as RFC 6578 wants them: URIs. Compared as text in the If header.
inline constexpr std::string_view kSyncTokenPrefix = "urn:welkin:sync:";

inline std::string sync_token_uri(std::string_view token) {
  return std::string(kSyncTokenPrefix).append(token);
}
/// "" when the URI is none of ours.
inline std::string_view token_of_uri(std::string_view uri) {
  return uri.starts_with(kSyncTokenPrefix) ? uri.substr(kSyncTokenPrefix.size()) : std::string_view();
}

}  // namespace welkin::dav
