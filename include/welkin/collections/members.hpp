#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/collections/collections.hpp"
#include "welkin/collections/objects.hpp"

/// Members written inside a transaction of the caller's own, for rooms whose one change touches several
/// collections (an invitation and the calendars of those who are invited). Synchronous, on a Tx of Db::write.
namespace welkin::collections::members {

/// Takes the rows of these collections in the one order that nobody deadlocks in; what is read afterwards
/// stays true until the end. Collections that are gone are passed over.
void lock(db::Tx& tx, std::vector<CollectionId> collections);

/// The owner of a collection with all his rights, as whoever delivers to him acts: no quota holds it up.
Caller owner(UserId user);

std::optional<Object> find(db::Tx& tx, CollectionId collection, const std::string& name);
/// As Objects::put, remove, transfer.
Objects::Written put(db::Tx& tx, const Caller& caller, CollectionId collection,
                     const Objects::NewObject& object);
void remove(db::Tx& tx, const Caller& caller, CollectionId collection, const std::string& name,
            const Expect& expect);
Objects::Written transfer(db::Tx& tx, const Caller& caller, const Objects::Transfer& what);
/// As Collections::remove.
void remove_collection(db::Tx& tx, const Caller& caller, CollectionId id, const std::string& state);

}  // namespace welkin::collections::members
