#include "blobs/sweeper.hpp"

#include <algorithm>

#include "welkin/core/metrics.hpp"

namespace welkin::blobs {
namespace {

constexpr std::size_t kPage = 1'000;

metrics::Counter orphans_found("welkin_sweep_orphans_total", "chunk files without a row, queued for removal");
metrics::Counter spool_removed("welkin_sweep_spool_files_total", "left-over spool files removed");

}  // namespace

bool Sweeper::is_old(const Stat& stat, Micros now) const {
  return now - stat.changed_at >= Micros{limits_.orphan_seconds} * 1'000'000;
}

unsigned Sweeper::turn(Micros now) {
  if (!ground_.health.writable()) return 0;
  const unsigned removed = sweep_spool(now);
  unsigned queued = 0;
  std::size_t budget = limits_.names;
  for (unsigned i = 0; i < limits_.directories && budget > 0; ++i) queued += sweep_directory(now, budget);
  if (queued > 0) ground_.warn(std::to_string(queued) + " chunk files without a row are queued for removal");
  sweep_rows();
  return removed + queued;
}

unsigned Sweeper::sweep_spool(Micros now) {
  const Area spool{Area::Kind::spool, 0};
  unsigned removed = 0;
  for (const auto& name : ground_.vfs.list(spool, "", limits_.names)) {
    const auto id = parse_spool_file_name(name);
    if (!id || ground_.living.contains(*id)) continue;
    const auto stat = ground_.vfs.stat(spool, name);
    // Asked again after the look at its age: a writer registers its file before it makes it.
    if (!stat || !is_old(*stat, now) || ground_.living.contains(*id)) continue;
    try {
      if (ground_.vfs.remove(spool, name)) ++removed;
    } catch (const VfsError& e) {
      ground_.warn(std::string("a left-over spool file stays: ") + e.what());
    }
  }
  spool_removed.add(removed);
  return removed;
}

unsigned Sweeper::sweep_directory(Micros now, std::size_t& budget) {
  const Area area{Area::Kind::blobs, static_cast<std::uint8_t>(directory_)};
  const std::size_t limit = std::min(budget, kPage);
  const auto names = ground_.vfs.list(area, after_, limit);
  budget -= std::max<std::size_t>(1, names.size());
  if (names.size() < limit) {
    directory_ = (directory_ + 1) % limits_.directories;
    after_.clear();
  } else {
    after_ = names.back();
  }

  std::vector<ChunkName> chunks;
  std::vector<ChunkId> ids;
  for (const auto& name : names) {
    const auto chunk = parse_chunk_file_name(name);
    if (!chunk || area_of(chunk->id) != area) continue;  // none of ours: fsck reports it
    chunks.push_back(*chunk);
    ids.push_back(chunk->id);
  }
  if (chunks.empty()) return 0;
  std::vector<ChunkId> missing;
  ground_.rows.transaction([&](ChunkTx& tx) { missing = tx.missing_chunks(ids); });
  std::sort(missing.begin(), missing.end());

  std::vector<Orphan> orphans;
  for (const auto& chunk : chunks) {
    if (!std::binary_search(missing.begin(), missing.end(), chunk.id)) continue;
    const auto stat = ground_.vfs.stat(area, chunk_file_name(chunk.sha256, chunk.id));
    if (stat && is_old(*stat, now)) orphans.push_back({chunk, stat->size_bytes});
  }
  if (orphans.empty()) return 0;
  ground_.rows.transaction([&](ChunkTx& tx) { tx.adopt_orphans(orphans); });
  orphans_found.add(orphans.size());
  return static_cast<unsigned>(orphans.size());
}

void Sweeper::sweep_rows() {
  const std::size_t pages = std::max<std::size_t>(1, limits_.rows / kPage);
  for (std::size_t i = 0; i < pages; ++i) {
    ground_.rows.transaction(
        [&](ChunkTx& tx) { after_chunk_ = tx.queue_forgotten_chunks(after_chunk_, kPage); });
    if (!after_chunk_) break;
  }
  for (std::size_t i = 0; i < pages; ++i) {
    ground_.rows.transaction(
        [&](ChunkTx& tx) { after_content_ = tx.queue_forgotten_contents(after_content_, kPage); });
    if (!after_content_) break;
  }
}

}  // namespace welkin::blobs
