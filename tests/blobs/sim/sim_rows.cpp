#include "blobs/sim/sim_rows.hpp"

#include <algorithm>
#include <stdexcept>

#include "blobs/sim/sim_vfs.hpp"
#include "welkin/core/error.hpp"

namespace welkin::blobs::sim {

// -- rows and locks

template <class T>
const T* SimTx::look(Table<T>& table, std::int64_t id) const {
  const auto found = table.find(id);
  if (found == table.end()) return nullptr;
  const auto& row = found->second.seen_by(this);
  return row ? &*row : nullptr;
}

/// The row, ours to change; `pending` starts as what we see.
template <class T>
Versioned<T>& SimTx::write(Table<T>& table, std::int64_t id, const char* call) {
  fibers_.wait(call, [&table, id, this] { return table[id].free_for(this); });
  auto& row = table[id];
  if (row.writer != this) {
    row.pending = row.committed;
    row.writer = this;
  }
  return row;
}

template <class T>
bool SimTx::lock_now(Table<T>& table, std::int64_t id) {
  const auto found = table.find(id);
  if (found == table.end() || !found->second.seen_by(this) || !found->second.free_for(this)) return false;
  found->second.exclusive = this;
  return true;
}

/// FOR KEY SHARE, as foreign keys take it. @return false when the row is gone
template <class T>
bool SimTx::share(Table<T>& table, std::int64_t id, const char* call) {
  fibers_.wait(call, [&table, id, this] {
    const auto found = table.find(id);
    return found == table.end() || found->second.sharable_by(this);
  });
  if (!look(table, id)) return false;
  table[id].shared.insert(this);
  return true;
}

void SimTx::commit() {
  rows_.each_table([this](auto& table) {
    for (auto i = table.begin(); i != table.end();) {
      auto& row = i->second;
      if (row.writer == this) {
        row.committed = std::move(row.pending);
        row.pending.reset();
        row.writer = nullptr;
      }
      if (row.exclusive == this) row.exclusive = nullptr;
      row.shared.erase(this);
      const bool gone = !row.committed && !row.writer && !row.exclusive && row.shared.empty();
      i = gone ? table.erase(i) : std::next(i);
    }
  });
}

void SimTx::roll_back() {
  rows_.each_table([this](auto& table) {
    for (auto& [id, row] : table)
      if (row.writer == this) row.pending = row.committed;
  });
  commit();
}

void SimRows::roll_back_all() {
  each_table([](auto& table) {
    for (auto i = table.begin(); i != table.end();) {
      auto& row = i->second;
      row.writer = row.exclusive = nullptr;
      row.pending.reset();
      row.shared.clear();
      i = row.committed ? std::next(i) : table.erase(i);
    }
  });
}

void SimRows::transaction(const std::function<void(ChunkTx&)>& f) {
  run([&](SimTx& tx) { f(tx); });
}

void SimRows::run(const std::function<void(SimTx&)>& f) {
  fibers_.step("begin");
  for (int attempt = 0; attempt < 20; ++attempt) {
    bool again = false;
    SimTx tx(*this);
    try {
      f(tx);
      fibers_.step("commit");
    } catch (const Deadlock&) {
      again = true;
    }
    if (again) continue;
    const bool lost = lost_answers_ && fibers_.random().one_in(lost_answers_);
    if (!lost || fibers_.random().one_in(2)) {
      tx.commit();
      if (on_commit) on_commit();
      vfs_.rows_committed();
    }
    fibers_.step("committed");
    if (lost) throw Error(Errc::unavailable, "unknown_commit", "the answer to COMMIT was lost");
    return;
  }
  throw Error(Errc::unavailable, "busy", "deadlocks", 1);
}

ChunkId SimRows::next_ids() {
  fibers_.step("nextval");
  // Four directories are enough here: fewer calls to sweep them all.
  const auto block = 256 * (next_block_ / 4) + next_block_ % 4;
  ++next_block_;
  return ChunkId{(block + 256) * kIdsPerBlock};
}

void SimRows::unlink_by_mistake(const ChunkName& name) {
  try {
    vfs_.remove(area_of(name.id), chunk_file_name(name.sha256, name.id));
  } catch (const VfsError& e) {
    fibers_.note(e.what());
  }
}

// -- recording

std::vector<LiveChunk> SimTx::find_live(std::span<const Sha256> hashes) {
  fibers_.step("select live for key share");
  std::vector<std::pair<Sha256, std::int64_t>> snapshot;
  const bool reuse = rows_.fault_ == Fault::dying_row_reused;
  for (auto& [id, row] : rows_.chunks) {
    const auto& seen = row.seen_by(this);
    if (seen && (!seen->dying || reuse) &&
        std::find(hashes.begin(), hashes.end(), seen->sha256) != hashes.end())
      snapshot.emplace_back(seen->sha256, id);
  }
  std::sort(snapshot.begin(), snapshot.end());
  std::vector<LiveChunk> out;
  for (const auto& [sha256, id] : snapshot) {
    if (!share(rows_.chunks, id, "for key share")) continue;
    const ChunkRow* row = look(rows_.chunks, id);  // judged again after the wait
    if (!row->dying || reuse) out.push_back({ChunkId{id}, sha256});
  }
  return out;
}

/// The unique index over live rows: nobody is changing a row of this hash.
bool SimTx::hash_at_rest(const Sha256& sha256) const {
  return std::none_of(rows_.chunks.begin(), rows_.chunks.end(), [&](auto& entry) {
    auto& row = entry.second;
    if (!row.writer || row.writer == this) return false;
    const bool was = row.committed && !row.committed->dying && row.committed->sha256 == sha256;
    const bool will = row.pending && !row.pending->dying && row.pending->sha256 == sha256;
    return was || will;
  });
}

bool SimTx::hash_taken(const Sha256& sha256) const {
  return std::any_of(rows_.chunks.begin(), rows_.chunks.end(), [&](auto& entry) {
    const auto& seen = entry.second.seen_by(this);
    return seen && !seen->dying && seen->sha256 == sha256;
  });
}

/// As PostgreSQL does it: first the index named in ON CONFLICT, then the row with all its indexes. The
/// primary key is judged after the last wait, for the row is made only then.
std::vector<ChunkId> SimTx::insert_live(std::span<const PlacedChunk> chunks) {
  fibers_.step("insert live");
  std::vector<ChunkId> out;
  for (const auto& chunk : chunks) {
    const auto id = chunk.id.value;
    do {
      fibers_.wait("insert, same hash", [&, this] { return hash_at_rest(chunk.sha256); });
      if (hash_taken(chunk.sha256)) break;
      fibers_.wait("insert, same id", [&, this] {
        const auto found = rows_.chunks.find(id);
        return found == rows_.chunks.end() || !found->second.writer || found->second.writer == this;
      });
    } while (!hash_at_rest(chunk.sha256) || hash_taken(chunk.sha256));
    if (hash_taken(chunk.sha256)) continue;
    if (look(rows_.chunks, id)) throw IdTaken();
    write(rows_.chunks, id, "insert").pending = ChunkRow{chunk.sha256, chunk.size_bytes, false};
    out.push_back(chunk.id);
  }
  return out;
}

std::vector<ContentId> SimTx::insert_contents(std::span<const NewContent> contents) {
  fibers_.step("insert contents");
  std::vector<ContentId> out;
  for (const auto& content : contents) {
    const ContentId id{++rows_.next_content_};
    write(rows_.contents, id.value, "insert content").pending = ContentRow{content, {}};
    out.push_back(id);
  }
  return out;
}

void SimTx::take_chunk_reference(ChunkId chunk) {
  if (!share(rows_.chunks, chunk.value, "foreign key"))
    throw std::runtime_error("foreign key: no such chunk");
}

void SimTx::insert_content_chunks(std::span<const ContentChunk> chunks) {
  fibers_.step("insert content_chunks");
  for (const auto& c : chunks) {
    take_chunk_reference(c.chunk);
    write(rows_.contents, c.content.value, "content").pending->chunks.emplace(c.offset, c.chunk);
  }
}

void SimTx::insert_upload_chunks(UploadId upload, std::int32_t, std::span<const std::uint64_t> offsets,
                                 std::span<const ChunkId> chunks) {
  fibers_.step("insert upload_chunks");
  auto& row = write(rows_.uploads, upload.value, "upload");
  if (!row.pending) throw Error(Errc::gone, "upload_ended", "the upload has ended");
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    take_chunk_reference(chunks[i]);
    row.pending->chunks.emplace(offsets[i], chunks[i]);
  }
}

std::uint64_t SimTx::join_upload(UploadId upload, std::span<const std::int32_t>, ContentId content) {
  fibers_.step("join upload");
  auto& row = write(rows_.uploads, upload.value, "upload");
  if (!row.pending) throw Error(Errc::gone, "upload_ended", "the upload has ended");
  std::uint64_t bytes = 0;
  auto& target = *write(rows_.contents, content.value, "content").pending;
  for (const auto& [offset, chunk] : row.pending->chunks) {
    take_chunk_reference(chunk);
    target.chunks.emplace(offset, chunk);
    bytes += look(rows_.chunks, chunk.value)->size_bytes;
  }
  row.pending->chunks.clear();
  return bytes;
}

// -- queues

template <class Id, class T>
std::vector<Id> SimTx::due(Table<T>& queue, std::size_t limit) {
  std::vector<Id> out;
  for (auto& [id, row] : queue) {
    if (out.size() == limit) break;
    const auto& seen = row.seen_by(this);
    if (!seen || seen->attempts >= 10 || !row.free_for(this)) continue;  // skip locked
    row.exclusive = this;
    out.push_back(Id{id});
  }
  return out;
}

void SimTx::enqueue(Table<QueueRow>& queue, std::int64_t id) {
  auto& row = write(queue, id, "queue");
  if (!row.pending) row.pending = QueueRow{};
}

void SimTx::unqueue(Table<QueueRow>& queue, std::int64_t id) {
  if (look(queue, id)) write(queue, id, "unqueue").pending.reset();
}

// -- contents

std::vector<ContentId> SimTx::due_contents(unsigned, std::size_t limit) {
  fibers_.step("select due contents");
  return due<ContentId>(rows_.content_queue, limit);
}

std::vector<ContentId> SimTx::lock_contents(std::span<const ContentId> contents) {
  fibers_.step("lock contents");
  std::vector<ContentId> out;
  for (const ContentId id : contents)
    if (lock_now(rows_.contents, id.value)) out.push_back(id);
  return out;
}

std::vector<ContentId> SimTx::referenced_contents(std::span<const ContentId> contents) {
  fibers_.step("prove contents");
  std::vector<ContentId> out;
  for (const ContentId id : contents) {
    const bool referenced = std::any_of(rows_.nodes.begin(), rows_.nodes.end(), [&](auto& entry) {
      const auto& node = entry.second.seen_by(this);
      return node && node->content == id;
    });
    if (referenced) out.push_back(id);
  }
  return out;
}

std::vector<ContentId> SimTx::missing_contents(std::span<const ContentId> contents) {
  std::vector<ContentId> out;
  for (const ContentId id : contents)
    if (!look(rows_.contents, id.value)) out.push_back(id);
  return out;
}

void SimTx::delete_contents(std::span<const ContentId> contents) {
  fibers_.step("delete contents");
  for (const ContentId id : contents) {
    for (const auto& [offset, chunk] : look(rows_.contents, id.value)->chunks)
      enqueue(rows_.chunk_queue, chunk.value);
    write(rows_.contents, id.value, "delete content").pending.reset();
    unqueue(rows_.content_queue, id.value);
  }
}

void SimTx::unqueue_contents(std::span<const ContentId> contents) {
  for (const ContentId id : contents) unqueue(rows_.content_queue, id.value);
}

void SimTx::postpone_contents(std::span<const ContentId> contents) {
  for (const ContentId id : contents) ++write(rows_.content_queue, id.value, "postpone").pending->attempts;
}

// -- chunks

std::set<ChunkId> SimTx::all_references() {
  std::set<ChunkId> out;
  const auto add = [&](auto& table) {
    for (auto& [id, row] : table)
      if (const auto& seen = row.seen_by(this))
        for (const auto& [offset, chunk] : seen->chunks) out.insert(chunk);
  };
  add(rows_.contents);
  add(rows_.uploads);
  return out;
}

std::vector<ChunkId> SimTx::due_chunks(std::size_t limit) {
  fibers_.step("select due chunks");
  const auto out = due<ChunkId>(rows_.chunk_queue, limit);
  if (rows_.fault_ == Fault::proof_before_lock) {
    early_proof_ = all_references();
    fibers_.step("prove too early");
  }
  return out;
}

std::vector<DoomedChunk> SimTx::lock_chunks(std::span<const ChunkId> chunks) {
  fibers_.step("lock chunks");
  std::vector<DoomedChunk> out;
  for (const ChunkId id : chunks) {
    if (!lock_now(rows_.chunks, id.value)) continue;
    const auto row = look(rows_.chunks, id.value);
    out.push_back({id, row->sha256, false, row->size_bytes});
  }
  return out;
}

std::vector<ChunkId> SimTx::referenced_chunks(std::span<const ChunkId> chunks) {
  fibers_.step("prove chunks");
  if (rows_.fault_ == Fault::references_not_proved) return {};
  const auto references = early_proof_ ? *early_proof_ : all_references();
  std::vector<ChunkId> out;
  for (const ChunkId id : chunks)
    if (references.contains(id)) out.push_back(id);
  return out;
}

std::vector<ChunkId> SimTx::missing_chunks(std::span<const ChunkId> chunks) {
  fibers_.step("select missing chunks");
  std::vector<ChunkId> out;
  for (const ChunkId id : chunks)
    if (!look(rows_.chunks, id.value)) out.push_back(id);
  return out;
}

void SimTx::set_dying(std::span<const ChunkId> chunks) {
  fibers_.step("set dying");
  for (const ChunkId id : chunks) {
    auto& row = write(rows_.chunks, id.value, "set dying");
    row.pending->dying = true;
    if (rows_.fault_ == Fault::unlink_before_commit) rows_.unlink_by_mistake({row.pending->sha256, id});
  }
}

void SimTx::unqueue_chunks(std::span<const ChunkId> chunks) {
  for (const ChunkId id : chunks) unqueue(rows_.chunk_queue, id.value);
}

void SimTx::delete_dying(std::span<const ChunkId> chunks) {
  fibers_.step("delete dying");
  for (const ChunkId id : chunks) {
    const ChunkRow* row = look(rows_.chunks, id.value);
    if (row && row->dying) write(rows_.chunks, id.value, "delete dying").pending.reset();
    unqueue(rows_.chunk_queue, id.value);
  }
}

void SimTx::postpone_chunks(std::span<const ChunkId> chunks) {
  fibers_.step("postpone chunks");
  for (const ChunkId id : chunks) {
    auto& row = write(rows_.chunk_queue, id.value, "postpone");
    if (row.pending) ++row.pending->attempts;
  }
}

// -- sweeping

void SimTx::insert_dying(const Orphan& orphan) {
  const auto id = orphan.name.id.value;
  fibers_.wait("insert dying, same id", [id, this] {
    const auto found = rows_.chunks.find(id);
    return found == rows_.chunks.end() || !found->second.writer || found->second.writer == this;
  });
  if (look(rows_.chunks, id)) return;
  write(rows_.chunks, id, "insert dying").pending = ChunkRow{orphan.name.sha256, orphan.size_bytes, true};
}

void SimTx::adopt_orphans(std::span<const Orphan> orphans) {
  fibers_.step("adopt orphans");
  for (const auto& orphan : orphans) {
    if (rows_.fault_ == Fault::sweeper_unlinks) {
      rows_.unlink_by_mistake(orphan.name);
      continue;
    }
    insert_dying(orphan);
    enqueue(rows_.chunk_queue, orphan.name.id.value);
  }
}

ChunkId SimTx::queue_forgotten_chunks(ChunkId, std::size_t) {
  fibers_.step("queue forgotten chunks");
  const auto references = all_references();
  std::vector<std::int64_t> forgotten;
  for (auto& [id, row] : rows_.chunks)
    if (row.seen_by(this) && !references.contains(ChunkId{id})) forgotten.push_back(id);
  for (const auto id : forgotten) enqueue(rows_.chunk_queue, id);
  return {};
}

ContentId SimTx::queue_forgotten_contents(ContentId, std::size_t) {
  fibers_.step("queue forgotten contents");
  std::vector<ContentId> all;
  for (auto& [id, row] : rows_.contents)
    if (row.seen_by(this)) all.push_back(ContentId{id});
  const auto referenced = referenced_contents(all);
  for (const ContentId id : all)
    if (std::find(referenced.begin(), referenced.end(), id) == referenced.end())
      enqueue(rows_.content_queue, id.value);
  return {};
}

void SimTx::release_upload(UploadId upload) {
  fibers_.step("release upload");
  auto& row = write(rows_.uploads, upload.value, "upload");
  if (!row.pending) return;
  for (const auto& [offset, chunk] : row.pending->chunks) enqueue(rows_.chunk_queue, chunk.value);
  row.pending->chunks.clear();
}

// -- callers of the store

UploadId SimTx::insert_upload() {
  const UploadId id{++rows_.next_upload_};
  write(rows_.uploads, id.value, "insert upload").pending = UploadRow{};
  return id;
}

std::int64_t SimTx::insert_node(ContentId content) {
  fibers_.step("insert node");
  if (!share(rows_.contents, content.value, "foreign key"))
    throw Error(Errc::not_found, "not_found", "no content");
  const auto id = ++rows_.next_node_;
  write(rows_.nodes, id, "insert node").pending = NodeRow{content};
  return id;
}

void SimTx::delete_node(std::int64_t node) {
  fibers_.step("delete node");
  auto& row = write(rows_.nodes, node, "delete node");
  if (!row.pending) return;
  const auto content = row.pending->content.value;
  row.pending.reset();
  enqueue(rows_.content_queue, content);
}

void SimTx::end_upload(UploadId upload) {
  release_upload(upload);
  write(rows_.uploads, upload.value, "end upload").pending.reset();
}

}  // namespace welkin::blobs::sim
