#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {

/// Many items, one change.
struct Batch {
  enum class Op : std::uint8_t { move = 1, copy, trash, destroy, restore, purge, create_folders };
  /// What happens to a name that is taken at the target.
  enum class Conflict : std::uint8_t { refuse, replace, rename };
  Op op = Op::move;
  std::vector<NodeId> items;       // create_folders: the parents
  std::vector<std::string> names;  // create_folders: one for each parent
  NodeId all_in;                   // set: everything in this folder except `items`
  NodeId target;                   // move, copy
  Conflict conflict = Conflict::refuse;
  std::vector<db::Uuid> lock_tokens;
};

struct Batched {
  NodeId id;                            // as asked; create_folders: the parent
  Kind kind = Kind::file;               // of it, where it is known
  std::optional<Error> error;           // set: this item was refused, and nothing of it happened
  std::optional<Node> node;             // what came of it: move, copy, restore, create_folders
  std::int64_t folders = 0, files = 0;  // of a copy
};

class Trash;

class Batches {
 public:
  /// Items of one batch; of `all_in` more, since they need not be listed.
  static constexpr std::int32_t kItemsMax = 1'000, kAllItemsMax = 10'000;

  /// @param nodes_max  of one copy, and of one move to another drive
  Batches(db::Db& db, Trash& trash, std::int32_t nodes_max, bool windows_names)
      : db_(db), trash_(trash), nodes_max_(nodes_max), windows_names_(windows_names) {}

  /// In one transaction, in order; an item that is refused does not hinder the others. Restoring and deleting
  /// work as in trash.hpp. What came of the items is looked at afterwards, a few at a time, so that the drive
  /// is held for the changes only: `node` stays unset for what somebody has taken away in between.
  /// @throws Error unprocessable `too_many_items`; not_found for `all_in` itself
  Task<std::vector<Batched>> run(Caller caller, Batch batch);
  /// Looks only.
  Task<std::vector<Batched>> get(Caller caller, std::vector<NodeId> items);

 private:
  db::Db& db_;
  Trash& trash_;
  std::int32_t nodes_max_;
  bool windows_names_;
};

}  // namespace welkin::files
