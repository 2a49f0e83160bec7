#pragma once
#include "blobs/ground.hpp"

namespace welkin::blobs {

struct Collected {
  unsigned chunks = 0;
  std::uint64_t bytes = 0;
};

/// Stage 1: deletes contents that were queued for at least `grace_seconds` and that no node and no version
/// refers to; their chunks are queued. A queue row is a hint, not an order: contents in use again just leave
/// the queue. One that cannot be deleted is put off and does not hold up the others.
/// @return how many were deleted
unsigned collect_contents(Ground& ground, std::size_t limit, unsigned grace_seconds);

/// Stage 2: takes queued chunks from the disk. Lock the row; then, in a statement of its own, prove that
/// nothing refers to it (a proof inside the locking statement would keep the snapshot from before the wait);
/// mark it dying, which is final; commit. Only then the file goes, then its directory is flushed, then the
/// rows go. Every step may be repeated after a crash. A file that cannot be removed keeps its place in the
/// queue.
/// @return what left the disk
Collected collect_chunks(Ground& ground, std::size_t limit);

}  // namespace welkin::blobs
