#include "blobs/health.hpp"

#include "welkin/core/error.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::blobs {
namespace {

constexpr std::uint32_t kReadOnlyRetrySeconds = 300;

metrics::Gauge& suspect_gauge() {
  static metrics::Gauge gauge("welkin_store_suspect",
                              "1 after a failed flush or device error: the chunk store takes no writes");
  return gauge;
}

}  // namespace

std::string Health::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

bool Health::set(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!writable_.load(std::memory_order_relaxed)) return false;
    reason_ = reason;
    writable_.store(false, std::memory_order_release);
  }
  suspect_gauge().set(1);
  return true;
}

void Health::suspect(const std::string& reason) {
  if (!set(reason)) return;
  if (on_suspect_) on_suspect_(reason);
}

void Health::remember(const std::string& reason) { set(reason); }

Error Health::read_only() {
  return {Errc::unavailable, "store_read_only",
          "the server's disk failed; nothing is stored until it is checked", kReadOnlyRetrySeconds};
}

void Health::require_writable() const {
  if (!writable()) throw read_only();
}

}  // namespace welkin::blobs
