#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "welkin/http/router.hpp"

namespace welkin::rest {

/// The document for these routes, of those below /api, /health and /ready.
nlohmann::json openapi_of(const std::vector<http::Route>& routes);
/// Names of routes whose parameters of queries are listed, for the test that holds the list against the
/// router.
std::vector<std::string> routes_with_queries();

}  // namespace welkin::rest
