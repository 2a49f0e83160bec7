#pragma once
#include "welkin/collections/browse.hpp"

namespace welkin::collections::store {

/// An object and the key it has in the order of its list.
struct Placed {
  Object object;
  std::string key;
};
std::vector<Placed> contacts(db::Tx& tx, CollectionId book, const std::string& after_title,
                             std::int64_t after_id, int limit);
std::vector<Object> contacts_from(db::Tx& tx, CollectionId book, std::int64_t offset, int limit);
std::int64_t count_contacts(db::Tx& tx, CollectionId book);
std::vector<Object> groups(db::Tx& tx, CollectionId book, std::int64_t after_id, int limit);
std::vector<Object> objects(db::Tx& tx, Sight calendar, Mask mask, std::int16_t components,
                            const std::string& after_name, int limit);

}  // namespace welkin::collections::store
