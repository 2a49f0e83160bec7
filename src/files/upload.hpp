#pragma once
#include <memory>
#include <string>

#include "files/gatherer.hpp"
#include "files/node_store.hpp"
#include "welkin/core/work_pool.hpp"

namespace welkin::files {

/// What uploads share; outlives every Upload (they hold it).
struct UploadRoom {
  UploadRoom(db::Db& db, blobs::Store& store, const Clock& clock, bool windows_names)
      : db(db), store(store), clock(clock), windows_names(windows_names), gatherer(db, store) {}
  db::Db& db;
  blobs::Store& store;
  const Clock& clock;
  const bool windows_names;
  Gatherer gatherer;
  // Ends uploads that were given up, in the background; what is lost with the process expires by itself.
  WorkPool cleaner{"files-clean", 1, 10'000};

  std::mutex mime_mutex;
  std::unordered_map<std::string, std::int16_t> mime_ids;
  /// The code of a type, made when new. In a transaction of its own, before any drive is locked.
  /// @return 0, which reads as application/octet-stream, for a type that the caller may not bring any more
  Task<std::int16_t> mime_id(const Caller& caller, std::string type);
};

/// Announced bytes above this are reserved against the quota while they arrive.
inline constexpr std::uint64_t kReserveFromBytes = 8 << 20;
/// A running upload keeps its reservation and its chunks this long; a body that takes longer is refused at
/// its end.
inline constexpr std::int32_t kUploadSeconds = 86'400;

/// As commit_files takes them.
std::string joined_tokens(const std::vector<db::Uuid>& tokens);

std::string joined_etags(const Expect& expect);

/// Where an upload goes, as far as it is known before the change itself decides.
struct UploadPlace {
  DriveId drive;
  NodeId parent;
  std::string name;
};
/// Checks what can be known before a change. @throws Error as begin_upload
Task<UploadPlace> place_of_upload(UploadRoom& room, const Caller& caller, const UploadOptions& options);
/// What a commit made.
Node made_node(const Caller& caller, const Commit& commit, const std::string& mime, const Committed& done);

/// Checks what can be known before a byte is read, and opens a sink.
Task<std::unique_ptr<Upload>> open_upload(std::shared_ptr<UploadRoom> room, Caller caller,
                                          UploadOptions options);

}  // namespace welkin::files
