#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "welkin/core/bytes.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {

class MimeNames;

/// What a listing shall know beside the nodes' own rows. Digests and authors cost a look-up a row, so ask for
/// what is shown.
struct BrowseWants {
  bool mime_type = false;
  bool digests = false;
  bool author = false;
};

/// One member of a folder, in views that hold until the next page is asked for.
struct BrowseRow {
  NodeId id;
  DriveId drive;
  Kind kind = Kind::file;
  std::string_view name;  // of a mount: what the caller calls it
  std::uint64_t size_bytes = 0;
  Micros modified_at = 0, created_at = 0;
  std::string_view mime_type, author_name;  // "" unless asked for
  ByteView sha256, sha1;                    // empty: not known, or not asked for
  std::int32_t rights = 0;
  bool has_properties = true;  // false: there are none
  bool is_mount = false;       // it lies elsewhere, and is shown here to this caller
  std::array<char, 40> etag_text{};
  std::uint8_t etag_length = 0;

  bool is_folder() const { return kind == Kind::folder; }
  std::string_view etag() const { return {etag_text.data(), etag_length}; }  // without quotes
};

/// The same of a node that was asked for by itself. Its views are the node's.
BrowseRow browse_row(const Node& node);

/// The members of a folder in byte order of their names, the caller's mounts among them, page by page and one
/// page ahead of the reader. Holds no connection while the reader takes his time; memory does not depend on
/// how many members there are. A member that comes or goes meanwhile may be missed; none is told twice.
class Browse {
 public:
  /// @param types  outlives this
  /// @param folder_rights  the caller's, of `Node` or `BrowseRow`: members without grants of their own have
  /// the same
  /// @param after  the members behind this name
  Browse(db::Db& db, MimeNames& types, Caller caller, NodeId folder, std::int32_t folder_rights,
         BrowseWants wants, std::string after);
  ~Browse();
  Browse(Browse&&) noexcept;

  /// Asks for the first page, so that it is on its way while something else is done.
  Task<> start();
  /// The next page; empty at the end. @throws Error unavailable
  Task<std::span<const BrowseRow>> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::files
