#pragma once
#include <map>
#include <optional>
#include <set>

#include "blobs/chunk_rows.hpp"
#include "blobs/sim/faults.hpp"
#include "blobs/sim/fibers.hpp"

namespace welkin::blobs::sim {

class SimVfs;
class SimTx;

/// One row as READ COMMITTED transactions see it: others see `committed`, its writer `pending`.
template <class T>
struct Versioned {
  std::optional<T> committed, pending;
  const SimTx* writer = nullptr;     // has changed it and not yet ended
  const SimTx* exclusive = nullptr;  // FOR UPDATE
  std::set<const SimTx*> shared;     // FOR KEY SHARE

  const std::optional<T>& seen_by(const SimTx* tx) const { return writer == tx ? pending : committed; }
  bool free_for(const SimTx* tx) const {
    return (!writer || writer == tx) && (!exclusive || exclusive == tx) &&
           (shared.empty() || (shared.size() == 1 && shared.contains(tx)));
  }
  bool sharable_by(const SimTx* tx) const {
    return (!writer || writer == tx) && (!exclusive || exclusive == tx);
  }
};

template <class T>
using Table = std::map<std::int64_t, Versioned<T>>;

struct ChunkRow {
  Sha256 sha256;
  std::uint64_t size_bytes = 0;
  bool dying = false;
};
struct ContentRow {
  NewContent description;
  std::map<std::uint64_t, ChunkId> chunks;
};
struct UploadRow {
  std::map<std::uint64_t, ChunkId> chunks;
};
struct QueueRow {
  unsigned attempts = 0;
};
struct NodeRow {
  ContentId content;
};

/// The database of the simulation: row locks, snapshots per statement, durable at commit, nothing left of
/// what was not committed.
class SimRows final : public ChunkRows {
 public:
  SimRows(Fibers& fibers, SimVfs& vfs, Fault fault) : fibers_(fibers), vfs_(vfs), fault_(fault) {}

  void transaction(const std::function<void(ChunkTx&)>& f) override;
  ChunkId next_ids() override;

  /// The same with what only callers of the store do (nodes, uploads).
  void run(const std::function<void(SimTx&)>& f);
  /// One commit in n ends without an answer, half of them committed; 0: never.
  void set_lost_answers(unsigned one_in) { lost_answers_ = one_in; }
  /// Every transaction that was open when the machine stopped is gone.
  void roll_back_all();
  /// Called after each commit: invariants that hold between transactions.
  std::function<void()> on_commit;

  Table<ChunkRow> chunks;
  Table<ContentRow> contents;
  Table<UploadRow> uploads;
  Table<NodeRow> nodes;
  Table<QueueRow> chunk_queue, content_queue;

 private:
  friend class SimTx;
  template <class F>
  void each_table(F f) {
    f(chunks), f(contents), f(uploads), f(nodes), f(chunk_queue), f(content_queue);
  }

  void unlink_by_mistake(const ChunkName& name);

  Fibers& fibers_;
  SimVfs& vfs_;
  Fault fault_;
  unsigned lost_answers_ = 0;
  std::int64_t next_block_ = 0, next_content_ = 0, next_upload_ = 0, next_node_ = 0;
};

class SimTx final : public ChunkTx {
 public:
  explicit SimTx(SimRows& rows) : rows_(rows), fibers_(rows.fibers_) {}
  ~SimTx() override { roll_back(); }

  std::vector<LiveChunk> find_live(std::span<const Sha256> hashes) override;
  std::vector<ChunkId> insert_live(std::span<const PlacedChunk> chunks) override;
  std::vector<ContentId> insert_contents(std::span<const NewContent> contents) override;
  void insert_content_chunks(std::span<const ContentChunk> chunks) override;
  void insert_upload_chunks(UploadId upload, std::int32_t part, std::span<const std::uint64_t> offsets,
                            std::span<const ChunkId> chunks) override;
  std::uint64_t join_upload(UploadId upload, std::span<const std::int32_t> parts, ContentId content) override;

  std::vector<ContentId> due_contents(unsigned grace_seconds, std::size_t limit) override;
  std::vector<ContentId> lock_contents(std::span<const ContentId> contents) override;
  std::vector<ContentId> referenced_contents(std::span<const ContentId> contents) override;
  std::vector<ContentId> missing_contents(std::span<const ContentId> contents) override;
  void delete_contents(std::span<const ContentId> contents) override;
  void unqueue_contents(std::span<const ContentId> contents) override;
  void postpone_contents(std::span<const ContentId> contents) override;

  bool held() override { return false; }
  std::vector<ChunkId> due_chunks(std::size_t limit) override;
  std::vector<DoomedChunk> lock_chunks(std::span<const ChunkId> chunks) override;
  std::vector<ChunkId> referenced_chunks(std::span<const ChunkId> chunks) override;
  std::vector<ChunkId> missing_chunks(std::span<const ChunkId> chunks) override;
  void set_dying(std::span<const ChunkId> chunks) override;
  void unqueue_chunks(std::span<const ChunkId> chunks) override;
  void delete_dying(std::span<const ChunkId> chunks) override;
  void postpone_chunks(std::span<const ChunkId> chunks) override;

  void adopt_orphans(std::span<const Orphan> orphans) override;
  ChunkId queue_forgotten_chunks(ChunkId after, std::size_t limit) override;
  ContentId queue_forgotten_contents(ContentId after, std::size_t limit) override;
  void release_upload(UploadId upload) override;

  // -- what callers of the store do in the same transaction
  UploadId insert_upload();
  std::int64_t insert_node(ContentId content);
  /// Deletes the node and queues its content, as files does.
  void delete_node(std::int64_t node);
  void end_upload(UploadId upload);

 private:
  friend class SimRows;
  void commit();
  void roll_back();

  template <class T>
  const T* look(Table<T>& table, std::int64_t id) const;
  template <class T>
  Versioned<T>& write(Table<T>& table, std::int64_t id, const char* call);
  template <class T>
  bool lock_now(Table<T>& table, std::int64_t id);
  template <class T>
  bool share(Table<T>& table, std::int64_t id, const char* call);
  template <class Id, class T>
  std::vector<Id> due(Table<T>& queue, std::size_t limit);
  void enqueue(Table<QueueRow>& queue, std::int64_t id);
  void unqueue(Table<QueueRow>& queue, std::int64_t id);
  void take_chunk_reference(ChunkId chunk);
  std::set<ChunkId> all_references();
  void insert_dying(const Orphan& orphan);
  bool hash_at_rest(const Sha256& sha256) const;
  bool hash_taken(const Sha256& sha256) const;

  SimRows& rows_;
  Fibers& fibers_;
  std::optional<std::set<ChunkId>> early_proof_;  // Fault::proof_before_lock
};

}  // namespace welkin::blobs::sim
