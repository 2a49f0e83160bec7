#pragma once
#include <optional>
#include <string>

#include "welkin/db/db.hpp"

namespace welkin::blobs {

// What the store keeps in the table `settings`.
inline constexpr const char* kStoreIdKey = "store.id";
inline constexpr const char* kStoreSuspectKey = "store.suspect";
inline constexpr const char* kScrubCursorKey = "scrub.cursor";      // the last chunk looked at
inline constexpr const char* kScrubFinishedKey = "scrub.finished";  // when a walk last came to its end

std::optional<std::string> setting(db::Tx& tx, const char* key);
/// Leaves one that is there.
void keep_setting(db::Tx& tx, const char* key, const std::string& value);
void set_setting(db::Tx& tx, const char* key, const std::string& value);
void drop_setting(db::Tx& tx, const char* key);

/// Makes it last that the disk cannot be believed: in the data directory and in the database. Never throws.
void note_suspicion(db::Db& db, const std::string& data_dir, const std::string& reason);
/// What was noted; nullopt: nothing.
std::optional<std::string> noted_suspicion(db::Db& db, const std::string& data_dir);

}  // namespace welkin::blobs
