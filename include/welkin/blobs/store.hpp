#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "welkin/blobs/vfs.hpp"
#include "welkin/core/bytes.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/core/work_pool.hpp"
#include "welkin/db/db.hpp"

/// Bodies. Content of at most kInlineBytesMax bytes lives in PostgreSQL with its node's transaction;
/// everything above in chunk files, cut by content above 1 MiB (FastCDC 256 KiB / 1 MiB / 4 MiB). A chunk
/// file's name is never used twice, `<sha256>.<chunk id in hex>`, in directory (id >> 6) & 0xff; a dying
/// chunk is never revived.
namespace welkin::blobs {

inline constexpr std::uint64_t kInlineBytesMax = 65'536;
inline constexpr std::uint32_t kChunkBytesMin = 256 << 10, kChunkBytesAvg = 1 << 20, kChunkBytesMax = 4 << 20;
inline constexpr std::uint64_t kSingleChunkBytesMax = 1 << 20;  // up to here one chunk, uncut
inline constexpr std::size_t kBatchChunks = 64;                 // chunks made durable together

struct PlacedChunk {
  ChunkId id;
  Sha256 sha256;
  std::uint32_t size_bytes, crc32;
};

/// A whole body that is on stable storage (chunks) or in memory (inline), but that no row refers to yet.
struct Sealed {
  std::variant<Bytes, std::vector<PlacedChunk>> body;  // chunks: those of the last batch, not yet recorded
  UploadId upload;                                     // set when earlier batches were recorded under it
  // Of an upload that came in parts: which, in the order they are joined; others are given up. Empty: all.
  std::vector<std::int32_t> parts;
  std::uint64_t size_bytes = 0;
  std::uint32_t crc32 = 0;
  Sha256 sha256{};  // of the whole body; all zero: not known
  Bytes sha1;       // the same; "": not known. Whoever sets it has proved it
  struct Outcome {
    std::vector<PlacedChunk> surplus;  // files whose hash had a row already
  };
  std::shared_ptr<Outcome> outcome;  // set by record, again on each run; read by committed
  bool is_inline() const { return std::holds_alternative<Bytes>(body); }
};

/// Takes one body. Nothing is promised before `seal` returns; destroying an unsealed sink removes its spool
/// files (recorded batches stay with their upload row until it ends).
class Sink {
 public:
  virtual ~Sink() = default;
  /// Suspends for disk and hash: this is the back-pressure.
  /// @throws Error no_space; unavailable `store_read_only`
  virtual Task<> write(ByteView block) = 0;
  virtual Task<Sealed> seal() = 0;
  virtual std::uint64_t size_bytes() const = 0;
};

inline constexpr std::size_t kViewPartsMax =
    64;  // about 64 MiB: read while the socket still holds as much to send

/// How to read a content, loaded in the transaction that checked the right to it.
struct ContentView {
  ContentId id;
  std::uint64_t size_bytes = 0;
  std::uint32_t crc32 = 0;
  Sha256 sha256{};    // all zero: not known yet
  Bytes inline_body;  // when the content is inline
  struct Part {
    ChunkId id;
    Sha256 sha256;
    std::uint64_t offset;  // in the content
    std::uint32_t size_bytes;
    Micros verified_at;  // when the hash was last seen good; 0: not since it was stored
  };
  /// Those that overlap the slice asked for, in order; at most kViewPartsMax: `send` loads further ones as it
  /// goes.
  std::vector<Part> parts;
};

class Store {
 public:
  struct Options {
    std::string data_dir;
    std::uint64_t disk_floor_bytes = 1ull << 30;  // and 2 % of the disk, whichever is more, stay free
    unsigned gc_grace_seconds = 86'400;
    std::size_t io_threads = 4;        // cut, hash, write, read
    std::size_t sync_threads = 8;      // fdatasync, fsync
    unsigned orphan_seconds = 86'400;  // what the sweeper leaves alone at least
    const Clock* clock = nullptr;      // nullptr: the system's
  };
  /// Makes directories and store.id on first use (fsynced), checks that the database knows the same store id,
  /// that spool and blobs are one file system, and that no other process has the store open for this data
  /// directory twice.
  /// @throws std::runtime_error with a clear text
  Store(db::Db& db, Options options);
  /// With another Vfs (tests).
  Store(db::Db& db, Options options, std::unique_ptr<Vfs> vfs);
  ~Store();

  struct SinkOptions {
    std::optional<std::uint64_t> size_hint;  // Content-Length: no more and no less is not checked here
    /// Called at most once, when the body outgrows one batch (64 chunks): makes the `uploads` row its chunks
    /// hang on.
    std::function<Task<UploadId>()> upload;
    /// Set for a part of an upload: never inline, recorded under this number by `record_part`.
    std::optional<std::int32_t> part = std::nullopt;
  };
  /// Sinks end before their store does. @throws Error no_space, unavailable `store_read_only`
  std::unique_ptr<Sink> sink(SinkOptions options);

  /// Inserts contents (and chunks, references) for sealed bodies, inside the caller's transaction and before
  /// it takes any drive lock. Set-wise for inline ones. May run again when the transaction is tried again.
  /// The rows of `Sealed::upload` are joined and its upload_chunks removed.
  /// @return one content per body, in order
  std::vector<ContentId> record(db::Tx& tx, const std::vector<const Sealed*>& bodies);
  /// Makes a sealed part one of its upload's, in the caller's transaction. Then `committed` or `abandon`, as
  /// for bodies. @throws Error gone `upload_ended`
  void record_part(db::Tx& tx, UploadId upload, std::int32_t part, const Sealed& body);
  /// What is known of parts, put together: nothing is read. @param parts  their sizes and checksums, in order
  struct PartFacts {
    std::int32_t part = 0;
    std::uint64_t size_bytes = 0;
    std::uint32_t crc32 = 0;
  };
  static Sealed joined(UploadId upload, std::span<const PartFacts> parts);
  /// After the commit: unlinks files that turned out to be duplicates, in the background.
  void committed(const Sealed& body);
  /// After a certain rollback: the body is not wanted. Files become orphans and are removed.
  void abandon(const Sealed& body);

  /// @param slice  loads the chunk list of this part only. @throws Error not_found
  ContentView view(db::Tx& tx, ContentId content, std::optional<Slice> slice = std::nullopt);
  /// The same out of a statement of another store that joins `content_view(content, $a, $b, $c)`, so that a
  /// node and its content are one round trip: `add_view` adds $a to $c, `view` reads the columns from
  /// `column` on.
  static void add_view(db::Params& params, std::optional<Slice> slice);
  static ContentView view(const db::Row& row, int column, ContentId content);
  /// Feeds `slice` of the content. Chunks not verified within a day are hashed before the first byte of them
  /// goes out.
  /// @throws Error internal `content_damaged` before or in the middle (then the connection is cut)
  Task<> send(const ContentView& content, Slice slice, ByteSink& out);
  /// The whole of a content in memory; for small ones. @throws Error too_large
  Task<Bytes> read_all(const ContentView& content, std::size_t bytes_max);

  /// For whoever ends an upload without a content: queues its chunks for the collector and takes them from
  /// it. The uploads row stays the caller's.
  void release(db::Tx& tx, UploadId upload);

  /// One turn of the collector: looks again at chunks that readers found damaged, heals what can be healed,
  /// then takes contents past their grace and chunks, at most `batch_max` of each. Blocks.
  /// @return how many chunks left the disk
  unsigned collect(std::size_t batch_max = 200);
  struct ScrubStep {
    unsigned chunks = 0, damaged = 0;
    std::uint64_t bytes = 0;
    bool idle = false;  // nothing is due, or the disk does not answer: come back later
  };
  /// Reads chunks that were not seen good for `again_after_days`, in the order of their ids from where the
  /// last step ended, until `bytes_max` were read. A damaged one is set aside (quarantined), so that the next
  /// upload of its bytes heals what needs it. Blocks.
  ScrubStep scrub(std::uint64_t bytes_max, unsigned again_after_days = 30);
  /// One turn of the sweeper: files without a row, spool leftovers older than a day. Blocks. @return files
  /// queued
  unsigned sweep();

  /// False after a failed fsync, EIO or a read-only remount: writes answer 503 `store_read_only`, reads go
  /// on. Kept over restarts; only `reset_suspect` (welkin doctor --reset-store) clears it.
  bool writable() const;
  std::string suspect_reason() const;
  /// For an operator who has looked at the disk. The next start of the server takes writes again.
  /// @return the reason that stood there; nullopt: the store was sound
  static std::optional<std::string> reset_suspect(db::Db& db, const Options& options);
  Space space();
  /// For changes that write no body but make the database grow, which has the same disk as a rule: a full one
  /// stops it for all. @throws Error no_space
  void require_space();

  /// Ends the threads after what they have in hand. Idempotent; before the io_contexts are destroyed.
  void close();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::blobs
