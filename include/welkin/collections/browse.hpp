#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "welkin/collections/objects.hpp"

namespace welkin::collections {

/// Members of a collection in pages, in orders that an index has. Whoever reads has been shown the
/// collection.
class Browse {
 public:
  /// @param mask  as of Objects
  Browse(db::Db& db, Mask mask) : db_(db), mask_(mask) {}

  struct Page {
    std::vector<Object> items;  // without their data, which may be long
    std::string next;           // "": that was all
  };
  /// Cards that are no groups, by their folded name. @param after  "", or `next`; what cannot be read is ""
  Task<Page> contacts(CollectionId book, std::string after, int limit);
  /// The same, by how many to pass over.
  Task<std::vector<Object>> contacts_from(CollectionId book, std::int64_t offset, int limit);
  /// Cards that are groups, the oldest first.
  Task<Page> groups(CollectionId book, std::string after, int limit);
  /// Objects of a calendar, by their names. @param components  0: any
  Task<Page> objects(Sight calendar, std::int16_t components, std::string after, int limit);

  /// How many members of a book are no groups.
  Task<std::int64_t> count_contacts(CollectionId book);

 private:
  db::Db& db_;
  Mask mask_;
};

}  // namespace welkin::collections
