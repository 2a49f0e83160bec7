#pragma once
#include <optional>
#include <string>

#include "app/command_database.hpp"
#include "app/config.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/db/db.hpp"
#include "welkin/people/people.hpp"

namespace welkin::app {

enum class DataDir : std::uint8_t { make, look_only };

/// How every command begins: hardens the process, reads the configuration, forgets its secrets' traces and
/// leaves root behind. Warnings about the configuration go to the log.
Loaded begin_command(DataDir how);

/// Configures the log from `config`; commands keep it to what is worth a person's attention.
void configure_log(const Config& config);

/// Accounts, as commands reach them: configuration, database, schema, people.
class Accounts {
 public:
  /// @param command its name, shown to others who have to wait for the data directory
  explicit Accounts(const std::string& command);
  ~Accounts();

  people::People& people() { return *people_; }
  people::User user(const std::string& name);
  /// A caller for what a user may do with his own things.
  static Caller as(const people::User& user);
  static people::Origin origin();

 private:
  Loaded loaded_;
  CommandDatabase database_;
  SystemClock clock_;
  std::unique_ptr<db::Db> db_;
  std::unique_ptr<people::People> people_;
};

/// The password for a command: the first line of standard input with --password-stdin, else asked for at the
/// terminal, twice, without showing it. @throws UsageError, StartError
std::string read_password(bool from_stdin);

}  // namespace welkin::app
