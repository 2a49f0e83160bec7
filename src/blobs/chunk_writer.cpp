#include "blobs/chunk_writer.hpp"

#include <algorithm>
#include <utility>

#include "blobs/crc32.hpp"

namespace welkin::blobs {
namespace {

/// Writes that begin and end at such offsets let the kernel keep a file in few large pages, which makes every
/// later read of it cheaper: a tenth of the work of a download from memory.
constexpr std::size_t kAlignBytes = 256 * 1024;

}  // namespace

SpooledChunk::SpooledChunk(Ground& ground, ChunkId id) : chunk{id, {}, 0, 0}, ground_(&ground) {
  ground.living.add(id);
  try {
    file_ = ground.vfs.create({Area::Kind::spool, 0}, spool_file_name(id));
  } catch (...) {
    ground.living.remove(id);
    throw;
  }
}

SpooledChunk::SpooledChunk(SpooledChunk&& other) noexcept
    : chunk(other.chunk),
      ground_(std::exchange(other.ground_, nullptr)),
      file_(std::move(other.file_)),
      tail_(std::move(other.tail_)) {}

SpooledChunk::~SpooledChunk() {
  if (!ground_) return;
  file_.reset();
  try {
    ground_->vfs.remove({Area::Kind::spool, 0}, spool_file_name(chunk.id));
  } catch (const VfsError& e) {
    ground_->warn(std::string("a spool file stays until it is swept: ") + e.what());
  }
  ground_->living.remove(chunk.id);
}

void SpooledChunk::write(ByteView bytes) {
  std::uint64_t at = chunk.size_bytes - tail_.size();
  chunk.size_bytes += static_cast<std::uint32_t>(bytes.size());
  while (!bytes.empty()) {
    std::size_t n = bytes.size() - bytes.size() % kAlignBytes;
    if (tail_.empty() && n > 0) {
      ground_->vfs.write(*file_, at, bytes.first(n));
      at += n;
    } else {
      n = std::min(bytes.size(), kAlignBytes - tail_.size());
      if (tail_.empty()) tail_.reserve(kAlignBytes);
      tail_.insert(tail_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      if (tail_.size() == kAlignBytes) {
        ground_->vfs.write(*file_, at, tail_);
        at += tail_.size();
        tail_.clear();
      }
    }
    bytes = bytes.subspan(n);
  }
}

void SpooledChunk::end() {
  if (!tail_.empty()) ground_->vfs.write(*file_, chunk.size_bytes - tail_.size(), tail_);
  tail_ = {};
}

void SpooledChunk::place() {
  ground_->vfs.place(spool_file_name(chunk.id), area_of(chunk.id), chunk_file_name(chunk.sha256, chunk.id));
  ground_->living.remove(chunk.id);
  ground_ = nullptr;
  file_.reset();
}

std::vector<PlacedChunk> make_durable(Ground& ground, Batch batch) {
  ground.health.require_writable();
  std::vector<SyncResult> results(batch.size(), SyncResult::failed);
  ground.fanout(batch.size(), [&](std::size_t i) { results[i] = ground.vfs.sync(batch[i].file()); });
  if (std::find(results.begin(), results.end(), SyncResult::failed) != results.end())
    ground.health.suspect("fdatasync of a chunk failed");
  ground.health.require_writable();

  std::vector<PlacedChunk> placed;
  placed.reserve(batch.size());
  std::vector<Area> directories;
  on_write_path(ground, [&] {
    for (auto& spooled : batch) {
      spooled.place();
      placed.push_back(spooled.chunk);
      const Area area = area_of(spooled.chunk.id);
      if (std::find(directories.begin(), directories.end(), area) == directories.end())
        directories.push_back(area);
    }
    for (const Area area : directories)
      if (ground.vfs.sync_dir(area) == SyncResult::failed)
        ground.health.suspect("fsync of a directory failed");
  });
  ground.health.require_writable();
  return placed;
}

void remove_placed(Ground& ground, std::span<const PlacedChunk> chunks) {
  for (const auto& chunk : chunks) {
    try {
      ground.vfs.remove(area_of(chunk.id), chunk_file_name(chunk.sha256, chunk.id));
    } catch (const VfsError& e) {
      ground.warn(std::string("an unwanted chunk stays until it is swept: ") + e.what());
    }
  }
}

ChunkWriter::ChunkWriter(Ground& ground, ChunkIds& ids, Cuts cuts, const Cutting& cutting,
                         std::size_t batch_chunks)
    : ground_(ground), ids_(ids), cuts_(cuts), chunker_(cutting), batch_chunks_(batch_chunks) {}

void ChunkWriter::begin_chunk() {
  ground_.health.require_writable();
  ChunkId id;
  if (cuts_ == Cuts::none) {
    id = ids_.one();
  } else {
    if (block_.empty()) block_ = ids_.block();
    id = block_.take();
  }
  on_write_path(ground_, [&] { batch_.emplace_back(ground_, id); });
  open_ = true;
}

void ChunkWriter::end_chunk() {
  auto& spooled = batch_.back();
  spooled.chunk.sha256 = known_sha256_ ? *known_sha256_ : sha256_.finish();
  spooled.chunk.crc32 = chunk_crc32_;
  crc32_ = crc32_join(crc32_, chunk_crc32_, spooled.chunk.size_bytes);
  chunk_crc32_ = 0;
  open_ = false;
  on_write_path(ground_, [&] { spooled.end(); });
  // The disk starts now; the flush at the end of the batch then finds little left to do.
  ground_.vfs.start_writeback(spooled.file());
}

std::size_t ChunkWriter::write(ByteView bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    if (!open_) {
      if (batch_.size() >= batch_chunks_) return taken;
      begin_chunk();
    }
    const ByteView rest = bytes.subspan(taken);
    const Chunker::Step step =
        cuts_ == Cuts::by_content ? chunker_.next(rest) : Chunker::Step{rest.size(), false};
    const ByteView piece = rest.first(step.taken);
    on_write_path(ground_, [&] { batch_.back().write(piece); });
    if (!known_sha256_) sha256_.update(piece);
    chunk_crc32_ = blobs::crc32(chunk_crc32_, piece);
    taken += step.taken;
    if (step.cut) end_chunk();
  }
  return taken;
}

void ChunkWriter::end() {
  if (open_) end_chunk();
}

Batch ChunkWriter::take_batch() { return std::exchange(batch_, {}); }

}  // namespace welkin::blobs
