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
};

/// @throws Error unavailable
DatabaseState read_database_state(const std::string& url);

}  // namespace welkin::app
