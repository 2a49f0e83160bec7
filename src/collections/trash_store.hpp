#pragma once
#include "welkin/collections/trash.hpp"

namespace welkin::collections::store {

/// Deleted collections of the caller whose key is below `before`.
std::vector<Trashed> trashed_collections(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t before,
                                         int limit);
/// Entries of objects that he may write where they were, whose key is below `before`.
std::vector<Trashed> trashed_objects(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t before,
                                     int limit);
Trash::Body trashed_body(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t id);
std::string restore_object(db::Tx& tx, const Caller& caller, std::int64_t id, const Facts& facts,
                           const Etag& etag);
void purge_object(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t id);
void restore_collection(db::Tx& tx, const Caller& caller, CollectionId id, const std::string& other_path);
void purge_collection(db::Tx& tx, const Caller& caller, CollectionId id);
/// Some of it. @return true: that was all
bool empty_some(db::Tx& tx, const Caller& caller, Kind kind, std::int64_t& gone);

}  // namespace welkin::collections::store
