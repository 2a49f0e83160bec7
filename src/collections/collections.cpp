#include "welkin/collections/collections.hpp"

#include "collections/collection_store.hpp"
#include "collections/refusals.hpp"
#include "welkin/collections/feeds.hpp"
#include "welkin/collections/sharing.hpp"

namespace welkin::collections {

std::string default_name(const Collection& collection) {
  if (collection.origin == Origin::birthdays) return "Birthdays";
  if (collection.path == "personal" && collection.kind == Kind::calendar) return "Personal";
  if (collection.kind == Kind::inbox) return "Inbox";
  if (collection.path == "tasks" && collection.kind == Kind::calendar) return "Tasks";
  if (collection.path == "contacts" && collection.kind == Kind::book) return "Contacts";
  return collection.path;
}

Task<std::vector<Collection>> Collections::home(Caller caller, Kind kind) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) { return store::home(tx, caller, kind); });
}

Task<Collections::Home> Collections::marked_home(Caller caller, Kind kind) {
  require_person(caller);
  co_return co_await db_.snapshot([&](db::Tx& tx) {
    Home out;
    out.collections = store::home(tx, caller, kind);
    out.marks = store::marks(tx, caller, out.collections);
    return out;
  });
}

Task<std::vector<std::optional<std::string>>> Collections::former_paths(Caller caller,
                                                                        std::vector<Mark> marks) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) { return store::former_paths(tx, caller, marks); });
}

Sharing Collections::sharing() const { return Sharing(db_); }
Feeds Collections::feeds() const { return Feeds(db_); }

Task<std::optional<Collection>> Collections::find(Caller caller, Kind kind, std::string path) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) { return store::find(tx, caller, kind, path); });
}

Task<Collection> Collections::require(Caller caller, CollectionId id) {
  require_person(caller);
  auto found = co_await db_.read([&](db::Tx& tx) { return store::find(tx, caller, id); });
  if (!found) throw Error(Errc::not_found, "not_found", "not found");
  co_return *std::move(found);
}

Task<CollectionId> Collections::create(Caller caller, NewCollection wanted) {
  require_person(caller);
  co_return co_await db_.write([&](db::Tx& tx) { return store::create(tx, caller, wanted); });
}

Task<> Collections::remove(Caller caller, CollectionId id, std::string state) {
  require_person(caller);
  co_await db_.write([&](db::Tx& tx) { store::remove(tx, caller, id, state); });
}

Task<std::vector<Property>> Collections::properties(Caller caller, std::vector<CollectionId> of,
                                                    std::vector<std::pair<std::string, std::string>> names) {
  if (of.empty()) co_return std::vector<Property>();
  co_return co_await db_.read([&](db::Tx& tx) { return store::properties(tx, caller, of, names); });
}

Task<> Collections::patch(Caller caller, CollectionId id, std::vector<PropertyChange> changes) {
  require_person(caller);
  co_await db_.write([&](db::Tx& tx) { store::patch(tx, caller, id, changes); });
}

Task<std::vector<Property>> Collections::home_properties(Caller caller, Kind kind) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) { return store::home_properties(tx, caller, kind); });
}

Task<> Collections::patch_home(Caller caller, Kind kind, std::vector<PropertyChange> changes) {
  require_person(caller);
  co_await db_.write([&](db::Tx& tx) { store::patch_home(tx, caller, kind, changes); });
}

}  // namespace welkin::collections
