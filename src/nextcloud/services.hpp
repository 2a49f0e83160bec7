#pragma once
#include "welkin/nextcloud/nextcloud.hpp"

namespace welkin::nextcloud {

/// The same as WebDAV knows them.
inline dav::Services dav_services(const Services& s) {
  return {s.people, s.files, s.collections, s.scheduling, s.config, s.clock, s.birthdays, s.subscriptions};
}

/// App passwords that are let in below /remote.php.
inline constexpr std::int32_t kFileProtocols = protocols::kNextcloud | protocols::kWebdav;
inline constexpr std::int32_t kGroupwareProtocols =
    protocols::kNextcloud | protocols::kCaldav | protocols::kCarddav;

/// Answers below an address what no route there does: 405 with Allow, to who is known.
http::Router::Fallback refusing_methods(http::Middleware errors, http::Middleware authenticate);

}  // namespace welkin::nextcloud
