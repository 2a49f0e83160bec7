#pragma once
#include "blobs/chunk_rows.hpp"
#include "welkin/db/db.hpp"

namespace welkin::blobs {

/// The rows of the chunk protocol in PostgreSQL, within one transaction of somebody's.
class PgChunkTx final : public ChunkTx {
 public:
  explicit PgChunkTx(db::Tx& tx) : tx_(tx) {}

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

  bool held() override;
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

 private:
  db::Tx& tx_;
};

class PgChunkRows final : public ChunkRows {
 public:
  explicit PgChunkRows(db::Db& db) : db_(db) {}
  void transaction(const std::function<void(ChunkTx&)>& f) override;
  ChunkId next_ids() override;

 private:
  db::Db& db_;
};

}  // namespace welkin::blobs
