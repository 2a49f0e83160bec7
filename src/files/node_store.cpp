#include "files/node_store.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include "files/refusals.hpp"

namespace welkin::files::store {

// Scalar parts of the caller follow the node everywhere: $2 subjects, $3 mask, $4 limit, $5 link node, $6
// link rights.
#define WELKIN_NODE_COLUMNS                                                                                  \
  "n.id, n.parent_id, n.drive_id, n.kind, n.name, n.size, n.mtime, n.created_at, n.etag_seq, n.etag_drive, " \
  "n.content_id, n.author_id, f.etag_seq, f.changed_at, f.bytes_below, "                                     \
  "(select m.name from mime_types m where m.id = n.mime)"
#define WELKIN_NODE_MORE                                                                                 \
  ", (select coalesce(c.sha256, '') || coalesce(c.sha1, '') from contents c where c.id = n.content_id)," \
  " (select u.name from users u where u.id = "                                                           \
  "n.author_id), n.creator_id, n.flags & 4 <> 0"
#define WELKIN_NODE_JOINS \
  " left join lateral (select * from folders x where x.node_id = n.id offset 0) f on n.kind = 2"

const char* const kNodeColumns = WELKIN_NODE_COLUMNS WELKIN_NODE_MORE;
const char* const kNodeJoins = WELKIN_NODE_JOINS;

// Users and groups share one number space, so a subject that has favourites is the user himself.
#define WELKIN_FAVORITE "exists (select from favorites v where v.user_id = any ($2) and v.node_id = n.id)"
#define WELKIN_FOUND                                                                                   \
  WELKIN_NODE_COLUMNS WELKIN_NODE_MORE                                                                 \
      ", g.rights, g.live, g.chain, exists (select from drive_members d where d.drive_id = n.drive_id" \
      " and d.subject_id = any ($2) and d.rights & 1 = 1), g.names,"                                   \
      " exists (select from nodes c where c.id = any (g.chain) and c.flags & 1 = 1), " WELKIN_FAVORITE
#define WELKIN_FIND "select " WELKIN_FOUND
#define WELKIN_GATE " cross join lateral gate(n.id, $2, $3, $4, $5, $6) g" WELKIN_NODE_JOINS

const char* const kFavoriteColumn = WELKIN_FAVORITE;
const char* const kFoundColumns = WELKIN_FOUND;
const char* const kFoundJoins = WELKIN_GATE;

const db::Stmt kFind{"files.find", WELKIN_FIND " from nodes n" WELKIN_GATE " where n.id = $1"};
const db::Stmt kOpen{"files.open", WELKIN_FIND
                     ", v.* from nodes n" WELKIN_GATE
                     " left join lateral content_view(n.content_id, $7, $8, $9) v on true where n.id = $1"};

// One step a name. Mounts are looked up by the same step, so that no verb knows of shares. The deepest $9
// steps that are there come back, each with its depth; $1 is where paths start, null at the root of the drive
// of $7.
const db::Stmt kFindPath{
    "files.find_path",
    "with recursive walk as ("
    " select coalesce($1::bigint, (select root_id from drives where owner_id = $7 and kind = 1)) id, 0 depth"
    " union all"
    " select x.id, w.depth + 1 from walk w cross join lateral ("
    "  select c.id from nodes c where c.parent_id = w.id and c.name = ($8::text[])[w.depth + 1]"
    "  union all"
    "  select m.target_id from mounts m"
    "   where m.user_id = $7 and m.parent_id = w.id and m.name = ($8::text[])[w.depth + 1]"
    "  limit 1) x) " WELKIN_FIND ", w.depth from walk w join nodes n on n.id = w.id" WELKIN_GATE
    " where w.depth > cardinality($8::text[]) - $9"};

namespace {

constexpr db::Stmt kAncestors{
    "files.ancestors",
    "select " WELKIN_NODE_COLUMNS WELKIN_NODE_MORE
    ", g.rights from unnest($1::bigint[]) with ordinality w (id, at)"
    " join nodes n on n.id = w.id cross join lateral gate(n.id, $2, $3, $4, $5, $6) g" WELKIN_NODE_JOINS
    " where g.rights & 1 = 1 order by w.at desc"};
// Where nothing on the way carries grants and nothing narrows the caller, his rights are the same all along
// it.
constexpr db::Stmt kAncestorsAlike{"files.ancestors_alike",
                                   "select " WELKIN_NODE_COLUMNS WELKIN_NODE_MORE
                                   ", $2::integer from unnest($1::bigint[]) with ordinality w (id, at)"
                                   " join nodes n on n.id = w.id" WELKIN_NODE_JOINS " order by w.at desc"};

constexpr db::Stmt kChild{"files.child", "select id from nodes where parent_id = $1 and name = $2"};

constexpr db::Stmt kCreateFolder{
    "files.create_folder",
    "select node_id, seq, stamp, rights, drive from create_folder($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"};

constexpr db::Stmt kDriveUse{"files.drive_use",
                             "select used_bytes, reserved_bytes, quota_bytes from drives where id = $1"};

constexpr std::size_t kSha256Bytes = 32;

/// One value for what is looked up together: SHA-256, SHA-1, each only when it is known.
void read_digests(ByteView both, Node& n) {
  if (both.size() >= kSha256Bytes) {
    std::memcpy(n.sha256.emplace().data(), both.data(), kSha256Bytes);
    both = both.subspan(kSha256Bytes);
  }
  n.sha1.assign(both.begin(), both.end());
}

/// @param chain  from the node up; @param names  from the top down
std::string path_of(const Caller& caller, const std::vector<std::int64_t>& chain,
                    const std::vector<std::string>& names) {
  std::size_t first = 1;  // a root has no name
  if (caller.root_limit) {
    const auto at = std::find(chain.begin(), chain.end(), caller.root_limit.value);
    first = std::max<std::size_t>(1, static_cast<std::size_t>(chain.end() - at) - 1);
  }
  std::string path;
  for (std::size_t i = first; i < names.size(); ++i) path.append("/").append(names[i]);
  return path.empty() ? "/" : path;
}

Found found_of(const Caller& caller, const db::Row& row) {
  Found found;
  found.node = node_of(row);
  constexpr int kGate = kNodeColumnCount;
  found.node.rights = row.i32(kGate);
  found.chain = row.i64_array(kGate + 2);
  found.from_membership = row.boolean(kGate + 3);
  found.has_grants = row.boolean(kGate + 5);
  found.node.is_favorite = row.boolean(kGate + 6);
  found.node.path =
      found.from_membership ? path_of(caller, found.chain, row.text_array(kGate + 4)) : std::string();
  return found;
}

std::optional<Found> found_with(const Caller& caller, const db::Row& row, std::int32_t right) {
  const bool live = row.boolean(kNodeColumnCount + 1);
  if (!live || (row.i32(kNodeColumnCount) & right) == 0) return std::nullopt;
  return found_of(caller, row);
}

}  // namespace

db::Params& add_gate(db::Params& params, const Caller& caller) {
  return params.add(caller.subjects)
      .add(caller.rights_mask)
      .add(caller.root_limit)
      .add(caller.link_node)
      .add(caller.link_rights);
}

std::string etag_text(std::int64_t drive, std::int64_t seq, std::int64_t node) {
  return fmt::format("{:08x}{:016x}{:08x}", drive, seq, node);
}

std::vector<std::string> own_etags(std::vector<std::string> tags) {
  std::erase_if(tags, [](const std::string& t) {
    return t.empty() || t.find_first_not_of("0123456789abcdef") != std::string::npos;
  });
  return tags;
}

Node node_of(const db::Row& row) {
  Node n;
  row.id_into(0, n.id);
  row.id_into(1, n.parent);
  row.id_into(2, n.drive);
  n.kind = row.i64(3) == 2 ? Kind::folder : Kind::file;
  n.name = row.str(4);
  n.created_at = row.i64(7);
  row.id_into(10, n.content);
  row.id_into(11, n.author);
  if (n.is_folder()) {
    n.size_bytes = static_cast<std::uint64_t>(row.i64(14));
    n.modified_at = row.i64(13);
    n.etag = etag_text(n.drive.value, row.i64(12), n.id.value);
  } else {
    n.size_bytes = static_cast<std::uint64_t>(row.i64(5));
    n.modified_at = row.i64(6);
    n.etag = etag_text(row.i64(9), row.i64(8), n.id.value);
    n.mime_type = row.is_null(15) ? "application/octet-stream" : row.str(15);
    if (!row.is_null(16)) {
      read_digests(row.bytes(16), n);
    }
  }
  if (!row.is_null(17)) n.author_name = row.str(17);
  row.id_into(18, n.creator);
  n.has_properties = row.boolean(19);
  return n;
}

db::Params find_params(const Caller& caller, NodeId id) {
  db::Params params(id);
  add_gate(params, caller);
  return params;
}

std::optional<Found> readable(const Caller& caller, const db::Row& row) {
  return found_with(caller, row, rights::kRead);
}

Found require_found(const Caller& caller, const db::Rows& rows) {
  auto found = rows.empty() ? std::nullopt : found_with(caller, rows[0], rights::kRead);
  if (!found) throw not_found();
  return std::move(*found);
}

std::optional<Found> find(db::Tx& tx, const Caller& caller, NodeId id) {
  const auto rows = tx.exec(kFind, find_params(caller, id));
  return rows.empty() ? std::nullopt : found_with(caller, rows[0], rights::kRead);
}

std::optional<Found> find_writable(db::Tx& tx, const Caller& caller, NodeId id) {
  const auto rows = tx.exec(kFind, find_params(caller, id));
  return rows.empty() ? std::nullopt : found_with(caller, rows[0], rights::kRead | rights::kCreate);
}

Found require(db::Tx& tx, const Caller& caller, NodeId id) {
  auto found = find(tx, caller, id);
  if (!found) throw not_found();
  return std::move(*found);
}

Found require_folder(db::Tx& tx, const Caller& caller, NodeId id) {
  auto found = require(tx, caller, id);
  if (!found.node.is_folder()) throw Error(Errc::invalid, "not_a_folder", "this is not a folder");
  return found;
}

db::Params path_params(const Caller& caller, const std::vector<std::string>& names, int steps) {
  const NodeId limit = caller.root_limit ? caller.root_limit : caller.link_node;
  db::Params params;
  if (limit)
    params.add(limit);
  else
    params.add(std::nullopt);
  add_gate(params, caller).add(caller.user).add(names).add(steps);
  return params;
}

Located located(const Caller& caller, const std::vector<std::string>& names, const db::Rows& rows) {
  Located at;
  if (!names.empty()) at.name = names.back();
  NodeId folder;
  for (const auto row : rows) {
    if (static_cast<std::size_t>(row.i64(kFoundColumnCount)) == names.size()) {
      if (auto found = found_with(caller, row, rights::kRead)) at.node = std::move(found->node);
    } else {
      folder = row.id<NodeId>(0);
      // Not readable, but the caller may create in it: a file drop.
      if (auto found = found_with(caller, row, rights::kRead | rights::kCreate);
          found && found->node.is_folder())
        at.parent = std::move(found->node);
    }
  }
  at.is_mount = at.node && folder && at.node->parent != folder;
  return at;
}

NodeId child(db::Tx& tx, NodeId folder, const std::string& name) {
  const auto rows = tx.exec(kChild, folder, name);
  return rows.empty() ? NodeId{} : rows[0].id<NodeId>(0);
}

std::vector<Node> ancestors(db::Tx& tx, const Caller& caller, const Found& found) {
  const bool alike = found.from_membership && !found.has_grants && !caller.root_limit && !caller.link_node;
  db::Params params;
  params.add(found.chain);
  if (alike)
    params.add(found.node.rights);
  else
    add_gate(params, caller);
  std::vector<Node> out;
  for (const auto row : tx.exec(alike ? kAncestorsAlike : kAncestors, params)) {
    out.push_back(node_of(row));
    out.back().rights = row.i32(kNodeColumnCount);
  }
  return out;
}

Node create_folder(db::Tx& tx, const Caller& caller, NodeId parent, const std::string& name,
                   const std::vector<db::Uuid>& lock_tokens) {
  db::Params params(parent, name, caller.user);
  add_gate(params, caller).add(lock_tokens).add(kDepthMax);
  try {
    const auto rows = tx.one(kCreateFolder, params);
    Node n;
    rows[0].id_into(0, n.id);
    rows[0].id_into(4, n.drive);
    n.parent = parent;
    n.kind = Kind::folder;
    n.name = name;
    n.modified_at = n.created_at = rows[0].i64(2);
    n.etag = etag_text(n.drive.value, rows[0].i64(1), n.id.value);
    n.author = caller.user;
    n.author_name = caller.name;
    n.creator = caller.user;
    n.rights = rows[0].i32(3);
    return n;
  } catch (const db::SqlError& e) {
    rethrow(e, name);
  }
}

DriveUse drive_use(db::Tx& tx, DriveId drive) {
  const auto rows = tx.exec(kDriveUse, static_cast<std::int32_t>(drive.value));
  if (rows.empty()) throw not_found();
  return {rows[0].i64(0), rows[0].i64(1), rows[0].i64(2)};
}

}  // namespace welkin::files::store
