#include "blobs/ground.hpp"

#include "welkin/core/error.hpp"

namespace welkin::blobs {

ChunkId ChunkIds::one() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (!shared_.empty()) return shared_.take();
    }
    const Block fresh = block();  // asks the database: not under the lock
    const std::lock_guard lock(mutex_);
    if (shared_.empty()) shared_ = fresh;  // else somebody was faster; ids are plenty
  }
}

Error write_error(Ground& ground, const VfsError& failure) {
  constexpr std::uint32_t retry_seconds = 1;
  switch (failure.kind()) {
    case VfsError::Kind::no_space:
      return {Errc::no_space, "no_space", "the server's disk is full"};
    case VfsError::Kind::io:
      ground.health.suspect(failure.what());
      return Health::read_only();
    case VfsError::Kind::exists:  // names are never used twice, so somebody else writes here
      ground.warn(failure.what());
      return {Errc::internal, "store_fault", "a chunk's name was taken"};
    case VfsError::Kind::other:
      break;
  }
  ground.warn(failure.what());
  return {Errc::unavailable, "busy", "the server could not write to its disk", retry_seconds};
}

}  // namespace welkin::blobs
