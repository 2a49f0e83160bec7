#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/doctor_store.hpp"

namespace welkin::app {

enum class Verdict : std::uint8_t { ok, warning, fault };

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string check;  // "disk", "database.fsync": stable, for programs
  std::string text;   // what was seen and, unless ok, what to do
};
using Findings = std::vector<Finding>;

// Each looks at one thing and says at least one word about it.
void check_data_dir(const Config& config, Findings& out);
void check_disk(const Config& config, Findings& out);
void check_tls(const Config& config, Findings& out);
void check_database(const DatabaseState& state, const Config& config, Micros now, Findings& out);
/// @param state  nullptr: there is no database yet
void check_store(const Config& config, const DatabaseState* state, Findings& out);
/// What waits for time or for an operator: the collector, the scrub, damage, uploads.
void check_keeping(const DatabaseState::Keeping& keeping, const Config& config, Micros now, Findings& out);
/// What lies in spool/, quarantine/ and found/.
void check_left_files(const Config& config, Findings& out);
void check_server(const Config& config, Findings& out);

/// The worst of them.
Verdict worst(const Findings& findings);

}  // namespace welkin::app
