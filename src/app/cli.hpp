#pragma once
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace welkin::app {

/// A command line that cannot be meant: exit 2 and a hint.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Option {
  const char* name;   // "--quota"
  const char* value;  // how its value is called in the help; nullptr: a switch
  const char* help;
};

/// What was typed behind the command's name, already checked against its options.
class Arguments {
 public:
  std::vector<std::string> words;
  std::map<std::string, std::string> options;

  bool has(const std::string& option) const { return options.contains(option); }
  std::optional<std::string> value(const std::string& option) const;
};

struct Command {
  const char* name;      // "user add"
  const char* synopsis;  // "NAME", what stands behind the options
  const char* help;      // one line; what is after the first newline is shown by `help <command>` only
  std::vector<Option> options;
  std::size_t words_min, words_max;
  std::function<int(const Arguments&)> run;  // the exit code
};

// One file a family.
std::vector<Command> server_commands();        // serve, migrate, healthcheck
std::vector<Command> user_commands();          // user ...
std::vector<Command> app_password_commands();  // app-password ...
std::vector<Command> config_commands();        // config print
std::vector<Command> doctor_commands();        // doctor
std::vector<Command> keeper_commands();        // fsck, gc

/// Finds the command, reads its options, runs it, and turns what it throws into one clear line and an exit
/// code: 0 done, 1 failed, 2 the command line made no sense.
int run_cli(const std::vector<std::string>& words);

/// "welkin user add [--admin] NAME"
std::string usage_of(const Command& command);
/// Reads the options of one command. @throws UsageError
Arguments parse_arguments(const Command& command, const std::vector<std::string>& words);

}  // namespace welkin::app
