#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/params.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {

struct UploadRoom;
using LockToken = db::Uuid;

/// A write lock (RFC 4918 §6, §7): binds everybody who does not submit its token, its own user too. It sits
/// on one node and covers it, with `infinite` everything below, also what is made there later; on a folder it
/// covers the membership too. Kept in the database, so it survives restarts and binds every protocol.
struct Lock {
  db::Uuid token{};
  NodeId root;             // the node it was taken on
  UserId owner;            // 0: an application's
  std::string owner_name;  // users.name; "" for an application or a user who is gone
  bool mine = false;       // the caller's; only then may he see or use the token
  bool exclusive = true;
  bool infinite = false;
  bool on_folder = false;     // what `root` is
  bool by_hand = false;       // a user has set it to keep others out for a while
  std::string owner_xml;      // as the client sent it
  std::uint32_t seconds = 0;  // the length last granted
  Micros expires_at = 0;
  // Where `root` lies as seen from the node that was asked about: that many levels above, or these names
  // below. A root that the caller may not see is told as the node itself.
  std::size_t levels_up = 0;
  std::vector<std::string> names_below;
};

struct LockRequest {
  bool exclusive = true;
  bool infinite = false;
  std::uint32_t seconds = 3600;
  std::string owner_xml;
  bool by_hand = false;
};

/// Either the lock, or those that stand against it (at most 100).
struct LockResult {
  std::optional<Lock> lock;
  std::vector<Lock> conflicts;
  std::optional<Node> made;  // the empty file, when the name was free
};

class Locks {
 public:
  /// Shared locks on one node, and locks of one user, at the same time.
  static constexpr std::int32_t kPerNodeMax = 64, kPerUserMax = 1000;

  explicit Locks(std::shared_ptr<UploadRoom> room) : room_(std::move(room)) {}

  /// The live locks that cover the node, those from above too. Empty also when the caller may not read it.
  Task<std::vector<Lock>> covering(Caller caller, NodeId node);
  /// The live locks whose root is one of `nodes` (which the caller has been shown): a page of a listing asks
  /// once. What covers a member is this and the `infinite` ones of `covering` its folder.
  Task<std::vector<Lock>> on(Caller caller, std::vector<NodeId> nodes);
  /// Whether there is any live lock in the drive of a node: where there is none, no page needs to ask.
  Task<bool> any_in_drive_of(NodeId node);

  /// Needs the right to change the node. @throws Error not_found, forbidden (also `too_many_locks`)
  Task<LockResult> lock(Caller caller, NodeId node, LockRequest request);
  /// A lock on a free name (RFC 4918 §7.3): makes an empty file and locks it in one step.
  /// @param lock_tokens  for locks that cover the membership of `parent`
  /// @throws Error precondition_failed when the name is taken by now; what begin_upload throws
  Task<LockResult> lock_new(Caller caller, NodeId parent, std::string name, LockRequest request,
                            std::vector<db::Uuid> lock_tokens);
  /// Starts the lock's time again; `seconds` unset: with its old length. `node` is any node it covers.
  /// @throws Error not_found; precondition_failed `lock_token_matches_request_uri` when no live lock of the
  /// caller with that token covers it
  Task<Lock> refresh(Caller caller, NodeId node, db::Uuid token, std::optional<std::uint32_t> seconds);
  /// Ends a lock; `node` is any node it covers. @param may_break  also somebody else's, for who may manage
  /// the node the lock is on.
  /// @throws Error not_found; conflict `lock_token_matches_request_uri`: no such lock covers it; forbidden
  /// `not_lock_owner`
  Task<> unlock(Caller caller, NodeId node, db::Uuid token, bool may_break = false);

  /// What a write would touch, and the tokens it submits.
  struct Touch {
    NodeId node;              // what is changed; for a new name: its future folder
    bool is_new = false;      // a name in `node` is to be made
    bool deep = false;        // what is below goes along (delete, move)
    bool membership = false;  // the folder of `node` loses or renames a member (delete, move)
  };
  /// The locks in the way of such a write: to word a refusal, never to decide one. Seen from `touch.node`.
  Task<std::vector<Lock>> blocking(Caller caller, Touch touch, std::vector<db::Uuid> lock_tokens);

  // --- upkeep, for the scheduler: each one bounded turn on the calling thread; true: more is waiting
  bool expire();
  /// Puts files into the trash that a lock made a day ago and nobody has written or locked since.
  bool put_away_unwritten(std::uint32_t older_than_seconds = 86'400);

 private:
  std::shared_ptr<UploadRoom> room_;
};

/// `opaquelocktoken:<uuid>` (RFC 4918 §6.5), a new random one.
db::Uuid new_lock_token();
std::string lock_token_uri(const db::Uuid& token);
/// nullopt: no token of ours. Letters of either case.
std::optional<db::Uuid> parse_lock_token(std::string_view uri);

}  // namespace welkin::files
