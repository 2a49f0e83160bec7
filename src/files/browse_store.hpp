#pragma once
#include "welkin/db/page_stream.hpp"
#include "welkin/files/browse.hpp"

namespace welkin::files::store {

/// Members of a folder after a name, in byte order. Parameters: folder, the gate's five, name, limit.
extern const db::Stmt kMembers;
/// The same with digests and authors. Parameters: two wants before the name.
extern const db::Stmt kMembersTold;
/// The caller's mounts in a folder, as rows of the shape of kMembersTold. Parameters: folder, the gate's
/// five, user, two wants.
extern const db::Stmt kMounted;

/// A row of either, in views, but for the media type.
/// @param folder_rights  of members without grants of their own
/// @param told  digests and author are among its columns
BrowseRow browse_row_of(const db::Row& row, std::int32_t folder_rights, bool told);
std::string_view name_of(const db::Row& row);
std::int16_t type_of(const db::Row& row);  // 0: none

}  // namespace welkin::files::store
