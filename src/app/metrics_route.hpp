#pragma once
#include <functional>
#include <string>

#include "welkin/http/router.hpp"

namespace welkin::app {

/// Adds GET /metrics to `router`. With a token, only who sends it as a bearer token is answered.
/// @param refresh brings gauges up to date that are read, not counted
void mount_metrics(http::Router& router, std::string token, std::function<void()> refresh);

/// Resident memory, descriptors, threads and uptime of this process, as gauges.
void refresh_process_gauges();

}  // namespace welkin::app
