#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {

/// What was deleted, one entry for a whole tree. A drive has one trash. A member of the drive who may delete
/// sees it; others see in it what they deleted themselves, as long as they still may at the place it came
/// from. What only a grant allows never destroys anything for good: that is the members'.
struct Trashed {
  NodeId id;
  DriveId drive;
  Kind kind = Kind::file;
  std::string name;              // as it was called
  std::string original_path;     // "/a/b.txt" from the drive's root; "" when the folder is gone or not the
                                 // caller's to see
  std::uint64_t size_bytes = 0;  // with everything below it
  std::string mime_type;         // files
  Micros trashed_at = 0, modified_at = 0;
  UserId trashed_by;  // 0: by a link, or gone
};

struct TrashPage {
  std::vector<Trashed> items;  // newest first
  std::string next;            // opaque; "" on the last page
};

class Batches;

class Trash {
 public:
  Trash(db::Db& db, const Config& config, const Clock& clock);

  /// @param drive  0: all the caller's. @param after  `next` of the page before; one that is not ours begins
  /// anew
  Task<TrashPage> list(Caller caller, DriveId drive, std::string after, int limit);
  /// @throws Error not_found: nothing the caller may see in a trash
  Task<Trashed> item(Caller caller, NodeId id);
  /// Back to the folder it came from, or, when that is gone, to the root of its drive; under its name, or "a
  /// (2).txt" where that is taken. @throws Error not_found; forbidden; locked
  Task<Node> restore(Caller caller, NodeId id, std::vector<db::Uuid> lock_tokens = {});
  /// Ends an item for good: invisible at once, its rows follow in bounded steps, its bytes after the
  /// collector's grace. @throws Error not_found; forbidden when only a grant leads to it
  Task<> purge(Caller caller, NodeId id);
  /// Everything in a drive's trash; 0: the caller's own drive. @return how many items. @throws Error
  /// not_found; forbidden
  Task<std::int64_t> empty(Caller caller, DriveId drive = {});
  /// Deletes without a stop in the trash. @throws Error as Files::trash, and forbidden when only a grant
  /// leads to it
  Task<> destroy(Caller caller, NodeId id, Expect expect = {}, std::vector<db::Uuid> lock_tokens = {});

  /// When the rule of age ends an item.
  Micros expiry(const Trashed& item) const;

  // --- upkeep, for the scheduler: one bounded turn on the calling thread; true: more is waiting
  /// Ends items older than config.trash_keep_days, and goes on with what is marked.
  bool purge_turn();

 private:
  friend class Batches;
  Task<> remove_rows(std::vector<NodeId> items);

  db::Db& db_;
  const Clock& clock_;
  std::int32_t keep_days_;
};

}  // namespace welkin::files
