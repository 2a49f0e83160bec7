#pragma once
#include <cstdint>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/db/db.hpp"

namespace welkin::files::store {

/// How far a drive is.
struct DriveState {
  std::int64_t drive = 0, epoch = 0, seq = 0, pruned_seq = 0;
};
std::vector<DriveState> drive_states(db::Tx& tx, const std::vector<std::int64_t>& drives);
/// Those in which the caller may read something, at most `limit`.
std::vector<DriveState> seen_drives(db::Tx& tx, const Caller& caller, std::int64_t limit);

struct Touched {
  std::vector<std::int64_t> folders;  // that the caller may read
  bool too_much = false;
};
/// Where the log of a drive has rows with numbers in (from, to].
Touched touched_folders(db::Tx& tx, const Caller& caller, std::int64_t drive, std::int64_t from,
                        std::int64_t to, int rows_max, std::int64_t folders_max);

}  // namespace welkin::files::store
