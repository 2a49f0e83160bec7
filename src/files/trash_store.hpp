#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/trash.hpp"

/// The statements of the trash. All of them decide rights themselves.
namespace welkin::files::store {

/// A place in the order of a listing, newest first.
struct TrashMark {
  Micros at = 253'402'300'799'000'000;  // the end of the year 9999
  std::int64_t id = std::numeric_limits<std::int64_t>::max();
};

std::vector<Trashed> trashed(db::Tx& tx, const Caller& caller, DriveId drive, const TrashMark& after,
                             int limit);
/// @throws Error not_found
Trashed require_trashed(db::Tx& tx, const Caller& caller, NodeId id);
/// The caller's personal drive. @throws Error not_found
DriveId own_drive(db::Tx& tx, const Caller& caller);

void trash(db::Tx& tx, const Caller& caller, NodeId id, const Expect& expect,
           const std::vector<db::Uuid>& lock_tokens, bool for_good = false);
void restore(db::Tx& tx, const Caller& caller, NodeId id, const std::vector<db::Uuid>& lock_tokens);
void mark_purged(db::Tx& tx, const Caller& caller, NodeId id);
std::int64_t mark_all_purged(db::Tx& tx, const Caller& caller, DriveId drive);

void mark_expired(db::Tx& tx, Micros older_than, int limit);
/// Marked items of a drive, 0: of any.
std::vector<NodeId> marked_items(db::Tx& tx, DriveId drive, int limit);
/// @return whether the item is gone
bool purge_batch(db::Tx& tx, NodeId item, int rows);

}  // namespace welkin::files::store
