#pragma once
#include <deque>
#include <vector>

#include "blobs/chunker.hpp"
#include "blobs/ground.hpp"
#include "welkin/core/crypto.hpp"

namespace welkin::blobs {

/// One chunk in the spool, written but not durable. Unless it was placed, its file goes with it.
class SpooledChunk {
 public:
  /// @throws VfsError
  SpooledChunk(Ground& ground, ChunkId id);
  ~SpooledChunk();
  SpooledChunk(SpooledChunk&& other) noexcept;
  SpooledChunk& operator=(SpooledChunk&& other) = delete;

  void write(ByteView bytes);
  /// No more bytes come: what `write` kept back goes out.
  void end();
  VfsFile& file() { return *file_; }
  /// Renames it to its final name. The bytes are durable, the name is not yet.
  void place();

  PlacedChunk chunk;  // sha256 and crc32 are set when the chunk ends

 private:
  Ground* ground_;  // nullptr: moved from, or placed
  File file_;
  Bytes tail_;  // the last bytes, not written yet
};

/// Chunks that are made durable together.
using Batch = std::vector<SpooledChunk>;

/// Flushes every file of the batch at once, then renames all, then flushes their directory: bytes before
/// names, and nothing is referred to before both. The first flush that fails is final: nothing is tried
/// again.
/// @throws Error unavailable `store_read_only`, `busy`; no_space
std::vector<PlacedChunk> make_durable(Ground& ground, Batch batch);

/// Removes files that no row refers to and none ever will. Failures leave work for the sweeper.
void remove_placed(Ground& ground, std::span<const PlacedChunk> chunks);

/// Cuts a body, hashes its chunks and writes them to the spool, one file after another. Not thread-safe.
/// Its file calls throw Error as `on_write_path` does.
class ChunkWriter {
 public:
  enum class Cuts { by_content, none };
  /// @param batch_chunks  how many chunks make a batch, at most kBatchChunks
  ChunkWriter(Ground& ground, ChunkIds& ids, Cuts cuts, const Cutting& cutting = {},
              std::size_t batch_chunks = kBatchChunks);

  /// Takes bytes until the batch is full and one more chunk would begin.
  /// @return bytes taken; fewer than given: `take_batch`, then go on
  std::size_t write(ByteView bytes);
  /// The body ends. The last batch is what `take_batch` returns then, perhaps an empty one.
  void end();
  Batch take_batch();
  void set_batch_chunks(std::size_t n) { batch_chunks_ = n; }

  std::size_t chunks_in_batch() const { return batch_.size(); }
  /// CRC-32 of everything written; whole after `end`.
  std::uint32_t crc32() const { return crc32_; }
  /// Uncut bodies only: spares hashing, since the caller hashes the whole body anyway. Before `end`.
  void set_sha256(const Sha256& sha256) { known_sha256_ = sha256; }

 private:
  void begin_chunk();
  void end_chunk();

  Ground& ground_;
  ChunkIds& ids_;
  Cuts cuts_;
  Chunker chunker_;
  std::size_t batch_chunks_;
  ChunkIds::Block block_;
  Batch batch_;
  bool open_ = false;  // the last of batch_ takes bytes
  crypto::Sha256Stream sha256_;
  std::optional<Sha256> known_sha256_;
  std::uint32_t chunk_crc32_ = 0, crc32_ = 0;
};

}  // namespace welkin::blobs
