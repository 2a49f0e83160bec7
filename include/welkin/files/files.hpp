#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/blobs/store.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

/// Drives, folders, files. Every call takes the Caller and goes through the gate (files/rights): what he may
/// not read is not_found, what he may read but not change is forbidden.
namespace welkin::files {

enum class Kind : std::uint8_t { file = 1, folder = 2 };

struct Node {
  NodeId id;
  NodeId parent;  // 0: a drive's root
  DriveId drive;
  Kind kind = Kind::file;
  std::string name;              // NFC; of a personal root: ""
  std::uint64_t size_bytes = 0;  // a folder: the sum below it
  Micros modified_at = 0, created_at = 0;
  std::string mime_type;  // files
  std::string etag;       // lower-case hex, without quotes; a folder's rises with every change below it
  ContentId content;      // files
  std::optional<Sha256> sha256;  // files, when known
  Bytes sha1;                    // the same; clients that upload a file name it
  UserId author;                 // who wrote the present content
  std::string author_name;       // "" when gone
  UserId creator;                // who made the node; an overwrite leaves him
  std::int32_t rights = 0;       // the caller's, after the limits of his credential
  bool has_properties = true;    // false: none of clients' own
  bool is_favorite = false;      // of the caller; known where nodes are looked at, not after a write
  // "/a/b" from the drive's root, "" where the caller may not see the way; set on nodes that were asked for
  // one by one.
  std::optional<std::string> path;
  bool is_folder() const { return kind == Kind::folder; }
  bool is_root() const { return !parent; }
};

enum class OrderBy : std::uint8_t { name, type, modified_at, created_at, size };

/// A page of a listing in the order of the API: folders first, then by folded name, then name; or by the
/// other keys.
struct ListQuery {
  OrderBy order_by = OrderBy::name;
  bool reverse = false;
  bool folders = true, files = true;
  int limit = 50;
  std::string after;            // opaque `next` of the page before; "" for the first
  bool version_of_all = false;  // `version` speaks of the pages that follow too
};
struct Page {
  std::vector<Node> items;
  std::string next;     // "" on the last page
  std::string version;  // changes when anything shown could have changed: for ETag and 304
};

/// What a write demands of the target's present state.
struct Expect {
  enum class Kind : std::uint8_t {
    anything,
    must_be_new,
    must_exist,
    etag_is,
    etag_is_not
  } kind = Kind::anything;
  std::vector<std::string> etags;  // without quotes
};

/// Where an upload goes: a new name in a folder, or an existing file.
struct Target {
  NodeId parent;
  std::string name;
  NodeId file;  // set: replace the content of this file, whatever it is called then
};

struct Written {
  Node node;
  bool created = false;
};

/// What came to a place: by a move or as a copy.
struct Placed {
  Node node;
  bool created = false;  // false: it replaced what had the name
};

struct Opened {
  Node node;
  blobs::ContentView content;
};

/// Names: 1..255 bytes of UTF-8 after NFC, no '/', '\\', NUL or control characters, not "." or "..".
/// @return the NFC form. @throws Error invalid `bad_name`, its text "Invalid folder name '<x>': ..." or "...
/// file name ..."
std::string require_name(std::string_view name, Kind kind);
/// The same for a name that is to be made. `windows_names`: nothing that Windows could not open: no
/// `<>:"|?*`, no blank or dot at an end, no device such as CON or LPT1.txt (Config::windows_names).
std::string require_new_name(std::string_view name, Kind kind, bool windows_names);
inline constexpr std::string_view kUnknownMimeType = "application/octet-stream";
/// From the client's type when it is specific, else from the first bytes, else from the extension, else
/// octet-stream.
std::string choose_mime_type(std::string_view client_type, ByteView head, std::string_view name);
/// Whether choose_mime_type comes to `type` by itself for some file.
bool is_known_mime_type(std::string_view type);

/// What a path leads to, for writes: as far as it is there and may be known.
struct Located {
  std::optional<Node> node;    // readable
  std::optional<Node> parent;  // the folder (never a file) that has or would have it; readable, or open to
                               // new files; unset for the caller's start
  std::string name;            // the last, NFC; "" for the caller's start
  bool is_mount = false;       // the name is the caller's own mount of `node`, not the node's own
};

class Files;
class Batches;      // welkin/files/batch.hpp
class EventHub;     // welkin/files/events.hpp
class Archives;     // welkin/files/archives.hpp
class ChangeLog;    // welkin/files/changes.hpp
class Locks;        // welkin/files/locks.hpp
class Trash;        // welkin/files/trash.hpp
class Versions;     // welkin/files/versions.hpp
class Browse;       // welkin/files/browse.hpp
class Properties;   // welkin/files/properties.hpp
class Favorites;    // welkin/files/favorites.hpp
class Recent;       // welkin/files/favorites.hpp
class Search;       // welkin/files/search.hpp
class PartUploads;  // welkin/files/part_uploads.hpp
class Photos;       // welkin/files/photos.hpp
struct BrowseWants;

/// A body on its way in. Feed it, then finish; destroying it unfinished drops everything.
class Upload {
 public:
  virtual ~Upload() = default;
  /// @throws Error quota_exceeded, no_space as soon as it is known
  virtual Task<> write(ByteView block) = 0;
  /// Commits; returns when the bytes and the node are on stable storage. Rights, locks, preconditions, quota
  /// and the name's state are checked again under the drive's lock.
  virtual Task<Written> finish() = 0;
};

struct UploadOptions {
  Target target;
  std::optional<std::uint64_t> size_hint;  // Content-Length
  std::string mime_type;                   // as the client says; "" unknown
  std::optional<Micros> modified_at;       // client's mtime (X-OC-MTime)
  Expect expect;
  bool overwrite = true;         // false: a taken name is conflict `exists`
  std::optional<Sha256> sha256;  // declared digest; mismatch: invalid `digest_mismatch`, nothing stored
  Bytes sha1;                    // of the body, proved by the caller before `finish`; "" unknown
  std::vector<db::Uuid> lock_tokens;
};

class Files {
 public:
  Files(db::Db& db, blobs::Store& store, const Config& config, const Clock& clock);
  ~Files();

  // --- looking
  /// The root of the caller's personal drive.
  Task<Node> home(Caller caller);
  /// @throws Error not_found
  Task<Node> node(Caller caller, NodeId id);
  /// Walks names from the root of the caller's drive (or his folder limit, or his link), through mounts.
  /// @throws Error not_found
  Task<Node> by_path(Caller caller, std::vector<std::string> names);
  /// The same for writes, which also need the folder of what is not there. @throws Error invalid `bad_name`
  Task<Located> locate(Caller caller, std::vector<std::string> names);
  /// The chain from the drive's root (or the highest readable node) down to the node itself.
  Task<std::vector<Node>> ancestors(Caller caller, NodeId id);
  /// "/a/b" from the drive's root; "" where the caller may not see the way.
  Task<std::string> path(Caller caller, NodeId id);
  /// @throws Error not_found; invalid `not_a_folder`, `bad_cursor` never (an unusable `after` is the first
  /// page);
  ///         unprocessable `too_many_to_sort` for type and created_at above kSortedChildrenMax
  Task<Page> list(Caller caller, NodeId folder, ListQuery query);
  static constexpr std::int64_t kSortedChildrenMax = 20'000;
  /// The members of a readable folder in byte order, see browse.hpp.
  Browse browse(const Caller& caller, NodeId folder, std::int32_t folder_rights, const BrowseWants& wants,
                std::string after = {});
  struct DriveUse {
    std::uint64_t used_bytes = 0;
    std::uint64_t free_bytes = 0;  // what is left of the quota, or of the disk when that is less
  };
  /// Of a drive the caller has been shown a node of. @throws Error not_found
  Task<DriveUse> drive_use(DriveId drive);
  struct DriveOwner {
    UserId id;                       // 0: nobody's alone
    std::string name, display_name;  // "" then
  };
  /// Of a drive the caller has been shown a node of.
  Task<DriveOwner> drive_owner(DriveId drive);
  /// A child by exact name; nullopt when there is none. @throws Error not_found for the folder itself
  Task<std::optional<Node>> child(Caller caller, NodeId folder, std::string name);
  /// Node, right and chunk list in one snapshot. @throws Error not_found; invalid `is_a_folder`
  Task<Opened> open(Caller caller, NodeId id, std::optional<Slice> slice = std::nullopt);
  Task<> send(const Opened& opened, Slice slice, ByteSink& out);

  // --- changing
  /// @throws Error conflict `exists`, not_found, forbidden, locked
  Task<Node> create_folder(Caller caller, NodeId parent, std::string name,
                           std::vector<db::Uuid> lock_tokens = {});
  /// Renames and moves in one step, between drives too; an unset member stays. A file's id, content, etag,
  /// times and versions stay; locks of what moves end. Into another drive at most tree_nodes_max nodes go at
  /// once, and the grants and links inside end.
  /// @throws Error conflict `exists`; invalid `into_itself` (into or below itself, or onto what contains it),
  ///         `too_deep`; forbidden `is_root`; not_found; locked; precondition_failed; quota_exceeded;
  ///         unprocessable `too_many_nodes`
  struct Move {
    std::optional<NodeId> parent;
    std::optional<std::string> name;
    bool replace = false;  // true: what has the name goes to the trash, in the same transaction
    // For programs that save under another name and rename: a file the caller has just made, when it comes to
    // the name of a file (with `replace`) or of one he has deleted within the last minute, becomes the next
    // content of that one, which keeps its id, shares, properties and versions.
    bool succeed = false;
    Expect expect;  // of what moves
    std::vector<db::Uuid> lock_tokens;
  };
  Task<Placed> move(Caller caller, NodeId id, Move to);
  /// Copies a file or a folder, also into another drive; contents are shared by reference, dead properties
  /// come along, locks, grants, links and versions do not. Files keep their mtime; the copy is the caller's.
  /// A lock whose root was replaced stays on the name. At most tree_nodes_max nodes. @throws Error as `move`
  struct Copy {
    NodeId parent;
    std::string name;
    bool children = true;  // false: a folder alone (Depth: 0)
    bool replace = false;  // as in Move
    Expect expect;         // of the source
    std::vector<db::Uuid> lock_tokens;
  };
  Task<Placed> copy(Caller caller, NodeId id, Copy to);
  /// To the trash of its drive. @throws Error not_found, forbidden, precondition_failed, locked
  Task<> trash(Caller caller, NodeId id, Expect expect = {}, std::vector<db::Uuid> lock_tokens = {});
  /// Checks rights, name, quota and preconditions as far as they can be known, before a byte is read.
  Task<std::unique_ptr<Upload>> begin_upload(Caller caller, UploadOptions options);

  // --- parts with doors of their own
  ChangeLog& change_log();
  Archives& archives();
  std::shared_ptr<EventHub> events();
  /// Write locks, see locks.hpp. Every change above obeys them.
  Locks& locks();
  Trash& trash_bin();
  Batches& batches();
  Versions& versions();
  /// What clients keep with a node, see properties.hpp.
  Properties& properties();
  /// What users mark for themselves, see favorites.hpp.
  Favorites& favorites();
  Recent& recent();
  Search& search();
  /// Files that come in parts, see part_uploads.hpp.
  PartUploads& part_uploads();
  Photos& photos();

  // --- upkeep, for the scheduler: each one bounded turn on the calling thread; true: more is waiting
  bool expire_uploads();

  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace welkin::files
