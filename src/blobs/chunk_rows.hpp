#pragma once
#include <functional>
#include <span>
#include <vector>

#include "blobs/layout.hpp"
#include "welkin/blobs/store.hpp"

/// The rows the chunk protocol works on, as narrow as the protocol allows, so that the same protocol code
/// runs over PostgreSQL and, in the simulation, over rows that lose uncommitted changes at any call.
namespace welkin::blobs {

struct LiveChunk {
  ChunkId id;
  Sha256 sha256;
};

/// A file in blobs/ that no row knows.
struct Orphan {
  ChunkName name;
  std::uint64_t size_bytes;
};

/// A chunk that is to leave the disk, locked.
struct DoomedChunk {
  ChunkId id;
  Sha256 sha256;
  bool quarantined;
  std::uint64_t size_bytes;
};

/// `chunk` lies at `offset` bytes of `content`.
struct ContentChunk {
  ContentId content;
  std::uint64_t offset;
  ChunkId chunk;
};

struct NewContent {
  std::uint64_t size_bytes;
  std::uint32_t crc32;
  Sha256 sha256;             // all zero: not known yet
  std::size_t chunks;        // those of an upload are added by join_upload
  const Bytes* inline_body;  // nullptr: chunks
  Bytes sha1{};              // "": not known
};

/// Thrown by insert_live when one of the ids has a row already: the sweeper took the file for an orphan.
class IdTaken : public std::exception {
 public:
  const char* what() const noexcept override { return "a chunk id has a row already"; }
};

/// One READ COMMITTED transaction. Each call is one statement, or several, with a snapshot taken when it
/// starts: what others committed before is seen, and a call that waited for a lock judges the row as it is
/// after the wait.
class ChunkTx {
 public:
  virtual ~ChunkTx() = default;

  // -- recording
  /// Live, sound rows with these hashes (ascending), locked FOR KEY SHARE: none of them dies before this
  /// ends.
  virtual std::vector<LiveChunk> find_live(std::span<const Sha256> hashes) = 0;
  /// Inserts live rows, ascending by hash. @return the ids inserted; one that is missing found a live row of
  /// its hash made by somebody else. @throws IdTaken
  virtual std::vector<ChunkId> insert_live(std::span<const PlacedChunk> chunks) = 0;
  virtual std::vector<ContentId> insert_contents(std::span<const NewContent> contents) = 0;
  /// The foreign key locks each chunk row FOR KEY SHARE and fails when it is gone.
  virtual void insert_content_chunks(std::span<const ContentChunk> chunks) = 0;
  /// References of part `part`. @throws Error gone `upload_ended` when the upload is
  virtual void insert_upload_chunks(UploadId upload, std::int32_t part,
                                    std::span<const std::uint64_t> offsets,
                                    std::span<const ChunkId> chunks) = 0;
  /// Locks the upload, gives the chunks of `parts` to `content` in that order (and counts them there), and
  /// takes all from the upload; those of other parts are queued. No parts: all, in the order of their
  /// numbers.
  /// @return bytes they hold. @throws Error gone `upload_ended`
  virtual std::uint64_t join_upload(UploadId upload, std::span<const std::int32_t> parts,
                                    ContentId content) = 0;

  // -- collecting contents
  /// Contents queued for at least the grace, not in anybody else's hands.
  virtual std::vector<ContentId> due_contents(unsigned grace_seconds, std::size_t limit) = 0;
  /// Locks those that exist and nobody holds. FOR UPDATE SKIP LOCKED
  virtual std::vector<ContentId> lock_contents(std::span<const ContentId> contents) = 0;
  virtual std::vector<ContentId> referenced_contents(std::span<const ContentId> contents) = 0;
  virtual std::vector<ContentId> missing_contents(std::span<const ContentId> contents) = 0;
  /// Queues their chunks, deletes them with all that hangs on them, and their place in the queue.
  virtual void delete_contents(std::span<const ContentId> contents) = 0;
  virtual void unqueue_contents(std::span<const ContentId> contents) = 0;
  virtual void postpone_contents(std::span<const ContentId> contents) = 0;

  // -- collecting chunks
  /// True while a backup needs every file to stay.
  virtual bool held() = 0;
  virtual std::vector<ChunkId> due_chunks(std::size_t limit) = 0;
  /// Locks those that exist and nobody holds. FOR UPDATE SKIP LOCKED
  virtual std::vector<DoomedChunk> lock_chunks(std::span<const ChunkId> chunks) = 0;
  virtual std::vector<ChunkId> referenced_chunks(std::span<const ChunkId> chunks) = 0;
  virtual std::vector<ChunkId> missing_chunks(std::span<const ChunkId> chunks) = 0;
  virtual void set_dying(std::span<const ChunkId> chunks) = 0;
  virtual void unqueue_chunks(std::span<const ChunkId> chunks) = 0;
  /// Deletes dying rows and their place in the queue.
  virtual void delete_dying(std::span<const ChunkId> chunks) = 0;
  /// One more failed attempt: later and later, and after ten of them parked.
  virtual void postpone_chunks(std::span<const ChunkId> chunks) = 0;

  // -- sweeping
  /// Makes dying rows for files without one and queues them. Does nothing to ids that have a row by now.
  virtual void adopt_orphans(std::span<const Orphan> orphans) = 0;
  /// Queues chunks (contents) above `after`, in a page of `limit` rows, that nothing refers to and nobody
  /// queued.
  /// @return the last id looked at; 0 at the end
  virtual ChunkId queue_forgotten_chunks(ChunkId after, std::size_t limit) = 0;
  virtual ContentId queue_forgotten_contents(ContentId after, std::size_t limit) = 0;
  /// Gives up what an upload refers to: its chunks are queued.
  virtual void release_upload(UploadId upload) = 0;
};

class ChunkRows {
 public:
  virtual ~ChunkRows() = default;
  /// Runs `f` in one transaction and commits; may run it again. Exceptions of `f` roll back and pass.
  virtual void transaction(const std::function<void(ChunkTx&)>& f) = 0;
  /// The first of kIdsPerBlock ids that nobody else gets.
  virtual ChunkId next_ids() = 0;
};

}  // namespace welkin::blobs
