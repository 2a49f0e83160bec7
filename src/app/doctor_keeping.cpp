// What waits for time or for an operator.
#include <fmt/core.h>

#include <filesystem>

#include "app/doctor.hpp"

namespace welkin::app {
namespace {

constexpr std::int64_t kHour = 3600, kDay = 24 * kHour;

struct Sum {
  std::uint64_t files = 0, bytes = 0;
};

Sum sum_of(const std::string& path) {
  Sum sum;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(path, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code ignored;
    const auto size = at->is_regular_file(ignored) ? at->file_size(ignored) : 0;
    ++sum.files;
    if (!ignored) sum.bytes += size;
  }
  return sum;
}

std::string mib(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 0x1p20);
}

}  // namespace

void check_keeping(const DatabaseState::Keeping& keeping, const Config& config, Micros now, Findings& out) {
  const auto say = [&](Verdict verdict, const char* check, std::string text) {
    out.push_back({verdict, check, std::move(text)});
  };
  if (keeping.quarantined_needed > 0) {
    say(Verdict::fault, "store.damage",
        fmt::format(
            "{} damaged chunks, which files need; welkin fsck names the files, docs/operators.md says how to "
            "bring bytes back",
            keeping.quarantined_needed));
  } else if (keeping.known_damage > 0) {
    say(Verdict::fault, "store.damage",
        fmt::format("{} things that welkin fsck --repair could not repair; welkin fsck names them",
                    keeping.known_damage));
  } else {
    say(Verdict::ok, "store.damage",
        keeping.quarantined > 0
            ? fmt::format("none; {} replaced chunks wait for the collector", keeping.quarantined)
            : "none known");
  }
  if (config.scrub_mib_per_second == 0) {
    say(Verdict::warning, "store.scrub", "off: stored bytes that rot are found when somebody reads them");
  } else {
    const auto at = keeping.scrub_finished ? times::from_rfc3339(*keeping.scrub_finished) : std::nullopt;
    const auto late = at && now - *at > Micros{config.scrub_days + 30} * kDay * 1'000'000;
    say(late ? Verdict::warning : Verdict::ok, "store.scrub",
        fmt::format(
            "{}{}",
            at ? "came to the end of the store at " + *keeping.scrub_finished : "never came to the end yet",
            keeping.scrub_running ? ", and is at it" : ""));
  }
  const auto waiting = fmt::format("{} contents and {} chunks wait for the collector",
                                   keeping.contents_waiting, keeping.chunks_waiting);
  if (keeping.held) {
    say(Verdict::ok, "gc", waiting + "; a backup holds them");
  } else if (keeping.waiting_seconds > kDay) {
    say(Verdict::warning, "gc",
        waiting + fmt::format(", some for {} h beyond their time; does the server run?",
                              keeping.waiting_seconds / kHour));
  } else {
    say(Verdict::ok, "gc", waiting);
  }
  if (keeping.parked > 0)
    say(Verdict::warning, "gc.parked",
        fmt::format("{} chunk files could not be removed; see the log, then run: welkin fsck --repair",
                    keeping.parked));
  say(Verdict::ok, "uploads",
      fmt::format("{} running, {} announced{}", keeping.uploads,
                  mib(static_cast<std::uint64_t>(keeping.reserved_bytes)),
                  keeping.uploads > 0
                      ? fmt::format(", the oldest since {} h", keeping.oldest_upload_seconds / kHour)
                      : ""));
}

void check_left_files(const Config& config, Findings& out) {
  const auto spool = sum_of(config.data_dir + "/spool");
  out.push_back({Verdict::ok, "spool", fmt::format("{} files, {}", spool.files, mib(spool.bytes))});
  const auto found = sum_of(config.data_dir + "/found");
  if (found.files > 0)
    out.push_back(
        {Verdict::warning, "found",
         fmt::format("{} files, {} in {}/found, moved aside by welkin fsck --repair; look at them and delete "
                     "what you do not need",
                     found.files, mib(found.bytes), config.data_dir)});
}

}  // namespace welkin::app
