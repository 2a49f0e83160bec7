#pragma once
#include <cstdint>
#include <string>

#include "welkin/blobs/store.hpp"
#include "welkin/core/id.hpp"
#include "welkin/db/db.hpp"

namespace welkin::media {

/// Writes a content, or its first `bytes_max` bytes, to a new file, checked as for any reader. Blocks; on
/// threads of a pool only. @throws Error not_found: the content is gone; internal `content_damaged`;
/// unavailable
void write_body(db::Db& db, blobs::Store& store, ContentId content, const std::string& path,
                std::uint64_t bytes_max = UINT64_MAX);

}  // namespace welkin::media
