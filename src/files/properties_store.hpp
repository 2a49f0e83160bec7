#pragma once
#include "welkin/files/properties.hpp"

namespace welkin::files::store {

std::vector<NodeProperty> properties_of(db::Tx& tx, const std::vector<NodeId>& nodes,
                                        const std::vector<std::pair<std::string, std::string>>& names);
/// @param mime  the type's code, when it shall change. @throws what Properties::patch says
void patch_properties(db::Tx& tx, const Caller& caller, NodeId node, const PropertyPatch& patch,
                      std::optional<std::int16_t> mime);

}  // namespace welkin::files::store
