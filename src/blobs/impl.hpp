#pragma once
#include <mutex>
#include <set>

#include "blobs/chunk_writer.hpp"
#include "blobs/data_dir.hpp"
#include "blobs/pg_chunk_rows.hpp"
#include "blobs/space_guard.hpp"
#include "blobs/sweeper.hpp"
#include "blobs/verified.hpp"

namespace welkin::blobs {

/// The store's parts, in the order they need each other.
struct Store::Impl {
  Impl(db::Db& db, Options options, std::unique_ptr<Vfs> vfs);
  ~Impl();

  void close();
  Micros now() const { return clock->now(); }
  /// Runs f(0) .. f(n-1) on the calling thread and as many of the sync pool as are idle. Safe on the pool's
  /// own threads: nobody waits for work that has not begun.
  void fan_out(std::size_t n, const std::function<void(std::size_t)>& f);
  /// kBatchChunks; less when so many spool files are open that descriptors could run out.
  std::size_t batch_chunks() const;
  /// On io threads: lets a pool thread look at the disk when the figures are old.
  void look_at_space();
  void remove_in_background(std::vector<PlacedChunk> chunks);
  /// A reader could not use this chunk: the next turn of the collector looks at it.
  void suspect_chunk(ChunkId id);
  /// Sets those aside that are bad indeed. @return how many
  unsigned look_at_suspects();

  db::Db& db;
  Options options;
  SystemClock system_clock;
  const Clock* clock;
  DataDir data;
  std::unique_ptr<Vfs> vfs;
  PgChunkRows rows;
  Health health;
  LivingSpool living;
  SpaceGuard space;
  VerifiedChunks verified;
  std::size_t open_files_max;
  WorkPool io, sync;
  Ground ground;
  ChunkIds ids;
  std::mutex collecting, sweeping, scrubbing;
  std::mutex suspects_mutex;
  std::set<ChunkId> suspects;
  Sweeper sweeper;

 private:
  void check_store_id();
  void try_rename();
  void recall_suspect();
};

/// Counts for metrics.
void count_stored(std::size_t chunks, std::uint64_t bytes);

}  // namespace welkin::blobs
