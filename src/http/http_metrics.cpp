#include "http/http_metrics.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace welkin::http {

RouteMetrics::RouteMetrics(const std::string& labels)
    : requests("welkin_http_route_requests_total", "Requests answered, by route", labels),
      seconds("welkin_http_route_seconds_total", "Time spent answering, by route", labels, 1e-6) {}

RouteMetrics& route_metrics(const std::string& name) {
  static std::mutex mutex;
  static auto* const all = new std::map<std::string, std::unique_ptr<RouteMetrics>>;
  const std::lock_guard lock(mutex);
  auto& slot = (*all)[name];
  if (!slot) slot = std::make_unique<RouteMetrics>("route=\"" + metrics::label(name) + "\"");
  return *slot;
}

ServerMetrics& server_metrics() {
  static auto* const instance = new ServerMetrics;
  return *instance;
}

}  // namespace welkin::http
