#pragma once
#include "welkin/db/page_stream.hpp"
#include "welkin/files/browse.hpp"

namespace welkin::files::store {

/// Members of a folder after a name, in byte order. Parameters: folder, the gate's five, the folder's rights,
/// three wants, name, limit.
extern const db::Stmt kMembers;
/// The caller's mounts in a folder, as rows of the same shape. Parameters: folder, the gate's five, user,
/// three wants.
extern const db::Stmt kMounted;

/// A row of either, in views.
BrowseRow browse_row_of(const db::Row& row);
std::string_view name_of(const db::Row& row);

}  // namespace welkin::files::store
