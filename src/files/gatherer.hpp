#pragma once
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "welkin/blobs/store.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/core/event.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {

/// A sealed body with everything its commit needs.
struct Commit {
  const Caller* caller = nullptr;  // outlives the commit
  DriveId drive;
  NodeId parent, file;  // file: replace this one's content
  std::string name;
  const blobs::Sealed* body = nullptr;
  UploadId upload;  // the uploads row that ends with this commit; 0: none
  Micros modified_at = 0;
  std::int16_t mime = 0;
  std::int16_t expect = 0;    // as commit_files documents
  std::string etags, tokens;  // comma-separated
  bool overwrite = true;
};

struct Committed {
  NodeId node, parent;
  std::string name;
  ContentId content;
  std::int64_t seq = 0;
  bool created = false;
  Micros created_at = 0;
  std::int32_t rights = 0;
  UserId creator;
};

/// Group commit per drive. There is no timer and no thread: whoever comes while nothing is being committed
/// commits at once, alone; whoever comes meanwhile waits, and all that wait together become the next group,
/// led by its first member (a lone writer pays nothing for company he does not have). A group is complete
/// when its transaction begins.
///
/// A group is of one caller, at most kGroupItemsMax items and kGroupBytesMax inline bytes, with distinct
/// targets. An item's own refusal concerns that item; a failure of the group as a whole is tried again item
/// by item.
class Gatherer {
 public:
  static constexpr std::size_t kGroupItemsMax = 64;
  static constexpr std::uint64_t kGroupBytesMax = 4 << 20;

  Gatherer(db::Db& db, blobs::Store& store) : db_(db), store_(store) {}

  /// Returns when the change is on stable storage; tells the store whether the body was recorded.
  /// @throws Error as commit_files refuses; unavailable: it may or may not have happened
  Task<Committed> commit(const Commit& item);

  /// One item inside the caller's transaction, which tells the store of its outcome. @throws Error as
  /// commit_files refuses
  Committed commit_in(db::Tx& tx, const Commit& item);

  /// For the benches' BEFORE arm: every item is its own group.
  void set_group_items_max(std::size_t n) { group_items_max_ = n; }

 private:
  struct Waiting {
    const Commit* item;
    Event turn;  // set when the result is there, or when this one has to lead
    bool leads = false;
    bool done = false;
    Committed result;
    std::exception_ptr failure;
  };
  struct Queue {
    std::deque<Waiting*> waiting;
    bool busy = false;
  };
  using Group = std::vector<Waiting*>;

  /// The leader, who is the first that waits, and whoever may go with him.
  Group take_group(std::int64_t drive);
  Group take_leader(std::int64_t drive);
  Task<> lead(std::int64_t drive, Waiting& leader);
  /// An empty group is taken when its transaction begins: until then others may still come.
  Task<> run(Group& group, std::int64_t drive);
  void commit_group(db::Tx& tx, Group& group);
  void pass_on(std::int64_t drive);

  db::Db& db_;
  blobs::Store& store_;
  std::size_t group_items_max_ = kGroupItemsMax;
  std::mutex mutex_;
  std::unordered_map<std::int64_t, Queue> queues_;
};

}  // namespace welkin::files
