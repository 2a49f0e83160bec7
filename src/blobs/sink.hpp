#pragma once
#include "blobs/pipeline.hpp"

namespace welkin::blobs {

/// Keeps a body in memory until it outgrows the inline limit, then hands it to a pipeline.
class BodySink final : public Sink {
 public:
  BodySink(Store::Impl& store, Store::SinkOptions options, SpaceGuard::Reservation reservation);
  ~BodySink() override;

  Task<> write(ByteView block) override;
  Task<Sealed> seal() override;
  std::uint64_t size_bytes() const override { return size_bytes_; }

 private:
  Task<Sealed> seal_inline();

  Store::Impl& store_;
  Store::SinkOptions options_;
  SpaceGuard::Reservation reservation_;
  std::uint64_t size_bytes_ = 0;
  Bytes head_;  // the whole body so far, while it is inline
  std::shared_ptr<Pipeline> pipeline_;
};

}  // namespace welkin::blobs
