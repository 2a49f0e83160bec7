#include "blobs/collector.hpp"

#include <algorithm>
#include <unordered_set>

#include "welkin/core/error.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::blobs {
namespace {

metrics::Counter chunks_removed("welkin_gc_chunks_removed_total", "chunk files taken from the disk");
metrics::Counter bytes_removed("welkin_gc_bytes_removed_total", "bytes of chunk files taken from the disk");
metrics::Counter contents_removed("welkin_gc_contents_removed_total", "contents deleted after their grace");
metrics::Counter removals_failed("welkin_gc_removals_failed_total", "chunk files that could not be removed");

template <class Id>
std::vector<Id> without(std::span<const Id> ids, const std::vector<Id>& taken) {
  const std::unordered_set<Id> out(taken.begin(), taken.end());
  std::vector<Id> rest;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(rest), [&](Id id) { return !out.contains(id); });
  return rest;
}

unsigned delete_unreferenced(ChunkTx& tx, std::span<const ContentId> due) {
  const auto locked = tx.lock_contents(due);
  const auto referenced = tx.referenced_contents(locked);  // its own statement, after the lock
  const auto doomed = without<ContentId>(locked, referenced);
  if (!doomed.empty()) tx.delete_contents(doomed);
  tx.unqueue_contents(referenced);
  tx.unqueue_contents(tx.missing_contents(due));
  return static_cast<unsigned>(doomed.size());
}

/// One by one: something unforeseen refers to one of them.
unsigned delete_singly(Ground& ground, const std::vector<ContentId>& due) {
  unsigned deleted = 0;
  for (const ContentId content : due) {
    std::string failure;
    try {
      unsigned one = 0;
      ground.rows.transaction([&](ChunkTx& tx) { one = delete_unreferenced(tx, std::span(&content, 1)); });
      deleted += one;
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      failure = e.what();
    }
    if (failure.empty()) continue;
    ground.warn("content " + std::to_string(content.value) + " cannot be deleted: " + failure);
    ground.rows.transaction([&](ChunkTx& tx) { tx.postpone_contents(std::span(&content, 1)); });
  }
  return deleted;
}

/// @return chunks that are dying for certain once this has committed
std::vector<DoomedChunk> doom(ChunkRows& rows, std::size_t limit) {
  std::vector<DoomedChunk> doomed;
  rows.transaction([&](ChunkTx& tx) {
    doomed.clear();
    if (tx.held()) return;
    const auto due = tx.due_chunks(limit);
    if (due.empty()) return;
    const auto locked = tx.lock_chunks(due);
    std::vector<ChunkId> ids(locked.size());
    std::transform(locked.begin(), locked.end(), ids.begin(), [](auto& c) { return c.id; });
    const auto referenced = tx.referenced_chunks(ids);  // its own statement, after the lock
    const auto dying = without<ChunkId>(ids, referenced);
    tx.set_dying(dying);
    tx.unqueue_chunks(referenced);
    tx.unqueue_chunks(tx.missing_chunks(due));
    const std::unordered_set<ChunkId> final(dying.begin(), dying.end());
    std::copy_if(locked.begin(), locked.end(), std::back_inserter(doomed),
                 [&](auto& c) { return final.contains(c.id); });
  });
  return doomed;
}

bool remove_file(Ground& ground, const DoomedChunk& chunk) {
  const std::string name = chunk_file_name(chunk.sha256, chunk.id);
  try {
    ground.vfs.remove(area_of(chunk.id), name);
    if (chunk.quarantined) ground.vfs.remove({Area::Kind::quarantine, 0}, name);
    return true;
  } catch (const VfsError& e) {
    ground.warn(std::string("a chunk cannot be removed: ") + e.what());
  }
  removals_failed.add();
  return false;
}

}  // namespace

unsigned collect_contents(Ground& ground, std::size_t limit, unsigned grace_seconds) {
  unsigned deleted = 0;
  std::vector<ContentId> due;
  std::string failure;
  try {
    ground.rows.transaction([&](ChunkTx& tx) {
      due = tx.due_contents(grace_seconds, limit);
      deleted = due.empty() ? 0 : delete_unreferenced(tx, due);
    });
  } catch (const Error&) {
    throw;  // the database is away: later
  } catch (const std::exception& e) {
    failure = e.what();
  }
  if (!failure.empty()) {
    ground.warn("contents are deleted one by one, since together: " + failure);
    deleted = delete_singly(ground, due);
  }
  contents_removed.add(deleted);
  return deleted;
}

Collected collect_chunks(Ground& ground, std::size_t limit) {
  if (!ground.health.writable()) return {};
  const auto doomed = doom(ground.rows, limit);
  Collected out;
  std::vector<ChunkId> gone, stuck;
  std::vector<Area> directories;
  for (const auto& chunk : doomed) {
    if (!remove_file(ground, chunk)) {
      stuck.push_back(chunk.id);
      continue;
    }
    gone.push_back(chunk.id);
    out.bytes += chunk.size_bytes;
    const Area area = area_of(chunk.id);
    if (std::find(directories.begin(), directories.end(), area) == directories.end())
      directories.push_back(area);
  }
  for (const Area area : directories) {
    if (ground.vfs.sync_dir(area) == SyncResult::ok) continue;
    ground.health.suspect("fsync of a directory failed");
    return {};  // the rows stay; after a repair the same chunks are due again
  }
  if (!gone.empty()) ground.rows.transaction([&](ChunkTx& tx) { tx.delete_dying(gone); });
  if (!stuck.empty()) ground.rows.transaction([&](ChunkTx& tx) { tx.postpone_chunks(stuck); });
  chunks_removed.add(gone.size());
  bytes_removed.add(out.bytes);
  out.chunks = static_cast<unsigned>(gone.size());
  return out;
}

}  // namespace welkin::blobs
