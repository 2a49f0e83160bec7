#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "app/config.hpp"

namespace welkin::app {
namespace {

constexpr const char* kMask = "********";

nlohmann::ordered_json value_of(const Setting& s, const Config& config) {
  return std::visit(
      [&](auto member) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<decltype(member), std::string Config::*>) {
          const auto& value = config.*member;
          return s.secret && !value.empty() ? kMask : value;
        } else {
          return config.*member;
        }
      },
      s.field);
}

/// TOML's basic strings, numbers, booleans and arrays of strings are written as JSON writes them.
std::string toml_value(const Setting& s, const Config& config) {
  return value_of(s, config).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string as_toml(const Loaded& loaded) {
  std::string out;
  if (loaded.config.config_file.empty()) {
    out += fmt::format("# no file; one would be read from {}/welkin.toml\n", loaded.config.data_dir);
  } else {
    out += fmt::format("# file: {}\n", loaded.config.config_file);
  }
  std::string section;
  for (const auto& s : settings()) {
    if (section != s.section) {
      section = s.section;
      out += fmt::format("\n[{}]\n", section);
    }
    // The file in the data directory may hold all of it but where that is.
    const bool elsewhere = std::string_view(s.key) == "data_dir";
    out += fmt::format("{:<60}  # {}\n",
                       fmt::format("{}{} = {}", elsewhere ? "# " : "", s.key, toml_value(s, loaded.config)),
                       loaded.sources.at(s.key));
  }
  return out;
}

std::string as_json(const Loaded& loaded) {
  nlohmann::ordered_json out;
  out["config_file"] = loaded.config.config_file;
  for (const auto& s : settings()) {
    auto& entry = out["settings"][s.key];
    entry["section"] = s.section;
    entry["variable"] = s.variable();
    entry["value"] = value_of(s, loaded.config);
    entry["source"] = loaded.sources.at(s.key);
  }
  out["warnings"] = loaded.warnings;
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string limits_text(const Setting& s) {
  if (!std::holds_alternative<unsigned Config::*>(s.field) &&
      !std::holds_alternative<std::uint64_t Config::*>(s.field) &&
      !std::holds_alternative<std::int64_t Config::*>(s.field)) {
    return "";
  }
  if (s.kind == Setting::Kind::bytes && s.max > (1ull << 62))
    return s.min == 0 ? "" : fmt::format("from {}", s.min);
  return fmt::format("{} to {}", s.min, s.max);
}

std::string as_markdown() {
  const Config defaults;
  std::string out;
  std::string section;
  for (const auto& s : settings()) {
    if (section != s.section) {
      out += section.empty() ? "" : "\n";
      section = s.section;
      out += fmt::format("### [{}]\n| key | variable | default | range | meaning |\n|---|---|---|---|---|\n",
                         section);
    }
    const bool own = std::string_view(s.key) == "data_dir";
    out +=
        fmt::format("| `{}` | `{}`{} | {} | {} | {} |\n", s.key, s.variable(), s.secret ? ", `…_FILE`" : "",
                    own ? "see below" : fmt::format("`{}`", toml_value(s, defaults)), limits_text(s), s.help);
  }
  return out;
}

}  // namespace

std::string print_config(const Loaded& loaded, PrintAs form) {
  switch (form) {
    case PrintAs::toml:
      return as_toml(loaded);
    case PrintAs::json:
      return as_json(loaded);
    case PrintAs::markdown:
      return as_markdown();
  }
  return "";
}

}  // namespace welkin::app
