#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/clock.hpp"

namespace welkin::app {

/// What a database says about itself, for `doctor` and for commands beside a running server.
struct DatabaseState {
  int version = 0;                                            // 150014
  std::string version_text;                                   // "15.14"
  std::vector<std::pair<std::string, std::string>> settings;  // fsync, full_page_writes ...
  std::string encoding;
  Micros now = 0;
  std::vector<std::string> applied;           // migrations; empty before the first
  std::optional<std::string> store_id;        // of the chunk store that belongs to it
  std::optional<std::string> store_suspect;   // why that store takes no writes
  std::vector<std::string> pending, unknown;  // against what is compiled in
  /// What waits for an operator or for time; absent before the first start.
  struct Keeping {
    std::int64_t quarantined = 0, quarantined_needed = 0;   // chunks
    std::int64_t known_damage = 0;                          // what `fsck --repair` had to leave
    std::int64_t contents_waiting = 0, chunks_waiting = 0;  // for the collector
    std::int64_t waiting_seconds = 0;                       // the oldest of them, beyond the grace
    std::int64_t parked = 0;                                // chunk files that could not be removed
    std::int64_t uploads = 0, reserved_bytes = 0;           // running uploads and what they announced
    std::int64_t oldest_upload_seconds = 0;
    std::optional<std::string> scrub_finished;  // RFC 3339
    bool scrub_running = false, held = false;
  };
  std::optional<Keeping> keeping;
};

/// @throws Error unavailable
DatabaseState read_database_state(const std::string& url, unsigned gc_grace_seconds = 86'400);

}  // namespace welkin::app
