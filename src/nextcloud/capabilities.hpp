#pragma once

/// Which of the things that clients know of this server has. A block of the capabilities goes with each.
namespace welkin::nextcloud {

inline constexpr bool kHasTrash = true;     // below /remote.php/dav/trashbin
inline constexpr bool kHasVersions = true;  // below /remote.php/dav/versions
inline constexpr bool kHasComments = false;
inline constexpr bool kHasLocking = true;  // LOCK and UNLOCK with X-User-Lock
inline constexpr bool kHasTags = false;
inline constexpr bool kHasUserStatus = true;
inline constexpr bool kHasPush = true;
inline constexpr bool kHasRecommendations = true;
inline constexpr bool kHasDirectEditing = true;
inline constexpr const char* kDirectEditingTag = "welkin-text-1";  // another one when the editors are others

}  // namespace welkin::nextcloud
