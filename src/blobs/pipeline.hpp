#pragma once
#include <array>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "blobs/impl.hpp"
#include "welkin/core/event.hpp"

namespace welkin::blobs {

/// One body above the inline limit on its way to the disk.
///
/// The receiving coroutine copies bytes into a ring of blocks. Two readers follow it on pool threads, each at
/// its own pace: one hashes the body as a whole, one cuts it, hashes its chunks and writes them to the spool.
/// A full batch is made durable on the sync pool while the next one is being written, and recorded under the
/// body's upload. A slot of the ring is free again when both readers have passed it; until then the coroutine
/// sleeps, which is the back-pressure.
///
/// Nobody knows how a body of unknown length is to be cut before it is longer than kSingleChunkBytesMax, so
/// up to there it stays in the ring. A body that ends before is one chunk, and the two hashes are one.
class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  static constexpr std::size_t kBlockBytes = 256 << 10;
  static constexpr std::size_t kBlocks = 6;  // more than kSingleChunkBytesMax and one in hand
  static_assert((kBlocks - 1) * kBlockBytes > kSingleChunkBytesMax);

  Pipeline(Store::Impl& store, Store::SinkOptions options, SpaceGuard::Reservation reservation);

  // For one coroutine.
  Task<> write(ByteView bytes);
  Task<Sealed> seal();
  /// The body is not wanted any more: its files go, on a pool thread. Nothing else is called afterwards.
  void drop();

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    ByteView view() const { return {bytes.get(), size}; }
  };
  enum class Cuts { undecided, by_content, none };

  // On the io thread.
  template <class Ready>
  Task<> wait_until(Ready ready);
  Task<> name_upload();
  void finish_block();

  // With mutex_ held.
  Block& block(std::uint64_t number) { return blocks_[number % kBlocks]; }
  bool has_room() const;
  bool stopped() const { return failure_ || dropped_; }
  bool idle() const { return !hashing_ && !writing_ && !syncing_; }
  bool can_hash() const { return hashed_ < filled_ || (ended_ && !whole_hash_); }
  bool can_write() const;
  bool can_sync() const { return batch_.has_value() || can_record(); }
  bool can_record() const { return upload_ && !placed_.empty() && !ended_; }
  bool is_done() const { return last_placed_ && !syncing_ && whole_hash_; }
  void pump();
  void start(WorkPool& pool, bool& active, void (Pipeline::*work)());
  void fail(std::exception_ptr failure);
  void wake();

  // On pool threads.
  void work_on(bool& active, void (Pipeline::*work)());
  void hash_some();
  void write_some();
  bool write_next();
  void end_writing();
  void sync_one();
  void record_placed();
  void set_sure();
  void tidy();

  Store::Impl& store_;
  const Store::SinkOptions options_;
  SpaceGuard::Reservation reservation_;

  // The coroutine's own.
  std::uint64_t total_bytes_ = 0;
  bool asked_for_upload_ = false;

  std::mutex mutex_;
  std::array<Block, kBlocks> blocks_;
  std::uint64_t filled_ = 0, hashed_ = 0, written_ = 0;  // numbers of blocks
  Cuts cuts_ = Cuts::undecided;
  bool ended_ = false, dropped_ = false, tidied_ = false;
  bool hashing_ = false, writing_ = false, syncing_ = false;
  std::exception_ptr failure_;
  std::shared_ptr<Event> waiter_;

  crypto::Sha256Stream hash_;  // the hashing thread's
  std::optional<Sha256> whole_hash_;

  std::unique_ptr<ChunkWriter> writer_;  // the writing thread's
  std::size_t write_at_ = 0;             // in block written_
  bool writer_ended_ = false;

  std::optional<Batch> batch_;  // full, waiting for the sync pool
  bool last_batch_ = false, last_placed_ = false;
  std::vector<PlacedChunk> placed_;  // durable, not recorded
  bool wants_upload_ = false;
  bool unsure_ = false;  // placed_ may have been recorded
  UploadId upload_;
  std::uint64_t recorded_bytes_ = 0;
};

}  // namespace welkin::blobs
