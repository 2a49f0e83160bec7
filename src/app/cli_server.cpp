#include <fmt/core.h>

#include "app/cli.hpp"
#include "app/command.hpp"
#include "app/healthcheck.hpp"
#include "app/serve.hpp"
#include "welkin/core/log.hpp"
#include "welkin/db/migrate.hpp"

namespace welkin::app {
namespace {

int migrate(const Arguments&) {
  const auto loaded = begin_command(DataDir::make);
  configure_log(loaded.config);
  const CommandDatabase database(loaded.config, "migrate");
  const auto applied = db::migrate(database.url(), db::bundled_migrations(), db::bundled_functions());
  for (const auto& id : applied) fmt::print("{}\n", id);
  if (applied.empty()) fmt::print("the schema is up to date\n");
  return 0;
}

}  // namespace

std::vector<Command> server_commands() {
  return {
      {"serve",
       "",
       "runs the server until SIGTERM or SIGINT\nSIGHUP reads certificates and log settings again; a second "
       "SIGTERM ends "
       "it at once. Started as root it becomes the user `welkin` first.",
       {},
       0,
       0,
       [](const Arguments&) { return serve(); }},
      {"migrate",
       "",
       "brings the database to this version's schema (serve does so by itself)",
       {},
       0,
       0,
       migrate},
      {"healthcheck",
       "",
       "asks the running server whether it is ready: exit 0, else 1",
       {{"--quiet", nullptr, "prints nothing"}},
       0,
       0,
       [](const Arguments& a) { return healthcheck(a.has("--quiet")); }},
  };
}

}  // namespace welkin::app
