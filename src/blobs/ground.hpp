#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "blobs/chunk_rows.hpp"
#include "blobs/health.hpp"

namespace welkin::blobs {

/// Spool files that somebody in this process is writing: the sweeper leaves them alone, however old.
class LivingSpool {
 public:
  void add(ChunkId id) {
    const std::lock_guard lock(mutex_);
    ids_.insert(id);
  }
  void remove(ChunkId id) {
    const std::lock_guard lock(mutex_);
    ids_.erase(id);
  }
  bool contains(ChunkId id) const {
    const std::lock_guard lock(mutex_);
    return ids_.contains(id);
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return ids_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::set<ChunkId> ids_;
};

/// Runs f(0) .. f(n-1), perhaps at the same time, and returns when all have. `f` does not throw.
using Fanout = std::function<void(std::size_t n, const std::function<void(std::size_t)>& f)>;

/// What the chunk protocol stands on. The protocol is plain synchronous code: the store runs it on pool
/// threads over PosixVfs and PostgreSQL, the simulation on fibers over a file system and rows that can lose
/// power at every call.
struct Ground {
  Vfs& vfs;
  ChunkRows& rows;
  Health& health;
  LivingSpool& living;
  Fanout fanout;
  std::function<void(const std::string&)> warn;  // what an operator should read
};

/// The Error that a failed file call on the write path means; a device failure makes the store suspect first.
Error write_error(Ground& ground, const VfsError& failure);

/// Runs file calls of the write path. @throws Error no_space; unavailable `store_read_only`, `busy`
template <class F>
auto on_write_path(Ground& ground, F f) {
  std::optional<VfsError> failure;
  try {
    return f();
  } catch (const VfsError& e) {
    failure = e;
  }
  throw write_error(ground, *failure);
}

/// Chunk ids. One block of ids is one directory; uploads of one chunk share a block, so that their directory
/// flushes can be shared too. Thread-safe.
class ChunkIds {
 public:
  /// A block that nobody else draws from.
  struct Block {
    std::int64_t next = 0, end = 0;
    bool empty() const { return next == end; }
    ChunkId take() { return ChunkId{next++}; }
  };

  explicit ChunkIds(ChunkRows& rows) : rows_(rows) {}
  Block block() {
    const ChunkId first = rows_.next_ids();
    return {first.value, first.value + kIdsPerBlock};
  }
  ChunkId one();

 private:
  ChunkRows& rows_;
  std::mutex mutex_;
  Block shared_;
};

}  // namespace welkin::blobs
