#include <fmt/core.h>

#include <algorithm>

#include "app/cli.hpp"
#include "welkin/core/text.hpp"

namespace welkin::app {

std::string usage_of(const Command& command) {
  std::string out = fmt::format("welkin {}", command.name);
  for (const auto& option : command.options) {
    out += option.value != nullptr ? fmt::format(" [{} {}]", option.name, option.value)
                                   : fmt::format(" [{}]", option.name);
  }
  if (*command.synopsis != '\0') out += fmt::format(" {}", command.synopsis);
  return out;
}

std::optional<std::string> Arguments::value(const std::string& option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::nullopt : std::optional(found->second);
}

Arguments parse_arguments(const Command& command, const std::vector<std::string>& words) {
  Arguments out;
  bool only_words = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (only_words || !word.starts_with('-') || word == "-") {
      out.words.push_back(word);
      continue;
    }
    if (word == "--") {
      only_words = true;
      continue;
    }
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto option = std::find_if(command.options.begin(), command.options.end(),
                                     [&](const Option& o) { return name == o.name; });
    if (option == command.options.end()) {
      std::vector<std::string> known;
      known.reserve(command.options.size());
      for (const auto& o : command.options) known.emplace_back(o.name);
      const auto hint = text::nearest(name, known);
      throw UsageError(fmt::format("`welkin {}` has no option {}{}", command.name, name,
                                   hint ? fmt::format(" (did you mean {}?)", *hint) : ""));
    }
    if (out.options.contains(name)) throw UsageError(fmt::format("{} is given twice", name));
    if (option->value == nullptr) {
      if (equals != std::string::npos) throw UsageError(fmt::format("{} takes no value", name));
      out.options[name] = "";
    } else if (equals != std::string::npos) {
      out.options[name] = word.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      out.options[name] = words[++i];
    } else {
      throw UsageError(fmt::format("{} needs a value: {}", name, option->value));
    }
  }
  if (out.words.size() < command.words_min || out.words.size() > command.words_max) {
    throw UsageError(fmt::format("{} arguments; usage: {}",
                                 out.words.size() < command.words_min ? "too few" : "too many",
                                 usage_of(command)));
  }
  return out;
}

}  // namespace welkin::app
