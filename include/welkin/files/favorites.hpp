#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

/// What a user marks for himself: favourites, and what he has opened last. A mark gives no right: what he can
/// read no longer, or what is in a trash, is not shown, and comes back with the right. Marks go with the
/// node.
namespace welkin::files {

struct Marked {
  Node node;      // as Files::node gives it
  Micros at = 0;  // when it was marked
};

/// `marked_at` and `modified_at`, `size`: whatever the kind; `name` (folded) and `type`, `owner`: folders
/// first, also in reverse.
enum class MarkOrder : std::uint8_t { marked_at, name, type, modified_at, size, owner };

struct MarkQuery {
  MarkOrder order_by = MarkOrder::marked_at;
  bool reverse = false;  // the order is rising but for `marked_at`, which begins with the newest
  bool folders = true, files = true;
  int limit = 50;
  std::string after;  // opaque `next` of the page before; what is none of ours begins anew
};
struct MarkPage {
  std::vector<Marked> items;
  std::string next;  // "" on the last page
};

/// Marking demands that the item can be read (else not_found) and a credential that may write (else
/// forbidden `read_only`). Taking a mark away demands no right to the item.
class Favorites {
 public:
  static constexpr std::int64_t kMax = 10'000;  // of one user

  explicit Favorites(db::Db& db) : db_(db) {}

  struct Added {
    std::int64_t requested = 0, inserted = 0;  // distinct items, and which of them were none yet
  };
  /// All or nothing, with one statement that asks the gate once for each folder the items are in.
  /// @throws Error not_found when one of them cannot be read; unprocessable `too_many_favorites`
  Task<Added> set(Caller caller, std::vector<NodeId> items);
  /// @return false: it was none
  Task<bool> unset(Caller caller, NodeId item);
  Task<MarkPage> list(Caller caller, MarkQuery query);
  /// Which of these are favourites of the caller: one statement, no gate. @return in rising order
  Task<std::vector<NodeId>> among(Caller caller, std::vector<NodeId> items);

 private:
  db::Db& db_;
};

class Recent {
 public:
  static constexpr std::int64_t kMax = 200;  // of one user; older ones are forgotten

  explicit Recent(db::Db& db) : db_(db) {}

  /// Now opened, by the caller's word: downloads alone do not count.
  Task<> touch(Caller caller, NodeId item);
  /// @return false: it was not there
  Task<bool> remove(Caller caller, NodeId item);
  /// Forgets everything; a credential for one folder forgets what is in there.
  Task<> clear(Caller caller);
  Task<MarkPage> list(Caller caller, MarkQuery query);

 private:
  db::Db& db_;
};

}  // namespace welkin::files
