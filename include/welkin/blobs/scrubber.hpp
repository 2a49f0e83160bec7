#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include "welkin/blobs/store.hpp"

namespace welkin::blobs {

/// Reads the whole store again and again in the background, slowly: bytes rot on disks too, and are better
/// found while their owner still has them. A thread of its own, for it sleeps most of the time.
class Scrubber {
 public:
  struct Options {
    unsigned mib_per_second = 20;    // 0: off
    unsigned again_after_days = 30;  // a chunk is read again this long after it was seen good
  };
  Scrubber(Store& store, Options options);
  ~Scrubber();
  void start();
  /// Waits for the step in hand. Idempotent.
  void stop();

 private:
  void run();

  Store& store_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace welkin::blobs
