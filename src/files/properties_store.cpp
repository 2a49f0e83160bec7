#include "files/properties_store.hpp"

#include "files/node_store.hpp"
#include "files/refusals.hpp"

namespace welkin::files::store {
namespace {

constexpr db::Stmt kOf{"files.properties_of",
                       "select node_id, ns, name, value from node_properties where node_id = any ($1)"
                       " order by node_id, ns, name"};
constexpr db::Stmt kNamed{"files.properties_named",
                          "select p.node_id, p.ns, p.name, p.value from unnest($1::bigint[]) n (id)"
                          " cross join unnest($2::text[], $3::text[]) w (ns, name)"
                          " join node_properties p on p.node_id = n.id and p.ns = w.ns and p.name = w.name"
                          " order by p.node_id"};
constexpr db::Stmt kPatch{
    "files.patch_properties",
    "select patch_properties($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
    "$15, $16, $17, $18)"};

}  // namespace

std::vector<NodeProperty> properties_of(db::Tx& tx, const std::vector<NodeId>& nodes,
                                        const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<std::int64_t> ids;
  ids.reserve(nodes.size());
  for (const auto node : nodes) ids.push_back(node.value);
  db::Params params(ids);
  if (!names.empty()) {
    std::vector<std::string> spaces, locals;
    for (const auto& [ns, name] : names) {
      spaces.push_back(ns);
      locals.push_back(name);
    }
    params.add(spaces).add(locals);
  }
  std::vector<NodeProperty> out;
  for (const auto row : tx.exec(names.empty() ? kOf : kNamed, params)) {
    out.push_back({row.id<NodeId>(0), row.str(1), row.str(2), row.str(3)});
  }
  return out;
}

void patch_properties(db::Tx& tx, const Caller& caller, NodeId node, const PropertyPatch& patch,
                      std::optional<std::int16_t> mime) {
  // The last word on a name is the only one that counts.
  std::vector<std::string> set_spaces, set_names, set_values, gone_spaces, gone_names;
  for (std::size_t i = 0; i < patch.changes.size(); ++i) {
    const auto& change = patch.changes[i];
    bool overruled = false;
    for (std::size_t j = i + 1; j < patch.changes.size() && !overruled; ++j) {
      overruled = patch.changes[j].name == change.name && patch.changes[j].ns == change.ns;
    }
    if (overruled) continue;
    (change.value ? set_spaces : gone_spaces).push_back(change.ns);
    (change.value ? set_names : gone_names).push_back(change.name);
    if (change.value) set_values.push_back(*change.value);
  }
  db::Params params(node);
  add_gate(params, caller)
      .add(static_cast<std::int16_t>(patch.expect.kind))
      .add(own_etags(patch.expect.etags))
      .add(patch.lock_tokens)
      .add(set_spaces)
      .add(set_names)
      .add(set_values)
      .add(gone_spaces)
      .add(gone_names)
      .add(patch.modified_at.value_or(0))
      .add(patch.created_at.value_or(0))
      .add(mime.value_or(0))
      .add(Properties::kPerNodeMax);
  try {
    tx.exec(kPatch, params);
  } catch (const db::SqlError& e) {
    rethrow(e, "");
  }
}

}  // namespace welkin::files::store
