#include "app/command.hpp"

#include <fmt/core.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "app/cli.hpp"
#include "app/privileges.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/run_task.hpp"
#include "welkin/core/text.hpp"
#include "welkin/db/migrate.hpp"

namespace welkin::app {
namespace {

constexpr std::size_t kPasswordBytesMax = 4096;

/// Standard input up to the end of a line. @throws StartError when there is none
std::string read_line() {
  std::string line;
  char c = 0;
  ssize_t got = 0;
  while ((got = ::read(STDIN_FILENO, &c, 1)) == 1 && c != '\n') {
    line += c;
    if (line.size() > kPasswordBytesMax) throw StartError("the password is too long");
  }
  if (got < 1 && line.empty()) throw StartError("standard input ended before a password came");
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

/// Keeps the terminal from showing what is typed.
class Quiet {
 public:
  Quiet() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
  }
  ~Quiet() { ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  termios before_{};
};

std::string ask(const char* question) {
  const Quiet quiet;
  fmt::print(stderr, "{}: ", question);
  auto line = read_line();
  fmt::print(stderr, "\n");
  return line;
}

}  // namespace

std::string read_password(bool from_stdin) {
  if (from_stdin) return read_line();
  if (::isatty(STDIN_FILENO) == 0)
    throw UsageError("give the password on standard input, with --password-stdin");
  auto first = ask("Password");
  if (ask("Again") != first) throw StartError("the two passwords differ");
  return first;
}

void configure_log(const Config& config) {
  const auto level = config.log_level == "debug"   ? log::Level::debug
                     : config.log_level == "warn"  ? log::Level::warn
                     : config.log_level == "error" ? log::Level::error
                                                   : log::Level::info;
  log::configure(level, config.log_format == "json" ? log::Format::json : log::Format::text);
}

Loaded begin_command(DataDir how) {
  harden_process();
  auto environment = environment_of_process();
  const bool names_its_directory = environment.contains("WELKIN_DATA_DIR");
  auto loaded = load_config(
      environment, names_its_directory ? std::string() : default_data_dir(environment, ::geteuid() == 0));
  forget_secrets();
  if (how == DataDir::make) {
    settle_in(loaded.config.data_dir);
  } else {
    drop_root(loaded.config.data_dir);
  }
  return loaded;
}

Accounts::Accounts(const std::string& command)
    : loaded_([] {
        auto loaded = begin_command(DataDir::make);
        log::configure(log::Level::warn, log::Format::text);
        return loaded;
      }()),
      database_(loaded_.config, command) {
  db::migrate(database_.url(), db::bundled_migrations(), db::bundled_functions());
  db_ = std::make_unique<db::Db>(db::PoolConfig{.url = database_.url(), .connections = 2});
  people_ = std::make_unique<people::People>(*db_, loaded_.config, clock_);
}

Accounts::~Accounts() {
  people_->close();
  db_->close();
}

people::User Accounts::user(const std::string& name) { return run_task(people_->user_by_name(name)); }

Caller Accounts::as(const people::User& user) {
  Caller caller;
  caller.user = user.id;
  caller.name = user.name;
  caller.is_admin = user.is_admin;
  caller.subjects = {user.id.value};
  // Who owns the machine may do what the signed-in user may.
  caller.credential = Credential::session_bearer;
  return caller;
}

people::Origin Accounts::origin() { return {"command line", "command line", "welkin", "cli"}; }

}  // namespace welkin::app
