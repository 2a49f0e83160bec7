#pragma once
#include <cstdint>
#include <string>

#include "welkin/db/db.hpp"

namespace welkin::blobs {

// Names of the recurring jobs, which are also the locks that keep a command and a server from doing the same
// work.
inline constexpr const char* kCollectJob = "blobs.collect";
inline constexpr const char* kSweepJob = "blobs.sweep";

struct Freed {
  std::uint64_t orphans = 0;   // files without a row and left-over spool files that were found
  std::uint64_t contents = 0;  // contents past their grace that were deleted
  std::uint64_t chunks = 0;    // files that left the disk
  std::uint64_t bytes = 0;     // in these
  std::uint64_t healed = 0;    // quarantined chunks whose bytes were stored anew
  bool held = false;           // a backup keeps every file
  bool more = false;           // time was up before everything was done
};

/// The sweeper and the collector now, from a command, beside a running server or alone, for at most about
/// `seconds`.
/// @throws Error unavailable `busy` when the server is at it; std::runtime_error as check_bytes
Freed collect_now(db::Db& db, const std::string& data_dir, unsigned gc_grace_seconds, unsigned seconds);

}  // namespace welkin::blobs
