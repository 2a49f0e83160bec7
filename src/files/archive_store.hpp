#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files::store {

/// A node as an archive needs it.
struct Leaf {
  std::size_t at = 0;  // which of the asked-for folders it is in
  NodeId id;
  Kind kind = Kind::file;
  std::string name;
  std::uint64_t size_bytes = 0;
  Micros modified_at = 0;
  ContentId content;
  std::uint32_t crc32 = 0;
};
/// For the rest of this transaction. Before `leaves`.
void read_by_index_only(db::Tx& tx);
/// What is in these folders, in no order; at most `limit`.
std::vector<Leaf> leaves(db::Tx& tx, const std::vector<std::int64_t>& folders, std::int64_t limit);

std::uint32_t crc32_of(db::Tx& tx, ContentId content);

/// Whether the caller still has the right to read a node, be it in the trash by now.
bool may_still_read(db::Tx& tx, const Caller& caller, NodeId node);

}  // namespace welkin::files::store
