#include "blobs/space_guard.hpp"

#include <algorithm>

#include "welkin/core/error.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::blobs {
namespace {

constexpr std::uint64_t kFloorShare = 50;  // 2 %
constexpr std::uint64_t kAheadMin = std::uint64_t{1} << 30, kAheadShare = 4;
constexpr std::uint64_t kInodesMin = 1'024;  // PostgreSQL needs some, and each running upload up to 128
constexpr std::int64_t kStaleNanos = 1'000'000'000;

metrics::Gauge free_gauge("welkin_store_free_bytes", "bytes free on the file system of the chunk store");

std::int64_t steady_nanos() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

Error no_space() { return {Errc::no_space, "no_space", "the server's disk is full"}; }

}  // namespace

SpaceGuard::SpaceGuard(Vfs& vfs, std::uint64_t floor_bytes)
    : vfs_(vfs), floor_bytes_(floor_bytes), looked_at_(0) {
  refresh();
}

void SpaceGuard::Reservation::wrote(std::uint64_t bytes) {
  const auto part = std::min(bytes, bytes_);
  bytes_ -= part;
  if (guard_) guard_->reserved_ -= part;
}

std::uint64_t SpaceGuard::available() const {
  const Space now = space();
  const std::uint64_t taken = std::max(floor_bytes_, now.total_bytes / kFloorShare) + reserved_.load();
  if (now.free_inodes < kInodesMin || now.free_bytes <= taken) return 0;
  return now.free_bytes - taken;
}

SpaceGuard::Reservation SpaceGuard::reserve(std::uint64_t bytes) {
  const std::uint64_t free = available();
  if (free < std::max<std::uint64_t>(bytes, 1)) throw no_space();
  // An announcement costs nothing, so it cannot hold the disk against everybody: a share ahead of what has
  // arrived.
  return {*this, std::min(bytes, std::max(kAheadMin, free / kAheadShare))};
}

void SpaceGuard::require_some() const {
  // What others announced is theirs, but a body of unknown length is not refused for it while bytes are left.
  const Space now = space();
  const std::uint64_t floor = std::max(floor_bytes_, now.total_bytes / kFloorShare);
  if (now.free_inodes < kInodesMin || now.free_bytes <= floor) throw no_space();
}

bool SpaceGuard::is_stale() const {
  return steady_nanos() - looked_at_.load(std::memory_order_relaxed) > kStaleNanos;
}

void SpaceGuard::refresh() {
  looked_at_.store(steady_nanos(), std::memory_order_relaxed);
  try {
    const Space now = vfs_.space();
    free_gauge.set(static_cast<std::int64_t>(now.free_bytes));
    const std::lock_guard lock(mutex_);
    space_ = now;
  } catch (const VfsError&) {
    // A file system that cannot even be asked refuses the writes themselves.
  }
}

Space SpaceGuard::space() const {
  const std::lock_guard lock(mutex_);
  return space_;
}

}  // namespace welkin::blobs
