#include "app/metrics_route.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "welkin/core/metrics.hpp"
#include "welkin/core/text.hpp"

namespace welkin::app {
namespace {

constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";
const auto g_started = std::chrono::steady_clock::now();

metrics::Gauge g_resident("welkin_process_resident_bytes", "Resident memory of the server, PostgreSQL apart");
metrics::Gauge g_descriptors("welkin_process_open_fds", "Open file descriptors");
metrics::Gauge g_threads("welkin_process_threads", "Threads");
metrics::Gauge g_uptime("welkin_process_uptime_seconds", "Seconds since the start");
metrics::Gauge g_version("welkin_build_info", "The running version, always 1",
                         "version=\"" WELKIN_VERSION "\"");

std::int64_t entries_of(const char* directory) {
  std::error_code failed;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator at(directory, failed), end; !failed && at != end;
       at.increment(failed))
    ++count;
  return count;
}

Task<> answer(std::string token, std::function<void()> refresh, http::Request& rq, http::Reply& rp) {
  const auto sent = rq.header("Authorization");
  if (!token.empty() &&
      (!text::iequals(sent.substr(0, 7), "Bearer ") || !text::equal_secret(sent.substr(7), token))) {
    rp.set("WWW-Authenticate", "Bearer");
    co_await rp.send(http::Status::unauthorized, "text/plain; charset=utf-8", "a token is needed\n");
    co_return;
  }
  refresh();
  co_await rp.send(http::Status::ok, kContentType, metrics::render());
}

}  // namespace

void refresh_process_gauges() {
  long pages = 0, resident = 0;
  if (std::FILE* statm = std::fopen("/proc/self/statm", "re"); statm != nullptr) {
    if (std::fscanf(statm, "%ld %ld", &pages, &resident) == 2)
      g_resident.set(resident * ::sysconf(_SC_PAGESIZE));
    std::fclose(statm);
  }
  g_descriptors.set(entries_of("/proc/self/fd"));
  g_threads.set(entries_of("/proc/self/task"));
  g_uptime.set(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - g_started).count());
  g_version.set(1);
}

void mount_metrics(http::Router& router, std::string token, std::function<void()> refresh) {
  http::Handler handler = [token = std::move(token), refresh = std::move(refresh)](
                              http::Request& rq, http::Reply& rp) { return answer(token, refresh, rq, rp); };
  router.scope({}).on({http::Method::get, "/metrics", "metrics", http::Access::open, "metrics", "read"},
                      std::move(handler));
}

}  // namespace welkin::app
