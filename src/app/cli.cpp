#include "app/cli.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "app/config.hpp"
#include "app/privileges.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"

namespace welkin::app {
namespace {

const char* const kIntroduction =
    "welkin: files, calendars and contacts on a machine of your own\n\n"
    "usage: welkin COMMAND [OPTIONS] [ARGUMENTS]\n\n";
const char* const kEpilogue =
    "\nSettings come from WELKIN_* variables and from a TOML file, WELKIN_CONFIG or <data>/welkin.toml;\n"
    "`welkin config print` shows them all. `welkin help COMMAND` tells more about one command.\n";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string help_of(const Command& command) {
  std::string out = fmt::format("usage: {}\n\n{}\n", usage_of(command), command.help);
  if (!command.options.empty()) out += "\n";
  for (const auto& option : command.options) {
    const auto name = option.value != nullptr ? fmt::format("{} {}", option.name, option.value) : option.name;
    out += fmt::format("  {:<22} {}\n", name, option.help);
  }
  return out;
}

int print_version() {
  fmt::print("welkin {}\n", WELKIN_VERSION);
  return 0;
}

std::vector<Command> all_commands();

/// The command whose name begins `words`, the longest first; nullptr when there is none.
const Command* find_command(const std::vector<Command>& commands, const std::vector<std::string>& words) {
  const Command* best = nullptr;
  for (const auto& command : commands) {
    const auto parts = text::split(command.name, ' ');
    if (parts.size() > words.size() || !std::equal(parts.begin(), parts.end(), words.begin())) continue;
    if (best == nullptr || std::string_view(command.name).size() > std::string_view(best->name).size())
      best = &command;
  }
  return best;
}

[[noreturn]] void unknown_command(const std::vector<Command>& commands,
                                  const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::vector<std::string> below;
  for (const auto& command : commands) {
    const std::string name = command.name;
    names.push_back(name);
    const auto family = name.substr(0, name.find(' '));
    if (std::find(names.begin(), names.end(), family) == names.end()) names.push_back(family);
    if (family == words[0] && family != name) below.push_back(name);
  }
  const auto typed = words.size() > 1 && !below.empty() ? words[0] + " " + words[1] : words[0];
  std::string complaint = below.empty() || words.size() > 1
                              ? fmt::format("there is no command '{}'", typed)
                              : fmt::format("'{}' needs a second word", words[0]);
  if (const auto hint = text::nearest(typed, names); hint && below.empty()) {
    complaint += fmt::format(" (did you mean '{}'?)", *hint);
  } else if (const auto near = text::nearest(typed, below)) {
    complaint += fmt::format(" (did you mean '{}'?)", *near);
  } else if (!below.empty()) {
    std::string list;
    for (const auto& name : below) list += (list.empty() ? "" : ", ") + name;
    complaint += fmt::format(" (there are: {})", list);
  }
  throw UsageError(complaint);
}

int print_help(const Arguments& arguments) {
  const auto commands = all_commands();
  if (arguments.words.empty()) {
    std::fputs(kIntroduction, stdout);
    for (const auto& command : commands) fmt::print("  {:<22} {}\n", command.name, first_line(command.help));
    std::fputs(kEpilogue, stdout);
    return 0;
  }
  if (const auto* command = find_command(commands, arguments.words)) {
    std::fputs(help_of(*command).c_str(), stdout);
    return 0;
  }
  bool any = false;
  for (const auto& command : commands) {
    if (!std::string_view(command.name).starts_with(arguments.words[0] + " ")) continue;
    fmt::print("  {:<22} {}\n", command.name, first_line(command.help));
    any = true;
  }
  if (!any || arguments.words.size() > 1) unknown_command(commands, arguments.words);
  return 0;
}

std::vector<Command> all_commands() {
  std::vector<Command> out;
  for (auto& family : {server_commands(), user_commands(), app_password_commands(), config_commands(),
                       doctor_commands(), keeper_commands()}) {
    out.insert(out.end(), family.begin(), family.end());
  }
  out.push_back(
      {"version", "", "prints the version", {}, 0, 0, [](const Arguments&) { return print_version(); }});
  out.push_back({"help", "[COMMAND]", "lists the commands, or tells more about one", {}, 0, 2, print_help});
  return out;
}

int dispatch(const std::vector<std::string>& words) {
  const auto asks_for_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (words.empty() || std::any_of(words.begin(), words.end(), asks_for_help)) {
    Arguments about;  // of a command, of a family like `welkin user --help`, or of everything
    std::remove_copy_if(words.begin(), words.end(), std::back_inserter(about.words), asks_for_help);
    print_help(about);
    return words.empty() ? 2 : 0;
  }
  if (words[0] == "--version" || words[0] == "-V") return print_version();
  const auto commands = all_commands();
  const auto* command = find_command(commands, words);
  if (command == nullptr) unknown_command(commands, words);
  const auto used = text::split(command->name, ' ').size();
  const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(used), words.end());
  return command->run(parse_arguments(*command, rest));
}

}  // namespace

int run_cli(const std::vector<std::string>& words) {
  const auto complain = [](const std::string& what) {
    std::fflush(stdout);
    for (const auto line : text::split(what, '\n')) fmt::print(stderr, "welkin: {}\n", log::one_line(line));
  };
  try {
    const int code = dispatch(words);
    if (std::fflush(stdout) != 0) {
      complain("the answer could not be written");
      return 1;
    }
    return code;
  } catch (const UsageError& e) {
    complain(e.what());
    complain("`welkin help` lists the commands");
    return 2;
  } catch (const ConfigError& e) {
    complain("the configuration is not usable:");
    complain(e.what());
  } catch (const std::exception& e) {
    complain(e.what());
  }
  return 1;
}

}  // namespace welkin::app
