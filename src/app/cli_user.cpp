#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "app/cli.hpp"
#include "app/command.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/run_task.hpp"

namespace welkin::app {
namespace {

std::int64_t quota_of(const std::string& words) {
  try {
    return static_cast<std::int64_t>(parse_bytes(words));
  } catch (const ConfigError& e) {
    throw UsageError(e.what());
  }
}

std::string size_text(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) value /= 1000, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

int add(const Arguments& arguments) {
  people::People::NewUser wanted;
  wanted.name = arguments.words[0];
  wanted.is_admin = arguments.has("--admin");
  wanted.email = arguments.value("--email").value_or("");
  wanted.display_name = arguments.value("--display-name").value_or("");
  if (const auto quota = arguments.value("--quota")) wanted.quota_bytes = quota_of(*quota);
  people::require_user_name(wanted.name);
  wanted.password = read_password(arguments.has("--password-stdin"));
  people::require_password(wanted.password, wanted.name);

  Accounts accounts("user add");
  const auto made = run_task(accounts.people().create_user(wanted, UserId{}, Accounts::origin()));
  fmt::print("{} is {}\n", made.name, made.is_admin ? "an administrator" : "a user");
  return 0;
}

std::vector<people::User> all_users(people::People& people) {
  constexpr int kPage = 500;
  std::vector<people::User> all;
  while (true) {
    const auto page = run_task(people.users(kPage, static_cast<std::int64_t>(all.size())));
    all.insert(all.end(), page.users.begin(), page.users.end());
    if (page.users.size() < kPage) return all;
  }
}

int list(const Arguments& arguments) {
  Accounts accounts("user list");
  const auto users = all_users(accounts.people());
  if (arguments.has("--json")) {
    auto out = nlohmann::ordered_json::array();
    for (const auto& user : users) {
      out.push_back(
          {{"name", user.name},
           {"email", user.email},
           {"admin", user.is_admin},
           {"disabled", user.is_disabled},
           {"quota_bytes", user.quota_bytes},
           {"used_bytes", user.used_bytes},
           {"created_at", times::rfc3339(user.created_at)},
           {"last_login_at", user.last_login_at ? nlohmann::ordered_json(times::rfc3339(*user.last_login_at))
                                                : nlohmann::ordered_json()}});
    }
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("{:<24} {:<6} {:<9} {:>10} {:>10}  {}\n", "NAME", "ROLE", "STATE", "USED", "QUOTA",
             "LAST SIGN-IN");
  for (const auto& user : users) {
    fmt::print("{:<24} {:<6} {:<9} {:>10} {:>10}  {}\n", user.name, user.is_admin ? "admin" : "user",
               user.is_disabled ? "disabled" : "active", size_text(user.used_bytes),
               user.quota_bytes == 0 ? "none" : size_text(user.quota_bytes),
               user.last_login_at ? times::rfc3339(*user.last_login_at) : "never");
  }
  return 0;
}

int passwd(const Arguments& arguments) {
  const auto password = read_password(arguments.has("--password-stdin"));
  people::require_password(password, arguments.words[0]);
  Accounts accounts("user passwd");
  const auto user = accounts.user(arguments.words[0]);
  run_task(accounts.people().reset_password(user.id, password, UserId{}, Accounts::origin()));
  fmt::print("{} has a new password; every session and app password of that account has ended\n", user.name);
  return 0;
}

int set_state(const Arguments& arguments, bool is_disabled) {
  Accounts accounts(is_disabled ? "user disable" : "user enable");
  const auto user = accounts.user(arguments.words[0]);
  run_task(accounts.people().set_disabled(user.id, is_disabled, UserId{}, Accounts::origin()));
  fmt::print("{} is {}\n", user.name, is_disabled ? "disabled" : "enabled");
  return 0;
}

int quota(const Arguments& arguments) {
  const auto bytes = quota_of(arguments.words[1]);
  Accounts accounts("user quota");
  const auto user = accounts.user(arguments.words[0]);
  run_task(accounts.people().set_quota(user.id, bytes, UserId{}, Accounts::origin()));
  fmt::print("{} may use {}\n", user.name, bytes == 0 ? "what the disk has" : size_text(bytes));
  return 0;
}

}  // namespace

std::vector<Command> user_commands() {
  const Option password{"--password-stdin", nullptr, "the password is the first line of standard input"};
  return {
      {"user add",
       "NAME",
       "makes an account\nWithout --password-stdin the password is asked for at the terminal. Works before "
       "the first "
       "start and while the server runs; the first administrator closes the set-up page.",
       {{"--admin", nullptr, "an administrator"},
        {"--email", "ADDRESS", "the account's e-mail address"},
        {"--display-name", "TEXT", "how the person is called"},
        {"--quota", "SIZE", "most bytes kept, 10GB; 0: no limit; else default_quota_bytes"},
        password},
       1,
       1,
       add},
      {"user list",
       "",
       "lists the accounts, newest first",
       {{"--json", nullptr, "for programs"}},
       0,
       0,
       list},
      {"user passwd",
       "NAME",
       "sets a new password\nEnds every session and app password of the account.",
       {password},
       1,
       1,
       passwd},
      {"user disable",
       "NAME",
       "shuts an account out, at its next request",
       {},
       1,
       1,
       [](const Arguments& a) { return set_state(a, true); }},
      {"user enable",
       "NAME",
       "lets a disabled account in again",
       {},
       1,
       1,
       [](const Arguments& a) { return set_state(a, false); }},
      {"user quota",
       "NAME SIZE",
       "sets how many bytes an account may keep: 10GB; 0: no limit",
       {},
       2,
       2,
       quota},
  };
}

}  // namespace welkin::app
