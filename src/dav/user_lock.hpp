#pragma once
#include "dav/change.hpp"

namespace welkin::dav {

/// Whether LOCK or UNLOCK is that of a user who keeps a file to himself for a while (X-User-Lock: 1).
bool is_user_lock(const Change& change);

/// -> 200 with the lock's properties; 423 with those of another's lock.
Task<> lock_by_hand(Change& change);
/// -> 200 with what is left; 412 when the file is not locked so; 423 when it is another's.
Task<> unlock_by_hand(Change& change);

}  // namespace welkin::dav
