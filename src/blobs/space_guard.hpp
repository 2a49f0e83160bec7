#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "welkin/blobs/vfs.hpp"

namespace welkin::blobs {

/// Keeps a part of the disk free: PostgreSQL stops altogether when it cannot write its log. Bodies are
/// refused before their bytes are taken, counting what running ones have announced and not yet written.
/// Thread-safe.
class SpaceGuard {
 public:
  /// @param floor_bytes  stays free; or 2 % of the disk, whichever is more
  SpaceGuard(Vfs& vfs, std::uint64_t floor_bytes);

  /// Bytes somebody announced; they shrink as they are written and end with the object.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(SpaceGuard& guard, std::uint64_t bytes) : guard_(&guard), bytes_(bytes) {
      guard.reserved_ += bytes;
    }
    Reservation(Reservation&& other) noexcept { swap(other); }
    Reservation& operator=(Reservation&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Reservation() {
      if (guard_) guard_->reserved_ -= bytes_;
    }
    void wrote(std::uint64_t bytes);

   private:
    void swap(Reservation& other) noexcept {
      std::swap(guard_, other.guard_);
      std::swap(bytes_, other.bytes_);
    }
    SpaceGuard* guard_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// @throws Error no_space  when `bytes` more do not fit; does not look at the disk
  Reservation reserve(std::uint64_t bytes);
  /// @throws Error no_space  when the disk is down to the floor; does not look at the disk
  void require_some() const;

  /// True when the last look at the disk is a second old.
  bool is_stale() const;
  /// Looks at the disk; on pool threads. Keeps the old figures when that fails.
  void refresh();
  Space space() const;

 private:
  std::uint64_t available() const;

  Vfs& vfs_;
  const std::uint64_t floor_bytes_;
  std::atomic<std::uint64_t> reserved_{0};
  std::atomic<std::int64_t> looked_at_;  // steady clock, nanoseconds
  mutable std::mutex mutex_;
  Space space_;
};

}  // namespace welkin::blobs
