#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "welkin/core/config.hpp"

namespace welkin::app {

/// One thing an operator can set. The table of these (config.cpp) is the only list: it drives the file, the
/// environment, `config print` and docs/configuration.md.
struct Setting {
  using Field =
      std::variant<std::string Config::*, bool Config::*, unsigned Config::*, std::uint64_t Config::*,
                   std::int64_t Config::*, std::vector<std::string> Config::*>;
  enum class Kind : std::uint8_t { plain, bytes, seconds, days };

  const char* section;  // of the file
  const char* key;      // in the file; the variable is WELKIN_ and the key in capitals
  Field field;
  const char* help;
  Kind kind = Kind::plain;  // bytes: "10 GB", "64MiB" are understood too
  bool secret = false;      // may come from WELKIN_<KEY>_FILE, is never printed, leaves the environment
  std::uint64_t min = 0, max = std::numeric_limits<std::uint32_t>::max();
  std::vector<const char*> choices = {};

  std::string variable() const;
};
const std::vector<Setting>& settings();

using Environment = std::map<std::string, std::string>;

/// All that is wrong with a configuration, one complaint a line, each with the place it comes from.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Loaded {
  Config config;
  std::map<std::string, std::string> sources;  // key -> "default", "/etc/welkin.toml:12", "WELKIN_LISTEN"
  std::vector<std::string> warnings;           // legal, but worth a word
};

/// Defaults, then the file, then the environment. Variables that begin with WELKIN_ and are not in the table
/// are errors, except WELKIN_CONFIG and those of test suites (WELKIN_TEST_).
/// @param fallback_data_dir used when nothing names one
/// @throws ConfigError
Loaded load_config(const Environment& environment, const std::string& fallback_data_dir);

/// /var/lib/welkin for root, else $XDG_DATA_HOME/welkin, else ~/.local/share/welkin.
/// @throws ConfigError when there is no home to be found
std::string default_data_dir(const Environment& environment, bool is_root);

/// What cannot be seen from one value alone. Appends to `errors` and `warnings`.
void check_config(const Loaded& loaded, std::vector<std::string>& errors, std::vector<std::string>& warnings);

/// "10GB" -> 10'000'000'000, "64 MiB" -> 67'108'864, "512" -> 512. @throws ConfigError
std::uint64_t parse_bytes(std::string_view text);

/// "host:port", "[v6]:port", ":port" (every address). @throws ConfigError
std::pair<std::string, std::uint16_t> parse_address(std::string_view text);

/// The environment of this process.
Environment environment_of_process();
/// Overwrites the values of secrets in the memory /proc/<pid>/environ shows, and removes them from the
/// environment.
void forget_secrets();

enum class PrintAs : std::uint8_t { toml, json, markdown };
/// Every setting with its value and source, secrets masked. Markdown: the table of docs/configuration.md
/// (defaults).
std::string print_config(const Loaded& loaded, PrintAs form);

}  // namespace welkin::app
