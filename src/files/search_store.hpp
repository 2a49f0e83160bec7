#pragma once
#include <string>
#include <vector>

#include "files/node_store.hpp"
#include "welkin/files/search.hpp"

namespace welkin::files::store {

/// One page of hits. In a transaction: its statements are planned for the values they are run with.
SearchPage search(db::Tx& tx, const Caller& caller, const SearchQuery& query);

}  // namespace welkin::files::store
