#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "files/sync_token.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

/// The change log and what is needed to say where its rows are. Rights are those of the folder that was asked
/// about: who may read it may read everything below it, for rights only add up on the way down.
namespace welkin::files::store {

/// What a folder's token is made of and compared with.
struct SyncHead {
  SyncToken token;       // of now
  std::int64_t seq = 0;  // the drive's
  std::int64_t pruned_seq = 0;
  std::int32_t rights = 0;
};
extern const db::Stmt kSyncHead;
db::Params sync_head_params(const Caller& caller, NodeId folder);
/// @throws Error not_found; invalid `not_a_folder`
SyncHead sync_head(NodeId folder, const db::Rows& rows);

namespace op {
inline constexpr std::int16_t kCame = 1, kWent = 3;
}

/// A row of the log, with the node as it is now.
struct LogRow {
  LogMark mark;
  std::int64_t parent = 0;  // as logged
  std::string old_name;     // of kWent
  bool exists = false;      // the node is a row still, in this drive; the rest is set only then
  std::int64_t parent_now = 0;
  std::string name_now;
  bool is_folder = false;
};
/// In order, behind `from` and up to the end of number `upto`.
std::vector<LogRow> log_rows(db::Tx& tx, std::int64_t drive, const LogMark& from, std::int64_t upto,
                             int limit);

/// The comings and goings of some folders in all of the log up to `upto`.
struct Travels {
  struct Stay {
    std::int64_t parent;
    std::string name;
  };
  std::int64_t last_came = 0;  // number; 0: never
  std::vector<Stay> left;      // where it was once
};
std::unordered_map<std::int64_t, Travels> travels(db::Tx& tx, std::int64_t drive, std::int64_t upto,
                                                  const std::vector<std::int64_t>& folders);

/// Ways from nodes up to one folder, learnt in bulk.
class Ways {
 public:
  struct Step {
    std::int64_t parent = 0;
    std::string name;
    std::int32_t granted = 0;  // to the caller, on this very node
  };
  struct Place {
    std::string path;                 // below the folder; "" is the folder itself
    std::int32_t granted = 0;         // on the way, below the folder
    std::vector<std::int64_t> chain;  // the node first, without the folder
  };
  Ways(std::int64_t folder, const Caller& caller) : folder_(folder), caller_(caller) {}
  void learn(db::Tx& tx, const std::vector<std::int64_t>& nodes);
  /// nullopt: not below the folder now, nor the folder itself. The node was learnt.
  std::optional<Place> find(std::int64_t node) const;
  const Step* step(std::int64_t node) const;

 private:
  std::int64_t folder_;
  const Caller& caller_;
  std::unordered_map<std::int64_t, Step> steps_;
};

struct Child {
  std::int64_t id = 0;
  bool is_folder = false;
  std::string name;
  std::int32_t granted = 0;
};
/// In byte order of names, behind `after`.
std::vector<Child> children(db::Tx& tx, const Caller& caller, std::int64_t folder, const std::string& after,
                            int limit);
/// Who has these names now: one entry a pair, id 0 where nobody has.
std::vector<Child> holders(db::Tx& tx, const std::vector<std::int64_t>& parents,
                           const std::vector<std::string>& names);

struct GrantedNode {
  Node node;
  std::int32_t granted = 0;  // on the node itself
};
std::unordered_map<std::int64_t, GrantedNode> nodes(db::Tx& tx, const Caller& caller,
                                                    const std::vector<std::int64_t>& ids);

/// The next drive behind `drive` that has rows in the log; 0: none.
std::int64_t next_logged_drive(db::Tx& tx, std::int64_t drive);
/// @return false: nothing was due
bool prune(db::Tx& tx, std::int64_t drive, std::int64_t before_seconds, std::int32_t keep_rows,
           std::int32_t batch);

}  // namespace welkin::files::store
