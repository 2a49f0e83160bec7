#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

/// Reading nodes. Everything here passes the gate: what the caller may not read does not come back.
namespace welkin::files::store {

/// The six values of `gate()`, as $2..$7 of a statement whose $1 is the node.
db::Params& add_gate(db::Params& params, const Caller& caller);

/// A node and what the gate says of it.
struct Found {
  Node node;                        // rights filled in
  std::vector<std::int64_t> chain;  // from the node to the root of its drive
  bool from_membership = false;     // the caller is a member of the drive: he may see the whole way
  bool has_grants = false;          // something on the way carries grants
};

/// The statement behind `find`, for the pipelined connection: `db.query(kFind, find_params(caller, id))`.
extern const db::Stmt kFind;
extern const db::Stmt kFindPath;
/// kFind with the node's content behind it, from column kFoundColumnCount on (blobs::Store::view); its last
/// parameters are those of blobs::Store::add_view.
extern const db::Stmt kOpen;
db::Params find_params(const Caller& caller, NodeId id);
/// @throws Error not_found
Found require_found(const Caller& caller, const db::Rows& rows);

/// nullopt: not there, in the trash, or not readable.
std::optional<Found> find(db::Tx& tx, const Caller& caller, NodeId id);
/// @throws Error not_found
Found require(db::Tx& tx, const Caller& caller, NodeId id);
Found require_folder(db::Tx& tx, const Caller& caller, NodeId id);

/// Not readable, but the caller may create in it (a file drop): for writes only.
std::optional<Found> find_writable(db::Tx& tx, const Caller& caller, NodeId id);

/// The end of a path, walked through the caller's mounts from where his paths start (his folder limit, his
/// link, or the root of his drive), and with `steps` 2 the folder before it, both through the gate:
/// kFindPath.
db::Params path_params(const Caller& caller, const std::vector<std::string>& names, int steps);
Located located(const Caller& caller, const std::vector<std::string>& names, const db::Rows& rows);
/// A child by exact name; says nothing of rights.
NodeId child(db::Tx& tx, NodeId folder, const std::string& name);
/// The nodes of `found.chain` the caller may see, from the top down.
std::vector<Node> ancestors(db::Tx& tx, const Caller& caller, const Found& found);

/// In the transaction's own drive lock. @throws Error conflict `exists`, not_found, forbidden, locked
Node create_folder(db::Tx& tx, const Caller& caller, NodeId parent, const std::string& name,
                   const std::vector<db::Uuid>& lock_tokens);

inline constexpr std::int32_t kDepthMax = 128;  // folders inside each other

struct DriveUse {
  std::int64_t used = 0, reserved = 0, quota = 0;
};
DriveUse drive_use(db::Tx& tx, DriveId drive);

/// Columns of a node as every statement here selects them, and how they are read, starting at column 0.
extern const char* const kNodeColumns;
extern const char* const kNodeJoins;
inline constexpr int kNodeColumnCount = 20;
Node node_of(const db::Row& row);
/// Whether node `n` is a favourite of the caller; $2 his subjects.
extern const char* const kFavoriteColumn;

/// The same for nodes `n` with what the gate says of each, $2..$6 its values.
extern const char* const kFoundColumns;
extern const char* const kFoundJoins;
inline constexpr int kFoundColumnCount = kNodeColumnCount + 7;
/// nullopt: in the trash, or not readable.
std::optional<Found> readable(const Caller& caller, const db::Row& row);

/// The text clients see: drive, change, node (twin of SQL etag_text).
std::string etag_text(std::int64_t drive, std::int64_t seq, std::int64_t node);
/// Those of a client's tags that could be ours. The others match nothing; a comma in one would make two of
/// it, and bytes that are not UTF-8 have no place in a statement.
std::vector<std::string> own_etags(std::vector<std::string> tags);

}  // namespace welkin::files::store
