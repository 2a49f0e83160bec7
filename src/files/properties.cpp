#include "welkin/files/properties.hpp"

#include "files/node_store.hpp"
#include "files/properties_store.hpp"
#include "files/upload.hpp"

namespace welkin::files {

Task<std::vector<NodeProperty>> Properties::of(std::vector<NodeId> nodes,
                                               std::vector<std::pair<std::string, std::string>> names) {
  if (nodes.empty()) co_return std::vector<NodeProperty>();
  co_return co_await room_->db.read([&](db::Tx& tx) { return store::properties_of(tx, nodes, names); });
}

Task<> Properties::patch(Caller caller, NodeId node, PropertyPatch patch) {
  std::optional<std::int16_t> mime;
  if (patch.mime_type) mime = co_await room_->mime_id(caller, *patch.mime_type);
  co_await room_->db.write([&](db::Tx& tx) { store::patch_properties(tx, caller, node, patch, mime); });
}

Task<Node> Properties::create_folder(Caller caller, NodeId parent, std::string name, PropertyPatch patch) {
  name = require_new_name(name, Kind::folder, room_->windows_names);
  co_return co_await room_->db.write([&](db::Tx& tx) {
    auto made = store::create_folder(tx, caller, parent, name, patch.lock_tokens);
    store::patch_properties(tx, caller, made.id, patch, std::nullopt);
    return store::require(tx, caller, made.id).node;
  });
}

}  // namespace welkin::files
