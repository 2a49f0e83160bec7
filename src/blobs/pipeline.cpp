#include "blobs/pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "blobs/record.hpp"
#include "welkin/core/error.hpp"

namespace welkin::blobs {
namespace {

constexpr int kBlocksPerTurn = 4;  // then the next body has its turn on the thread

/// Whether a transaction that failed with this has certainly not happened.
bool is_certain(const Error& failure) {
  return failure.code() == Errc::gone || std::string_view(failure.slug()) == "body_expired";
}

}  // namespace

Pipeline::Pipeline(Store::Impl& store, Store::SinkOptions options, SpaceGuard::Reservation reservation)
    : store_(store), options_(std::move(options)), reservation_(std::move(reservation)) {
  if (options_.size_hint && *options_.size_hint > kSingleChunkBytesMax) cuts_ = Cuts::by_content;
}

// -- the coroutine

template <class Ready>
Task<> Pipeline::wait_until(Ready ready) {
  while (true) {
    std::shared_ptr<Event> event;
    {
      const std::lock_guard lock(mutex_);
      if (failure_) std::rethrow_exception(failure_);
      if (ready()) co_return;
      waiter_ = event = std::make_shared<Event>();
    }
    co_await event->wait();
  }
}

Task<> Pipeline::write(ByteView bytes) {
  co_await name_upload();
  while (!bytes.empty()) {
    co_await wait_until([this] { return has_room(); });
    Block& current = block(filled_);  // filled_ changes on this thread only
    if (!current.bytes) current.bytes = std::make_unique_for_overwrite<std::byte[]>(kBlockBytes);
    const std::size_t n = std::min(bytes.size(), kBlockBytes - current.size);
    std::memcpy(current.bytes.get() + current.size, bytes.data(), n);
    current.size += n;
    total_bytes_ += n;
    bytes = bytes.subspan(n);
    if (current.size == kBlockBytes) finish_block();
  }
}

void Pipeline::finish_block() {
  const std::lock_guard lock(mutex_);
  ++filled_;
  if (cuts_ == Cuts::undecided && total_bytes_ > kSingleChunkBytesMax) cuts_ = Cuts::by_content;
  pump();
}

/// A body that outgrew its first batch needs a row to hang its chunks on; making it is a coroutine of the
/// caller's.
Task<> Pipeline::name_upload() {
  {
    const std::lock_guard lock(mutex_);
    if (!wants_upload_ || asked_for_upload_) co_return;
  }
  asked_for_upload_ = true;
  const UploadId upload = co_await options_.upload();
  const std::lock_guard lock(mutex_);
  upload_ = upload;
  pump();
}

Task<Sealed> Pipeline::seal() {
  {
    const std::lock_guard lock(mutex_);
    if (block(filled_).size > 0 && block(filled_).size < kBlockBytes) ++filled_;
    ended_ = true;
    if (cuts_ == Cuts::undecided) cuts_ = total_bytes_ > kSingleChunkBytesMax ? Cuts::by_content : Cuts::none;
    pump();
  }
  co_await wait_until([this] { return is_done(); });
  const std::lock_guard lock(mutex_);
  Sealed sealed;
  sealed.size_bytes = total_bytes_;
  sealed.crc32 = writer_->crc32();
  sealed.sha256 = *whole_hash_;
  sealed.upload = recorded_bytes_ > 0 ? upload_ : UploadId();
  sealed.body = std::move(placed_);
  placed_.clear();
  sealed.outcome = std::make_shared<Sealed::Outcome>();
  tidied_ = true;  // what is placed belongs to the caller now
  co_return sealed;
}

void Pipeline::drop() {
  std::unique_lock lock(mutex_);
  dropped_ = true;
  if (!idle() || tidied_) return;  // the last job tidies
  lock.unlock();
  if (!store_.io.post([self = shared_from_this()] { self->tidy(); })) tidy();
}

// -- with the lock held

bool Pipeline::has_room() const { return filled_ - std::min(hashed_, written_) < kBlocks; }

bool Pipeline::can_write() const {
  if (writer_ended_ || batch_) return false;
  if (cuts_ == Cuts::by_content) return written_ < filled_ || ended_;
  return cuts_ == Cuts::none && whole_hash_;
}

void Pipeline::pump() {
  if (stopped()) return;
  if (!hashing_ && can_hash()) start(store_.io, hashing_, &Pipeline::hash_some);
  if (!writing_ && can_write()) start(store_.io, writing_, &Pipeline::write_some);
  if (!syncing_ && can_sync()) start(store_.sync, syncing_, &Pipeline::sync_one);
  if (is_done() || (has_room() && !ended_)) wake();
}

void Pipeline::start(WorkPool& pool, bool& active, void (Pipeline::*work)()) {
  active = pool.post([self = shared_from_this(), &active, work] { self->work_on(active, work); });
  if (!active) fail(std::make_exception_ptr(Error(Errc::unavailable, "busy", "the server is busy", 1)));
}

void Pipeline::fail(std::exception_ptr failure) {
  if (!failure_) failure_ = std::move(failure);
  wake();
}

void Pipeline::wake() {
  if (waiter_) std::exchange(waiter_, nullptr)->set();
}

// -- pool threads

void Pipeline::work_on(bool& active, void (Pipeline::*work)()) {
  std::exception_ptr failure;
  try {
    (this->*work)();
  } catch (...) {
    failure = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  active = false;
  if (failure) fail(failure);
  pump();
  if (!stopped() || !idle() || tidied_) return;
  lock.unlock();
  tidy();
}

void Pipeline::hash_some() {
  for (int i = 0; i < kBlocksPerTurn; ++i) {
    ByteView bytes;
    {
      const std::lock_guard lock(mutex_);
      if (stopped() || !can_hash()) return;
      if (hashed_ == filled_) {
        whole_hash_ = hash_.finish();
        return;
      }
      bytes = block(hashed_).view();
    }
    hash_.update(bytes);
    const std::lock_guard lock(mutex_);
    if (written_ > hashed_) block(hashed_).size = 0;
    ++hashed_;
    pump();
  }
}

void Pipeline::write_some() {
  for (int i = 0; i < kBlocksPerTurn && write_next(); ++i) {
  }
}

/// Writes the rest of one block, or ends the body. @return whether there may be more to do
bool Pipeline::write_next() {
  ByteView bytes;
  bool at_end = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopped() || !can_write()) return false;
    if (!writer_) {
      const auto cuts = cuts_ == Cuts::none ? ChunkWriter::Cuts::none : ChunkWriter::Cuts::by_content;
      writer_ = std::make_unique<ChunkWriter>(store_.ground, store_.ids, cuts);
      if (cuts_ == Cuts::none) writer_->set_sha256(*whole_hash_);
    }
    at_end = written_ == filled_;
    if (!at_end) bytes = block(written_).view().subspan(write_at_);
  }
  if (at_end) {
    end_writing();
    return false;
  }
  if (store_.space.is_stale()) store_.space.refresh();
  store_.space.require_some();
  writer_->set_batch_chunks(store_.batch_chunks());
  const std::size_t taken = writer_->write(bytes);
  reservation_.wrote(taken);

  const std::lock_guard lock(mutex_);
  write_at_ += taken;
  if (taken == bytes.size()) {
    write_at_ = 0;
    if (hashed_ > written_) block(written_).size = 0;
    ++written_;
  } else {
    batch_ = writer_->take_batch();
  }
  pump();
  return true;
}

void Pipeline::end_writing() {
  writer_->end();
  const std::lock_guard lock(mutex_);
  writer_ended_ = true;
  last_batch_ = true;
  batch_ = writer_->take_batch();
  pump();
}

void Pipeline::sync_one() {
  std::optional<Batch> batch;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopped()) return;
    batch = std::exchange(batch_, std::nullopt);
    last = batch && last_batch_;
    pump();  // the writer goes on with the next batch
  }
  if (batch) {
    const auto placed = make_durable(store_.ground, std::move(*batch));
    std::uint64_t bytes = 0;
    for (const auto& chunk : placed) bytes += chunk.size_bytes;
    count_stored(placed.size(), bytes);
    const std::lock_guard lock(mutex_);
    placed_.insert(placed_.end(), placed.begin(), placed.end());
    if (last)
      last_placed_ = true;
    else if (options_.upload)
      wants_upload_ = true;
  }
  record_placed();
}

void Pipeline::set_sure() {
  const std::lock_guard lock(mutex_);
  unsure_ = false;
}

/// Records what is placed under the upload, unless the last batch is among it: that one is the caller's to
/// record.
void Pipeline::record_placed() {
  std::vector<PlacedChunk> chunks;
  UploadId upload;
  {
    const std::lock_guard lock(mutex_);
    if (stopped() || last_placed_ || !upload_ || placed_.empty()) return;
    chunks = placed_;
    upload = upload_;
    unsure_ = true;
  }
  std::vector<PlacedChunk> surplus;
  try {
    store_.rows.transaction([&](ChunkTx& tx) {
      surplus = record_batch(tx, *store_.vfs, upload, options_.part.value_or(0), recorded_bytes_, chunks);
    });
  } catch (const Error& e) {
    if (is_certain(e)) set_sure();
    throw;
  } catch (const db::SqlError&) {
    set_sure();
    throw;
  }
  for (const auto& chunk : chunks) recorded_bytes_ += chunk.size_bytes;
  store_.remove_in_background(std::move(surplus));
  const std::lock_guard lock(mutex_);
  placed_.clear();
  unsure_ = false;
}

/// After a failure, or when nobody wants the body: nothing of it stays in the spool, and nothing in blobs/
/// that is certain to have no row. The rest is the sweeper's.
void Pipeline::tidy() {
  std::unique_ptr<ChunkWriter> writer;
  std::optional<Batch> batch;
  std::vector<PlacedChunk> placed;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(tidied_, true)) return;
    writer.swap(writer_);
    batch = std::exchange(batch_, std::nullopt);
    if (!unsure_) placed.swap(placed_);
    reservation_ = SpaceGuard::Reservation();
  }
  batch.reset();
  writer.reset();
  remove_placed(store_.ground, placed);
}

}  // namespace welkin::blobs
