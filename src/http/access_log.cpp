#include "http/access_log.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "welkin/core/clock.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/problem.hpp"

namespace welkin::http {
namespace {

constexpr std::size_t kPathBytesMax = 1024;

/// The path as decoded, its secrets masked.
std::string loggable_path(const Request::State& request) {
  std::string out;
  if (!request.route) {
    out = std::string(request.head.target.substr(0, request.head.target.find('?')));
  } else {
    const auto& names = request.route->param_names;
    const auto token = std::find(names.begin(), names.end(), "token");
    const auto secret_at =
        token == names.end() ? UINT32_MAX : request.captures[static_cast<std::size_t>(token - names.begin())];
    for (std::size_t i = 0; i < request.segments.size(); ++i)
      out.append("/").append(i == secret_at ? "***" : request.segments[i]);
    if (out.empty()) out = "/";
  }
  if (out.size() > kPathBytesMax) out = out.substr(0, kPathBytesMax) + "...";
  return out;
}

/// Safe inside quotes on one line.
std::string quotable(std::string_view s) {
  const bool plain =
      std::all_of(s.begin(), s.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '"'; });
  if (plain) return std::string(s);
  std::string out;
  for (const char c : log::one_line(s)) c == '"' ? out.append("\\x22") : out.append(1, c);
  return out;
}

}  // namespace

std::string render_access(const Request::State& request, unsigned status, std::uint64_t bytes_out,
                          std::chrono::microseconds took, bool cut) {
  const auto path = loggable_path(request);
  const auto or_dash = [](std::string_view s) { return s.empty() ? std::string_view("-") : s; };
  const auto method = or_dash(request.head.method_token);
  const auto user = or_dash(request.caller.name);
  const auto route = or_dash(request.route ? std::string_view(request.route->name) : "");
  const auto time = times::rfc3339(SystemClock().now());
  const auto ms = static_cast<double>(took.count()) / 1000.0;
  if (log::format() == log::Format::text)
    return fmt::format("{} {} {} \"{} {}\" {} {} {:.3f}ms {} {}{}", time, request.address_text,
                       quotable(user), method, quotable(path), status, bytes_out, ms, route, request.id,
                       cut ? " cut" : "");
  std::string out = "{\"time\":\"" + time + "\",\"client\":";
  append_json_string(out, request.address_text);
  out += ",\"user\":";
  append_json_string(out, user);
  out += ",\"method\":";
  append_json_string(out, method);
  out += ",\"path\":";
  append_json_string(out, path);
  out += fmt::format(",\"status\":{},\"bytes\":{},\"ms\":{:.3f},\"route\":", status, bytes_out, ms);
  append_json_string(out, route);
  out += ",\"request_id\":";
  append_json_string(out, request.id);
  out += cut ? ",\"cut\":true}" : "}";
  return out;
}

}  // namespace welkin::http
