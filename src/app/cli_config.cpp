#include <fmt/core.h>

#include <cstdio>

#include "app/cli.hpp"
#include "app/command.hpp"

namespace welkin::app {
namespace {

int print(const Arguments& arguments) {
  if (arguments.has("--json") && arguments.has("--markdown"))
    throw UsageError("--json or --markdown, not both");
  if (arguments.has("--markdown")) {
    std::fputs(print_config({}, PrintAs::markdown).c_str(), stdout);
    return 0;
  }
  const auto loaded = begin_command(DataDir::look_only);
  std::fputs(print_config(loaded, arguments.has("--json") ? PrintAs::json : PrintAs::toml).c_str(), stdout);
  for (const auto& warning : loaded.warnings) fmt::print(stderr, "welkin: warning: {}\n", warning);
  return 0;
}

}  // namespace

std::vector<Command> config_commands() {
  return {
      {"config print",
       "",
       "shows every setting, its value and where it comes from\nWhat is printed is a valid welkin.toml, "
       "except that "
       "secrets are masked.",
       {{"--json", nullptr, "for programs"},
        {"--markdown", nullptr, "the table of the documentation: defaults and ranges"}},
       0,
       0,
       print},
  };
}

}  // namespace welkin::app
