#include "welkin/collections/members.hpp"

#include "collections/collection_store.hpp"
#include "collections/object_store.hpp"

namespace welkin::collections::members {

void lock(db::Tx& tx, std::vector<CollectionId> collections) { store::lock_states(tx, collections); }

Caller owner(UserId user) {
  // As put_object of the database knows it.
  constexpr std::int32_t kDelivers = 128;
  Caller caller;
  caller.user = user;
  caller.subjects = {user.value};
  caller.rights_mask |= kDelivers;
  return caller;
}

std::optional<Object> find(db::Tx& tx, CollectionId collection, const std::string& name) {
  return store::find_object(tx, {collection, true}, nullptr, name);
}

Objects::Written put(db::Tx& tx, const Caller& caller, CollectionId collection,
                     const Objects::NewObject& object) {
  return store::put_object(tx, caller, collection, object, etag_of(object.data));
}

void remove(db::Tx& tx, const Caller& caller, CollectionId collection, const std::string& name,
            const Expect& expect) {
  store::remove_object(tx, caller, collection, name, expect);
}

Objects::Written transfer(db::Tx& tx, const Caller& caller, const Objects::Transfer& what) {
  return store::transfer_object(tx, caller, what);
}

void remove_collection(db::Tx& tx, const Caller& caller, CollectionId id, const std::string& state) {
  store::remove(tx, caller, id, state);
}

}  // namespace welkin::collections::members
