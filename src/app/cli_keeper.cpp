// fsck and gc: an operator looks after the bytes.
#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/cli.hpp"
#include "app/command.hpp"
#include "app/privileges.hpp"
#include "welkin/blobs/check.hpp"
#include "welkin/blobs/upkeep.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"
#include "welkin/db/migrate.hpp"
#include "welkin/collections/check.hpp"
#include "welkin/files/check.hpp"

namespace welkin::app {
namespace {

using blobs::Finding;
using nlohmann::ordered_json;

constexpr unsigned kStatementMs = 3'600'000;  // sums over a large drive take their time
constexpr unsigned kGcSeconds = 60;

const char* word(Finding::Weight weight) {
  switch (weight) {
    case Finding::Weight::loss:
      return "loss";
    case Finding::Weight::fault:
      return "fault";
    case Finding::Weight::litter:
      return "litter";
  }
  return "";
}

const char* word(Finding::Outcome outcome) {
  switch (outcome) {
    case Finding::Outcome::found:
      return "found";
    case Finding::Outcome::repaired:
      return "repaired";
    case Finding::Outcome::left:
      return "left";
    case Finding::Outcome::known:
      return "known";
  }
  return "";
}

/// Database and directory for a command that works on what a server has made. @throws when it has made
/// nothing yet
class Workshop {
 public:
  explicit Workshop(const std::string& command) : loaded_(begin_command(DataDir::look_only)) {
    log::configure(log::Level::error, log::Format::text);
    if (config().database_url.empty() && !std::filesystem::exists(cluster_directory(config())))
      throw StartError(fmt::format("there is nothing yet in {}", config().data_dir));
    database_.emplace(config(), command);
    db::migrate(database_->url(), db::bundled_migrations(), db::bundled_functions());
    db_.emplace(
        db::PoolConfig{.url = database_->url(), .connections = 2, .statement_timeout_ms = kStatementMs});
  }
  ~Workshop() {
    if (db_) db_->close();
  }
  const Config& config() const { return loaded_.config; }
  db::Db& db() { return *db_; }

 private:
  Loaded loaded_;
  std::optional<CommandDatabase> database_;
  std::optional<db::Db> db_;
};

/// Prints findings as they come: a store with many of them must not fill the memory.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {
    if (json_) fmt::print("{{\"findings\": [");
  }

  void finding(const Finding& f) {
    if (!json_) {
      fmt::print("{:<7} {:<20} {}: {}\n", f.outcome == Finding::Outcome::known ? "known" : word(f.weight),
                 f.kind, log::one_line(f.subject), log::one_line(f.detail));
      if (!f.action.empty()) fmt::print("        {}: {}\n", word(f.outcome), log::one_line(f.action));
      return;
    }
    const ordered_json out{{"weight", word(f.weight)}, {"outcome", word(f.outcome)}, {"kind", f.kind},
                           {"subject", f.subject},     {"detail", f.detail},         {"action", f.action}};
    fmt::print("{}\n  {}", first_ ? "" : ",",
               out.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    first_ = false;
  }

  void end(const blobs::Inspection* inspection, const std::string& error) {
    if (json_) {
      ordered_json out;
      if (!error.empty()) out["error"] = error;
      if (inspection != nullptr) {
        for (const auto outcome : {Finding::Outcome::found, Finding::Outcome::repaired,
                                   Finding::Outcome::left, Finding::Outcome::known})
          out[word(outcome)] = inspection->count(outcome);
        out["looked_at"] = inspection->looked_at;
      }
      out["clean"] = error.empty() && inspection != nullptr && inspection->clean();
      const auto text = out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
      fmt::print("\n], {}\n", text.substr(1));
      return;
    }
    if (inspection == nullptr) return;
    std::string looked;
    for (const auto& [what, n] : inspection->looked_at)
      looked += fmt::format("{}{} {}", looked.empty() ? "" : ", ", n, what);
    fmt::print("{}; {} found, {} repaired, {} left, {} known\n", looked,
               inspection->count(Finding::Outcome::found), inspection->count(Finding::Outcome::repaired),
               inspection->count(Finding::Outcome::left), inspection->count(Finding::Outcome::known));
    if (error.empty()) fmt::print("{}\n", inspection->clean() ? "clean" : "NOT clean");
  }

 private:
  bool json_, first_ = true;
};

unsigned seconds_of(const Arguments& arguments, const char* option, unsigned otherwise) {
  const auto given = arguments.value(option);
  if (!given) return otherwise;
  const auto number = text::number(*given);
  if (!number || *number > 1'000'000'000)
    throw UsageError(fmt::format("'{}' is no number of seconds", *given));
  return static_cast<unsigned>(*number);
}

/// 0 nothing is wrong, or everything was repaired; 1 something is; 2 it could not be found out.
int fsck(const Arguments& arguments) {
  blobs::Inspection::Options options{.data_dir = "",
                                     .deep = arguments.has("--deep"),
                                     .repair = arguments.has("--repair"),
                                     .grace_seconds = {}};
  if (arguments.has("--grace")) options.grace_seconds = seconds_of(arguments, "--grace", 0);
  const bool json = arguments.has("--json");
  Printer printer(json);
  std::optional<blobs::Inspection> inspection;
  std::string error;
  try {
    Workshop workshop("fsck");
    options.data_dir = workshop.config().data_dir;
    inspection.emplace(workshop.db(), options, [&](const Finding& f) { printer.finding(f); });
    blobs::check_bytes(*inspection);
    collections::check_collections(*inspection);
    files::check_tree(*inspection);
    inspection->finish();
  } catch (const std::exception& e) {
    error = e.what();
  }
  printer.end(inspection ? &*inspection : nullptr, error);
  if (!error.empty()) {
    std::fflush(stdout);
    fmt::print(stderr, "welkin: the check could not be done: {}\n", log::one_line(error));
    return 2;
  }
  return inspection->clean() ? 0 : 1;
}

int gc(const Arguments& arguments) {
  const auto seconds = seconds_of(arguments, "--seconds", kGcSeconds);
  Workshop workshop("gc");
  const auto freed = blobs::collect_now(workshop.db(), workshop.config().data_dir,
                                        workshop.config().gc_grace_seconds, seconds);
  if (arguments.has("--json")) {
    const ordered_json out{{"bytes", freed.bytes},     {"chunks", freed.chunks}, {"contents", freed.contents},
                           {"orphans", freed.orphans}, {"healed", freed.healed}, {"held", freed.held},
                           {"more", freed.more}};
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print("{} bytes freed: {} chunk files of {} deleted contents and orphans\n", freed.bytes, freed.chunks,
             freed.contents);
  if (freed.orphans > 0) fmt::print("{} files without a row were found\n", freed.orphans);
  if (freed.healed > 0) fmt::print("{} damaged chunks healed: their bytes were stored anew\n", freed.healed);
  if (freed.held) fmt::print("a backup holds every file; nothing leaves the disk until it ends\n");
  if (freed.more) fmt::print("the time was up before everything was done; run it again\n");
  return 0;
}

}  // namespace

std::vector<Command> keeper_commands() {
  return {
      {"fsck",
       "",
       "compares the stored bytes, their rows and the tree with each other\nWorks while the server runs, and "
       "without "
       "it. Exit code: 0 nothing is wrong or everything was repaired, 1 something is wrong, 2 the check "
       "could not be "
       "done. Damage that an earlier --repair had to leave is shown as known and does not count.",
       {{"--deep", nullptr, "reads every stored byte, too"},
        {"--repair", nullptr,
         "repairs what can be repaired without giving up a byte; what is in the way is moved "
         "into <data>/found"},
        {"--grace", "SECONDS", "how old a file without a row must be; a day beside a running server, else 0"},
        {"--json", nullptr, "for programs"}},
       0,
       0,
       fsck},
      {"gc",
       "",
       "takes deleted bytes from the disk now, those that are past gc_grace_seconds\nThe server does so by "
       "itself "
       "every minute.",
       {{"--seconds", "SECONDS", "stops after about this long; 60 unless given"},
        {"--json", nullptr, "for programs"}},
       0,
       0,
       gc},
  };
}

}  // namespace welkin::app
