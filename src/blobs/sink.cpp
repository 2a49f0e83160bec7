#include "blobs/sink.hpp"

#include <algorithm>

#include "blobs/crc32.hpp"

namespace welkin::blobs {
namespace {

// Hashing this much takes two microseconds, less than handing it to another thread and back.
constexpr std::size_t kHashHereBytesMax = 4096;

}  // namespace

BodySink::BodySink(Store::Impl& store, Store::SinkOptions options, SpaceGuard::Reservation reservation)
    : store_(store), options_(std::move(options)), reservation_(std::move(reservation)) {
  if (options_.size_hint && *options_.size_hint <= kInlineBytesMax)
    head_.reserve(static_cast<std::size_t>(*options_.size_hint));
}

BodySink::~BodySink() {
  if (pipeline_) pipeline_->drop();
}

Task<> BodySink::write(ByteView block) {
  store_.health.require_writable();
  size_bytes_ += block.size();
  if (!pipeline_) {
    if (size_bytes_ <= kInlineBytesMax && !options_.part) {
      head_.insert(head_.end(), block.begin(), block.end());
      co_return;
    }
    store_.space.require_some();
    pipeline_ = std::make_shared<Pipeline>(store_, options_, std::move(reservation_));
    co_await pipeline_->write(head_);
    head_ = Bytes();
  }
  co_await pipeline_->write(block);
}

Task<Sealed> BodySink::seal() {
  store_.health.require_writable();
  if (pipeline_) co_return co_await pipeline_->seal();
  co_return co_await seal_inline();
}

Task<Sealed> BodySink::seal_inline() {
  store_.look_at_space();
  store_.space.require_some();  // the database has the same disk, as a rule
  Sealed sealed;
  sealed.size_bytes = size_bytes_;
  sealed.outcome = std::make_shared<Sealed::Outcome>();
  const auto digest = [&] {
    sealed.sha256 = crypto::sha256(head_);
    sealed.crc32 = blobs::crc32(0, head_);
  };
  if (head_.size() <= kHashHereBytesMax)
    digest();
  else
    co_await store_.io.run(digest);
  sealed.body = std::move(head_);
  co_return sealed;
}

}  // namespace welkin::blobs
