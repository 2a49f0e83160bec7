#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "files/node_store.hpp"
#include "welkin/files/search.hpp"

namespace welkin::files::store {

/// Drives in which the caller can read anything at all, so that indexes are asked for those only: the gate
/// decides about each node.
std::vector<std::int32_t> readable_drives(db::Tx& tx, const Caller& caller);

/// One page of hits. In a transaction: its statements are planned for the values they are run with.
SearchPage search(db::Tx& tx, const Caller& caller, const SearchQuery& query);

}  // namespace welkin::files::store
