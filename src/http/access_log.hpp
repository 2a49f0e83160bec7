#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "http/request_state.hpp"

namespace welkin::http {

/// One line for one request, in the log's format. Query strings and the values of route parameters called
/// `token` are left out: they are keys.
std::string render_access(const Request::State& request, unsigned status, std::uint64_t bytes_out,
                          std::chrono::microseconds took, bool cut);

}  // namespace welkin::http
