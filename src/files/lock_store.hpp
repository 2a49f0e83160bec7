#pragma once
#include <optional>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/locks.hpp"

/// Rows of `locks`. What forbids a change is decided by the SQL function `is_locked`, inside that change.
namespace welkin::files::store {

/// $1 a node: whether anything in its drive is locked.
extern const db::Stmt kAnyInDrive;
std::vector<Lock> covering_locks(db::Tx& tx, const Caller& caller, NodeId node);
std::vector<Lock> locks_on(db::Tx& tx, const Caller& caller, const std::vector<NodeId>& nodes);
std::vector<Lock> blocking_locks(db::Tx& tx, const Caller& caller, const Locks::Touch& touch,
                                 const std::vector<db::Uuid>& tokens);

/// Whether a lock forbids to write this file, or to add a name to this folder: early, to spare a client the
/// sending.
bool is_locked(db::Tx& tx, const Caller& caller, NodeId node, bool is_folder_of_new,
               const std::vector<db::Uuid>& tokens);

/// Inserts the lock with this token. @param right  what the caller must have on the node; 0: checked already
/// @return the locks against it; empty: it is there. @throws Error as `lock_node` refuses
std::vector<Lock> insert_lock(db::Tx& tx, const Caller& caller, NodeId node, std::int32_t right,
                              const db::Uuid& token, const LockRequest& request);
/// False when no live lock of the caller with that token covers the node, or he may not write there any more.
bool refresh_lock(db::Tx& tx, const Caller& caller, NodeId node, const db::Uuid& token,
                  std::optional<std::uint32_t> seconds);
void delete_lock(db::Tx& tx, const db::Uuid& token);
/// Remembers that `node` was made by a lock, with the change that made it.
void mark_born(db::Tx& tx, NodeId node, std::int64_t seq);

/// At most 1000 of them. @return whether there may be more
bool expire_locks(db::Tx& tx);
bool put_away_unwritten(db::Tx& tx, std::uint32_t older_than_seconds);

}  // namespace welkin::files::store
