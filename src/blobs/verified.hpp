#pragma once
#include <mutex>
#include <unordered_map>

#include "welkin/blobs/vfs.hpp"
#include "welkin/core/id.hpp"

namespace welkin::blobs {

/// Chunks whose hash was seen good by this process within a day, so that a sound chunk is hashed once a day
/// and not once a request. A file that changed since counts as never seen. Thread-safe; forgets the older
/// half when it is full.
class VerifiedChunks {
 public:
  static constexpr Micros kGoodFor = 86'400ll * 1'000'000;
  static constexpr std::size_t kEntriesMax = 1 << 17;  // 128 GiB of chunks in about 8 MiB

  /// @param verified_at  what the database knows, 0: nothing
  bool is_good(ChunkId id, const Stat& stat, Micros verified_at, Micros now) const {
    if (verified_at > 0 && stat.changed_at < verified_at && now - verified_at < kGoodFor) return true;
    const std::lock_guard lock(mutex_);
    auto found = young_.find(id);
    if (found == young_.end()) {
      found = old_.find(id);
      if (found == old_.end()) return false;
    }
    return found->second.changed_at == stat.changed_at && now - found->second.seen_at < kGoodFor;
  }

  void add(ChunkId id, const Stat& stat, Micros now) {
    const std::lock_guard lock(mutex_);
    if (young_.size() >= kEntriesMax / 2) {
      old_ = std::move(young_);
      young_.clear();
    }
    young_[id] = {stat.changed_at, now};
  }

 private:
  struct Seen {
    Micros changed_at, seen_at;
  };
  mutable std::mutex mutex_;
  std::unordered_map<ChunkId, Seen> young_, old_;
};

}  // namespace welkin::blobs
