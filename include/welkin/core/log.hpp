#pragma once
#include <string>
#include <string_view>

#include <fmt/core.h>

/// The server's own log (standard error). Lines are one line: control characters and bidi overrides in values are
/// escaped by the sink, so a client cannot forge a line. Never log a secret: cookies, tokens, passwords, query strings
/// of unlock links.
namespace welkin::log {

enum class Level { debug, info, warn, error };
enum class Format { text, json };

void configure(Level level, Format format);
bool enabled(Level level);
void line(Level level, std::string_view message);
/// One structured access line, already rendered by http in the configured format.
void access(std::string_view rendered);
Format format();

template <class... Args>
void debug(fmt::format_string<Args...> f, Args&&... args) {
  if (enabled(Level::debug)) line(Level::debug, fmt::format(f, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> f, Args&&... args) {
  if (enabled(Level::info)) line(Level::info, fmt::format(f, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> f, Args&&... args) {
  if (enabled(Level::warn)) line(Level::warn, fmt::format(f, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> f, Args&&... args) {
  if (enabled(Level::error)) line(Level::error, fmt::format(f, std::forward<Args>(args)...));
}

/// Escapes C0/C1 controls, bidi overrides and broken UTF-8, so the text is safe inside one log line.
std::string one_line(std::string_view s);

}  // namespace welkin::log
