#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "app/cli.hpp"
#include "app/command.hpp"
#include "welkin/core/run_task.hpp"
#include "welkin/core/text.hpp"

namespace welkin::app {
namespace {

constexpr std::pair<const char*, std::int32_t> kProtocols[] = {{"webdav", protocols::kWebdav},
                                                               {"caldav", protocols::kCaldav},
                                                               {"carddav", protocols::kCarddav},
                                                               {"nextcloud", protocols::kNextcloud},
                                                               {"rest", protocols::kRest}};
constexpr std::int64_t kMicrosPerDay = 86'400'000'000;

std::int32_t protocol_mask(const std::string& list) {
  std::int32_t mask = 0;
  for (const auto item : text::split(list, ',')) {
    const auto name = text::trim(item);
    std::vector<std::string> known;
    std::int32_t bit = 0;
    for (const auto& [word, value] : kProtocols) {
      known.emplace_back(word);
      if (name == word) bit = value;
    }
    if (bit == 0) {
      const auto hint = text::nearest(name, known);
      throw UsageError(fmt::format(
          "there is no protocol '{}'{}", name,
          hint ? fmt::format(" (did you mean {}?)", *hint) : ": webdav, caldav, carddav, nextcloud, rest"));
    }
    mask |= bit;
  }
  return mask;
}

std::string protocol_names(std::int32_t mask) {
  std::string out;
  for (const auto& [word, value] : kProtocols) {
    if ((mask & value) != 0) out += (out.empty() ? "" : ",") + std::string(word);
  }
  return out;
}

const char* state_of(const people::AppPassword& entry, Micros now) {
  if (entry.revoked_at) return "revoked";
  return entry.expires_at && *entry.expires_at <= now ? "expired" : "active";
}

int create(const Arguments& arguments) {
  people::NewAppPassword wanted;
  wanted.label = arguments.value("--label").value_or("command line");
  wanted.protocol_mask =
      protocol_mask(arguments.value("--protocols").value_or("webdav,caldav,carddav,nextcloud"));
  wanted.read_only = arguments.has("--read-only");
  if (const auto days = arguments.value("--expires-in-days")) {
    const auto number = text::number(*days);
    if (!number || *number < 1 || *number > 36'500) throw UsageError("--expires-in-days takes 1 to 36500");
    wanted.expires_at = SystemClock().now() + static_cast<Micros>(*number) * kMicrosPerDay;
  }
  Accounts accounts("app-password create");
  const auto user = accounts.user(arguments.words[0]);
  const auto [made, secret] =
      run_task(accounts.people().create_app_password(Accounts::as(user), wanted, Accounts::origin()));
  // The secret alone on standard output, so that it can be piped; it is shown this once.
  fmt::print(stderr, "app password {} for {}, {}{}; it is shown only now:\n", made.id.value, user.name,
             protocol_names(made.protocol_mask), made.read_only ? ", read only" : "");
  fmt::print("{}\n", secret);
  return 0;
}

int list(const Arguments& arguments) {
  Accounts accounts("app-password list");
  const auto user = accounts.user(arguments.words[0]);
  const auto entries = run_task(accounts.people().app_passwords(Accounts::as(user)));
  const auto now = SystemClock().now();
  const auto time = [](const std::optional<Micros>& at) {
    return at ? nlohmann::ordered_json(times::rfc3339(*at)) : nlohmann::ordered_json();
  };
  if (arguments.has("--json")) {
    auto out = nlohmann::ordered_json::array();
    for (const auto& entry : entries) {
      out.push_back({{"id", entry.id.value},
                     {"label", entry.label},
                     {"prefix", entry.prefix},
                     {"protocols", protocol_names(entry.protocol_mask)},
                     {"read_only", entry.read_only},
                     {"state", state_of(entry, now)},
                     {"created_at", times::rfc3339(entry.created_at)},
                     {"last_used_at", time(entry.last_used_at)},
                     {"expires_at", time(entry.expires_at)}});
    }
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return 0;
  }
  fmt::print("{:>6} {:<8} {:<12} {:<20} {}\n", "ID", "STATE", "BEGINS", "LAST USED", "LABEL");
  for (const auto& entry : entries) {
    fmt::print("{:>6} {:<8} {:<12} {:<20} {}\n", entry.id.value, state_of(entry, now), entry.prefix,
               entry.last_used_at ? times::rfc3339(*entry.last_used_at) : "never", entry.label);
  }
  return 0;
}

int revoke(const Arguments& arguments) {
  const auto number = text::signed_number(arguments.words[1]);
  if (!number)
    throw UsageError(fmt::format("'{}' is no id; `welkin app-password list` shows them", arguments.words[1]));
  Accounts accounts("app-password revoke");
  const auto user = accounts.user(arguments.words[0]);
  run_task(
      accounts.people().revoke_app_password(Accounts::as(user), AppPasswordId{*number}, Accounts::origin()));
  fmt::print("app password {} of {} is revoked\n", *number, user.name);
  return 0;
}

}  // namespace

std::vector<Command> app_password_commands() {
  return {
      {"app-password create",
       "NAME",
       "makes an app password for a user and prints it\nApp passwords sign devices in over WebDAV and the "
       "like and can "
       "be revoked one by one. One that is limited to a folder is made in the web app or over REST.",
       {{"--label", "TEXT", "what it is for"},
        {"--protocols", "LIST", "of webdav, caldav, carddav, nextcloud, rest; all but rest unless given"},
        {"--read-only", nullptr, "may change nothing"},
        {"--expires-in-days", "N", "ends by itself"}},
       1,
       1,
       create},
      {"app-password list",
       "NAME",
       "lists a user's app passwords",
       {{"--json", nullptr, "for programs"}},
       1,
       1,
       list},
      {"app-password revoke", "NAME ID", "ends an app password, at its next request", {}, 2, 2, revoke},
  };
}

}  // namespace welkin::app
