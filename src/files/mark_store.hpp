#pragma once
#include <cstdint>
#include <vector>

#include "files/node_store.hpp"
#include "welkin/files/favorites.hpp"

namespace welkin::files::store {

enum class MarkTable : std::uint8_t { favorites, recent };

/// One page of what the caller has marked and can read. Candidates are taken in order, some at a time, and
/// asked about at the gate until the page is full.
MarkPage marks(db::Tx& tx, const Caller& caller, MarkTable table, const MarkQuery& query);

struct Marking {
  std::int64_t readable = 0, inserted = 0, before = 0;
};
/// Inserts all of `items`, which are distinct, or none when one cannot be read or the user would have more
/// than `max`.
Marking add_favorites(db::Tx& tx, const Caller& caller, const std::vector<NodeId>& items, std::int64_t max);
/// @return how many of the distinct items can be read
std::int64_t count_readable(db::Tx& tx, const Caller& caller, const std::vector<NodeId>& items);
bool is_marked(db::Tx& tx, MarkTable table, const Caller& caller, NodeId item);
bool unmark(db::Tx& tx, MarkTable table, const Caller& caller, NodeId item);
std::vector<NodeId> favorites_among(db::Tx& tx, const Caller& caller, const std::vector<NodeId>& items);

/// @return false: it cannot be read
bool touch_recent(db::Tx& tx, const Caller& caller, NodeId item, std::int64_t keep);
void clear_recent(db::Tx& tx, const Caller& caller);

}  // namespace welkin::files::store
