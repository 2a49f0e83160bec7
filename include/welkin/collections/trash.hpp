#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "welkin/collections/collections.hpp"

namespace welkin::collections {

/// Something deleted: an object, or a whole collection with all that was in it.
struct Trashed {
  bool is_collection = false;
  std::int64_t id = 0;      // of the entry in the trash; of a collection its own key
  CollectionId collection;  // that it is, or that it was in
  std::string name;         // of the object; of the collection: its path
  std::string title;        // of the object; ""
  std::int16_t component = 0;
  std::int64_t bytes = 0;
  std::int64_t objects = 0;  // of a collection
  Micros trashed_at = 0;
  UserId trashed_by;  // 0: gone, or a collection, which only its owner deletes
};

/// What was deleted from calendars or address books, kept for kTrashDays. An object is whose may write where
/// it was; a collection its owner's. What was in a deleted collection is not listed beside it.
class Trash {
 public:
  explicit Trash(db::Db& db) : db_(db) {}

  struct Page {
    std::vector<Trashed> items;
    std::string next;  // "": that was all
  };
  /// Collections first, the youngest first, then objects, what was deleted last first.
  /// @param after  "", or `next` of the page before; what cannot be read is the first page
  Task<Page> list(Caller caller, Kind kind, std::string after, int limit);

  struct Body {
    CollectionId collection;
    std::string name, data;
  };
  /// @throws Error not_found
  Task<Body> object(Caller caller, Kind kind, std::int64_t id);
  /// Puts it back under its name, or another one when that is taken by now. The caller has described the data
  /// anew. @return its name
  /// @throws Error not_found, forbidden, conflict `collection_gone`, `uid_conflict`, `supported_component`
  Task<std::string> restore_object(Caller caller, std::int64_t id, Facts facts, Etag etag);
  /// For good. @throws Error not_found, forbidden
  Task<> purge_object(Caller caller, Kind kind, std::int64_t id);

  /// With its members, properties, shares and tokens; under another path when its own is taken by now.
  /// @throws Error not_found, forbidden, quota_exceeded `too_many_collections`
  Task<> restore_collection(Caller caller, CollectionId id);
  /// For good; its bytes count until the job has taken them away. @throws Error not_found, forbidden
  Task<> purge_collection(Caller caller, CollectionId id);

  /// Everything the caller's own collections have in the trash. @return how many. @throws Error forbidden
  Task<std::int64_t> empty(Caller caller, Kind kind);

 private:
  db::Db& db_;
};

}  // namespace welkin::collections
