#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/versions.hpp"

/// The statements of versions. Reading says nothing of rights; changes decide them under the drive's lock.
namespace welkin::files::store {

/// Newest first, older than `before` (0: all).
std::vector<Version> versions(db::Tx& tx, NodeId file, VersionId before, int limit);
/// @throws Error not_found: not a version of this file
std::pair<Version, ContentId> require_version(db::Tx& tx, NodeId file, VersionId version);

void restore_version(db::Tx& tx, const Caller& caller, NodeId file, VersionId version, const Expect& expect,
                     const std::vector<db::Uuid>& lock_tokens);
/// @param label  "": none
void label_version(db::Tx& tx, const Caller& caller, NodeId file, VersionId version,
                   const std::string& label);
void delete_version(db::Tx& tx, const Caller& caller, NodeId file, VersionId version);

struct ExpiryStep {
  std::vector<std::pair<DriveId, std::vector<std::int64_t>>> expired;
  std::int64_t last = 0;  // where the next step goes on; 0: the end
};
ExpiryStep expired_versions(db::Tx& tx, std::int64_t after, std::int32_t days, std::int32_t keep,
                            std::int32_t limit);
void expire_versions(db::Tx& tx, DriveId drive, const std::vector<std::int64_t>& ids, std::int32_t days,
                     std::int32_t keep);

}  // namespace welkin::files::store
