#pragma once
#include "welkin/collections/objects.hpp"

namespace welkin::collections::store {

/// (collection, seq after, seq until, tombstones, components, with data, flags of what is told as a
/// tombstone, flags of what is given with its data whatever is asked, limit)
extern const db::Stmt kList;
/// The same of what the index holds, and only that.
extern const db::Stmt kListBrief;
ObjectRow list_row(const db::Row& row, bool full);
/// The columns of an Object, in the order that `object` reads them, from column 0.
Object object(const db::Row& row);

/// In the order of their keys; held until the end of the transaction.
void lock_states(db::Tx& tx, const std::vector<CollectionId>& collections);

/// The flags of members that are not there for this reader.
std::int16_t hidden_flags(Sight sight, Mask mask);
/// Whether a row of kList is of a confidential member.
bool is_masked(const db::Row& row);

std::optional<Object> find_object(db::Tx& tx, Sight sight, Mask mask, const std::string& name);
std::vector<Object> named_objects(db::Tx& tx, Sight sight, Mask mask, const std::vector<std::string>& names);
std::vector<std::int64_t> objects_within(db::Tx& tx, Sight sight, Mask mask, std::int16_t components,
                                         std::int64_t from, std::int64_t to);
std::vector<Object> objects_by_keys(db::Tx& tx, Sight sight, Mask mask,
                                    const std::vector<std::int64_t>& keys);

std::vector<Objects::Held> objects_by_uids(db::Tx& tx, Sight sight, Mask mask,
                                           const std::vector<std::string>& uids);

Objects::Written put_object(db::Tx& tx, const Caller& caller, CollectionId collection,
                            const Objects::NewObject& object, const Etag& etag);
void remove_object(db::Tx& tx, const Caller& caller, CollectionId collection, const std::string& name,
                   const Expect& expect);
Objects::Written transfer_object(db::Tx& tx, const Caller& caller, const Objects::Transfer& what);

}  // namespace welkin::collections::store
