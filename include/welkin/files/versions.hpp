#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/blobs/store.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {

/// What a file was before an overwrite. Versions are for who may change the file: others see its present
/// only.
struct Version {
  VersionId id;
  std::uint64_t size_bytes = 0;
  std::string mime_type;
  Micros modified_at = 0;  // of the content, when it was the present one
  Micros replaced_at = 0;
  UserId author;            // who wrote this content
  std::string author_name;  // "" when gone
  std::string label;        // "": none; labelled ones are kept by the rule of age
  std::optional<Sha256> sha256;
};

struct VersionPage {
  Node node;
  std::vector<Version> items;  // newest first
  VersionId next;              // the last of this page when more follow, else 0
};

struct OpenedVersion {
  Node node;
  Version version;
  blobs::ContentView content;
};

/// Everything here throws Error not_found for what the caller may not read, forbidden for what he may not
/// change, invalid `not_a_file` for folders.
class Versions {
 public:
  Versions(db::Db& db, blobs::Store& store, const Config& config);

  /// @param before  only older ones than this; 0: from the newest
  Task<VersionPage> list(Caller caller, NodeId file, VersionId before = {}, int limit = 100);
  Task<OpenedVersion> open(Caller caller, NodeId file, VersionId version);
  Task<> send(const OpenedVersion& opened, Slice slice, ByteSink& out);
  /// The present content becomes a version. The restored one is used up unless it has a label.
  /// @return the file. @throws Error locked, precondition_failed, quota_exceeded (labelled ones only)
  Task<Node> restore(Caller caller, NodeId file, VersionId version, Expect expect = {},
                     std::vector<db::Uuid> lock_tokens = {});
  /// "" takes the label away. @throws Error invalid `bad_label` (more than 255 bytes, control characters)
  Task<Version> label(Caller caller, NodeId file, VersionId version, std::string label);
  /// For members of the drive; who came by a grant is forbidden: old versions are what others fall back on.
  Task<> remove(Caller caller, NodeId file, VersionId version);

  // --- upkeep, for the scheduler: one bounded turn on the calling thread; true: more is waiting
  /// Drops versions without a label older than config.versions_keep_days, but of each file the newest
  /// config.versions_keep_min.
  bool expire_turn();

 private:
  db::Db& db_;
  blobs::Store& store_;
  std::int32_t keep_days_, keep_min_;
  std::atomic<std::int64_t> expiry_at_{0};  // the rule has come to this id; 0: begins anew
};

}  // namespace welkin::files
