#pragma once
#include <string>

#include "files/node_store.hpp"

namespace welkin::files::store {

/// One page of a readable folder. Folders come first whatever the order; each phase reads an index in order,
/// but for the few orders that must sort, and those are refused above Files::kSortedChildrenMax children.
/// @throws Error unprocessable `too_many_to_sort`
Page page(db::Tx& tx, const Caller& caller, const Found& folder, const ListQuery& query);

}  // namespace welkin::files::store
