#pragma once
#include <vector>

#include "welkin/core/id.hpp"
#include "welkin/db/db.hpp"

namespace welkin::media::store {

/// Those of `contents` that have a row no more.
std::vector<ContentId> gone(db::Tx& tx, const std::vector<ContentId>& contents);

}  // namespace welkin::media::store
