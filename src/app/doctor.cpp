#include "app/doctor.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/cli.hpp"
#include "app/command.hpp"
#include "app/privileges.hpp"
#include "welkin/blobs/store.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"

namespace welkin::app {

void check_database(const DatabaseState& state, const Config& config, Micros now, Findings& out) {
  const auto say = [&](Verdict verdict, const char* check, std::string text) {
    out.push_back({verdict, check, std::move(text)});
  };
  if (state.version < 150'000) {
    say(Verdict::fault, "database.version",
        fmt::format("PostgreSQL {}: 15 or newer is needed", state.version_text));
  } else {
    say(Verdict::ok, "database.version",
        fmt::format("PostgreSQL {}{}", state.version_text, config.database_url.empty() ? ", private" : ""));
  }
  if (state.encoding != "UTF8") {
    say(Verdict::fault, "database.encoding",
        fmt::format("the database is encoded in {}, UTF8 is needed", state.encoding));
  }
  for (const auto& [name, value] : state.settings) {
    const auto check = "database." + name;
    if ((name == "fsync" || name == "full_page_writes") && value != "on") {
      say(Verdict::fault, check.c_str(),
          fmt::format("{} is {}: a power cut may destroy the database; set it on", name, value));
    } else if (name == "synchronous_commit" && (value == "off" || value == "local")) {
      say(value == "off" ? Verdict::fault : Verdict::ok, check.c_str(),
          fmt::format("{} is {}{}", name, value,
                      value == "off" ? ": what was acknowledged may be lost; set it on" : ""));
    } else if (name == "data_checksums" && value != "on") {
      say(Verdict::warning, check.c_str(), "data_checksums is off: a failing disk may go unseen");
    } else if (name == "max_connections" && std::atoi(value.c_str()) < 20) {
      say(Verdict::warning, check.c_str(),
          fmt::format("max_connections is {}: a server takes up to 20", value));
    } else {
      say(Verdict::ok, check.c_str(), fmt::format("{} is {}", name, value));
    }
  }
  if (!state.unknown.empty()) {
    say(Verdict::fault, "schema",
        fmt::format("written by a newer Welkin (it has {}); run that version", state.unknown.back()));
  } else if (state.applied.empty()) {
    say(Verdict::ok, "schema", "none yet; the first start makes it");
  } else if (!state.pending.empty()) {
    say(Verdict::warning, "schema",
        fmt::format("{} migrations are to come at the next start", state.pending.size()));
  } else {
    say(Verdict::ok, "schema", fmt::format("up to date ({})", state.applied.back()));
  }
  const auto apart = std::abs(state.now - now) / 1'000'000;
  if (apart > 5) {
    say(Verdict::warning, "clock",
        fmt::format("this machine and the database are {} s apart; run a time service", apart));
  } else {
    say(Verdict::ok, "clock", fmt::format("{}, as the database has it", times::rfc3339(now)));
  }
}

namespace {

constexpr Micros kBuiltAround = 1'795'000'000'000'000;  // late 2026: no honest clock is before

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warning:
      return "warning";
    case Verdict::fault:
      return "fault";
  }
  return "";
}

void print(const Findings& findings, bool json) {
  if (json) {
    nlohmann::ordered_json out;
    out["verdict"] = word(worst(findings));
    out["findings"] = nlohmann::ordered_json::array();
    for (const auto& f : findings)
      out["findings"].push_back({{"verdict", word(f.verdict)}, {"check", f.check}, {"text", f.text}});
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  for (const auto& f : findings) {
    const char* verdict = word(f.verdict);
    const char* check = f.check.c_str();
    for (const auto line : text::split(f.text, '\n')) {  // several complaints about one thing stand below each other
      fmt::print("{:<8} {:<28} {}\n", verdict, check, log::one_line(line));
      verdict = check = "";
    }
  }
}

/// Takes back that the store is not to be trusted, for an operator who has looked at the disk.
void reset_store(const Config& config, const std::string& url, Findings& out) {
  db::Db db({.url = url, .connections = 1});
  blobs::Store::Options options;
  options.data_dir = config.data_dir;
  const auto reason = blobs::Store::reset_suspect(db, options);
  db.close();
  out.push_back({Verdict::ok, "store.reset",
                 reason ? "taken back: " + *reason + "; the server takes writes again from its next start on"
                        : "the store was not suspect"});
}

void look_at_database(const Config& config, bool reset, Findings& out) {
  const auto now = SystemClock().now();
  if (now < kBuiltAround) {
    out.push_back({Verdict::fault, "clock",
                   fmt::format("this machine says it is {}; set the time", times::rfc3339(now))});
  }
  if (config.database_url.empty() && !std::filesystem::exists(cluster_directory(config))) {
    out.push_back({Verdict::ok, "database", "a private one; the first start makes it"});
    return check_store(config, nullptr, out);
  }
  try {
    const CommandDatabase database(config, "doctor");
    if (reset) reset_store(config, database.url(), out);
    const auto state = read_database_state(database.url(), config.gc_grace_seconds);
    out.push_back(
        {Verdict::ok, "database", config.database_url.empty() ? "the private one answers" : "answers"});
    check_database(state, config, now, out);
    check_store(config, &state, out);
    if (state.keeping) check_keeping(*state.keeping, config, now, out);
  } catch (const std::exception& e) {
    out.push_back({Verdict::fault, "database", e.what()});
  }
}

Findings examine(bool reset) {
  Findings out;
  Loaded loaded;
  try {
    loaded = begin_command(DataDir::look_only);
  } catch (const ConfigError& e) {
    out.push_back({Verdict::fault, "configuration", e.what()});
    return out;
  } catch (const StartError& e) {
    out.push_back({Verdict::fault, "data_dir", e.what()});
    return out;
  }
  log::configure(log::Level::error, log::Format::text);
  for (const auto& warning : loaded.warnings) out.push_back({Verdict::warning, "configuration", warning});
  if (out.empty()) {
    out.push_back(
        {Verdict::ok, "configuration",
         loaded.config.config_file.empty() ? "no file, variables and defaults" : loaded.config.config_file});
  }
  check_data_dir(loaded.config, out);
  check_disk(loaded.config, out);
  check_tls(loaded.config, out);
  check_left_files(loaded.config, out);
  look_at_database(loaded.config, reset, out);
  check_server(loaded.config, out);
  return out;
}

int doctor(const Arguments& arguments) {
  const auto findings = examine(arguments.has("--reset-store"));
  print(findings, arguments.has("--json"));
  return static_cast<int>(worst(findings));
}

}  // namespace

std::vector<Command> doctor_commands() {
  return {
      {"doctor",
       "",
       "looks for what would keep the server from working, or from keeping data safe\nExit code: 0 all is "
       "well, 1 "
       "warnings, 2 faults.",
       {{"--json", nullptr, "for programs"},
        {"--reset-store", nullptr,
         "lets a store that turned read-only take writes again, once you have seen to its disk"}},
       0,
       0,
       doctor},
  };
}

}  // namespace welkin::app
