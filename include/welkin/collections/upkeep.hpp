#pragma once
#include "welkin/db/db.hpp"

namespace welkin::collections {

inline constexpr int kTrashDays = 30;

/// Ends what was deleted longer than kTrashDays ago, some at a time: objects in the trash, then collections
/// with all that is in them. For the scheduler. @return true: more is waiting
bool purge_trash(db::Db& db);

}  // namespace welkin::collections
