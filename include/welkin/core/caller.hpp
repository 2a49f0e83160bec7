#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/id.hpp"

namespace welkin {

/// What may be done with a node: the bits of drive_members.rights, grants.rights and links.rights.
namespace rights {
inline constexpr std::int32_t kRead = 1;
inline constexpr std::int32_t kComment = 2;
inline constexpr std::int32_t kCreate = 4;
inline constexpr std::int32_t kUpdate = 8;
inline constexpr std::int32_t kDelete = 16;
inline constexpr std::int32_t kShare = 32;
inline constexpr std::int32_t kManage = 64;
// Roles are names for masks.
inline constexpr std::int32_t kViewer = kRead;
inline constexpr std::int32_t kCommenter = kRead | kComment;
inline constexpr std::int32_t kContributor = kRead | kCreate;
inline constexpr std::int32_t kEditor = kRead | kComment | kCreate | kUpdate | kDelete;
inline constexpr std::int32_t kOwner = 127;
}  // namespace rights

/// Protocol families an app password can be limited to: bits of app_passwords.protocols.
namespace protocols {
inline constexpr std::int32_t kWebdav = 1;
inline constexpr std::int32_t kCaldav = 2;
inline constexpr std::int32_t kCarddav = 4;
inline constexpr std::int32_t kNextcloud = 8;
inline constexpr std::int32_t kRest = 16;
inline constexpr std::int32_t kAll = 31;
}  // namespace protocols

/// How somebody proved who they are.
enum class Credential : std::uint8_t { none, session_bearer, session_cookie, app_password, account_password, link };

/// Who asks. Made by people::Authenticator at the door, passed down unchanged, never widened.
struct Caller {
  UserId user;                         // 0 for link callers and for nobody
  std::string name;                    // users.name, the id in DAV paths
  bool is_admin = false;
  std::vector<std::int64_t> subjects;  // the user and his groups: what grants and members are matched against
  Credential credential = Credential::none;
  SessionId session;                   // set for session_*
  AppPasswordId app_password;          // set for app_password
  std::int64_t generation = 0;         // of the account (users.access_gen), set for account_password
  // Limits of the credential. They narrow whatever the gate allows.
  std::int32_t rights_mask = rights::kOwner;   // a read-only app password: kRead
  std::int32_t protocol_mask = protocols::kAll;
  NodeId root_limit;                   // 0: none; else only this folder and what is below it exists for the caller
  // A link is a principal of its own: it may do `link_rights` at and below `link_node`, nothing elsewhere.
  LinkId link;
  NodeId link_node;
  std::int32_t link_rights = 0;
};

}  // namespace welkin
