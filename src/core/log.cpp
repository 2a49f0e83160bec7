#include "welkin/core/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "welkin/core/clock.hpp"
#include "welkin/core/text.hpp"

namespace welkin::log {
namespace {

std::atomic<Level> g_level{Level::info};
std::atomic<Format> g_format{Format::text};

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("welkin", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::trace);
    made->set_pattern("%v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

std::string_view name(Level level) {
  switch (level) {
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warn:
      return "warn";
    case Level::error:
      return "error";
  }
  return "info";
}

std::string now() { return times::rfc3339(SystemClock().now()); }

/// Length of the well-formed UTF-8 sequence at the start of `s`, 0 when there is none.
std::size_t sequence_length(std::string_view s) {
  for (std::size_t n = 1; n <= 4 && n <= s.size(); ++n)
    if (text::is_utf8(s.substr(0, n))) return n;
  return 0;
}

/// C1 controls (U+0080..9F), line and paragraph separators, bidi embeddings, overrides and isolates.
bool is_misleading(std::string_view sequence) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 2) return at(0) == 0xc2 && at(1) < 0xa0;
  if (sequence.size() != 3 || at(0) != 0xe2) return false;
  return (at(1) == 0x80 && at(2) >= 0xa8 && at(2) <= 0xae) ||
         (at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9);
}

}  // namespace

void configure(Level level, Format format) {
  g_level = level;
  g_format = format;
}

bool enabled(Level level) { return level >= g_level.load(std::memory_order_relaxed); }

Format format() { return g_format; }

void line(Level level, std::string_view message) {
  const std::string safe = one_line(message);
  if (format() == Format::json) {
    std::string quoted;
    for (const char c : safe) {
      if (c == '"' || c == '\\') quoted.push_back('\\');
      quoted.push_back(c);
    }
    logger().log(spdlog::level::info, R"({{"time":"{}","level":"{}","message":"{}"}})", now(), name(level),
                 quoted);
  } else {
    logger().log(spdlog::level::info, "{} {} {}", now(), name(level), safe);
  }
}

void access(std::string_view rendered) { logger().log(spdlog::level::info, "{}", rendered); }

std::string one_line(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  const auto escape = [&out](unsigned char byte) { out += fmt::format("\\x{:02x}", byte); };
  while (!s.empty()) {
    const std::size_t n = sequence_length(s);
    const auto first = static_cast<unsigned char>(s.front());
    if (n == 0) {
      escape(first);
      s.remove_prefix(1);
      continue;
    }
    const auto sequence = s.substr(0, n);
    if (first < 0x20 || first == 0x7f) {
      escape(first);
    } else if (is_misleading(sequence)) {
      for (const char c : sequence) escape(static_cast<unsigned char>(c));
    } else {
      out.append(sequence);
    }
    s.remove_prefix(n);
  }
  return out;
}

}  // namespace welkin::log
