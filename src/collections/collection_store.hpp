#pragma once
#include "welkin/collections/collections.hpp"

namespace welkin::collections::store {

std::vector<Collection> home(db::Tx& tx, const Caller& caller, Kind kind);
std::vector<Collections::Mark> marks(db::Tx& tx, const Caller& caller, const std::vector<Collection>& of);
std::vector<std::optional<std::string>> former_paths(db::Tx& tx, const Caller& caller,
                                                     const std::vector<Collections::Mark>& of);
std::optional<Collection> find(db::Tx& tx, const Caller& caller, Kind kind, const std::string& path);
std::optional<Collection> find(db::Tx& tx, const Caller& caller, CollectionId id);

CollectionId create(db::Tx& tx, const Caller& caller, const NewCollection& wanted);
void remove(db::Tx& tx, const Caller& caller, CollectionId id, const std::string& state);

std::vector<Property> properties(db::Tx& tx, const Caller& caller, const std::vector<CollectionId>& of,
                                 const std::vector<std::pair<std::string, std::string>>& names);
void patch(db::Tx& tx, const Caller& caller, CollectionId id, const std::vector<PropertyChange>& changes);
std::vector<Property> home_properties(db::Tx& tx, const Caller& caller, Kind kind);
void patch_home(db::Tx& tx, const Caller& caller, Kind kind, const std::vector<PropertyChange>& changes);

}  // namespace welkin::collections::store
