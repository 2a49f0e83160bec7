#pragma once
#include <array>
#include <string>

#include "welkin/core/metrics.hpp"

namespace welkin::http {

/// What is counted per route name, for the whole process.
struct RouteMetrics {
  explicit RouteMetrics(const std::string& labels);
  metrics::Counter requests;
  metrics::Counter seconds;  // counted in microseconds
};
/// The counters of `name`, made at its first use. Never destroyed.
RouteMetrics& route_metrics(const std::string& name);

/// Everything else the server counts.
struct ServerMetrics {
  metrics::Gauge connections{"welkin_http_connections", "Open connections"};
  metrics::Gauge in_flight{"welkin_http_requests_in_flight", "Requests being answered"};
  metrics::Counter accepted{"welkin_http_connections_accepted_total", "Connections accepted"};
  metrics::Counter refused_full{"welkin_http_connections_refused_total", "Connections refused at the door",
                                "reason=\"full\""};
  metrics::Counter refused_address{"welkin_http_connections_refused_total", "Connections refused at the door",
                                   "reason=\"address\""};
  metrics::Counter evicted{"welkin_http_connections_evicted_total", "Idle connections closed to make room"};
  metrics::Counter timeouts_head{"welkin_http_timeouts_total", "Connections cut for slowness",
                                 "phase=\"head\""};
  metrics::Counter timeouts_body{"welkin_http_timeouts_total", "Connections cut for slowness",
                                 "phase=\"body\""};
  metrics::Counter timeouts_write{"welkin_http_timeouts_total", "Connections cut for slowness",
                                  "phase=\"write\""};
  metrics::Counter refused_heads{"welkin_http_malformed_requests_total",
                                 "Requests refused for their framing"};
  metrics::Counter failures{"welkin_http_handler_failures_total",
                            "Requests that ended in an unexpected error"};
  metrics::Counter bytes_in{"welkin_http_received_bytes_total", "Bytes received, TLS taken off"};
  metrics::Counter bytes_out{"welkin_http_sent_bytes_total", "Bytes sent, TLS not counted"};
  metrics::Counter tls_failures{"welkin_http_tls_handshake_failures_total", "TLS handshakes that failed"};
  metrics::Counter s2{"welkin_http_requests_total", "Requests answered", "status=\"2xx\""};
  metrics::Counter s3{"welkin_http_requests_total", "Requests answered", "status=\"3xx\""};
  metrics::Counter s4{"welkin_http_requests_total", "Requests answered", "status=\"4xx\""};
  metrics::Counter s5{"welkin_http_requests_total", "Requests answered", "status=\"5xx\""};
  metrics::Counter& by_status(unsigned status) {
    return status >= 500 ? s5 : status >= 400 ? s4 : status >= 300 ? s3 : s2;
  }
};
ServerMetrics& server_metrics();

}  // namespace welkin::http
