#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/address.hpp"
#include "http/head.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/http/request.hpp"
#include "welkin/http/router.hpp"

namespace welkin::http {

class BodyReader;
struct Settings;
struct RouteMetrics;

/// A route with what matching and counting need beside it.
struct RouteEntry {
  std::size_t index = 0;                 // into Router::routes()
  Handler handler;                       // wrapped by its middlewares
  std::vector<std::string> param_names;  // in the order of the pattern
  RouteMetrics* metrics = nullptr;
  std::string name;
};

/// What stands behind a Request. One per connection, used again for each of its requests.
struct Request::State {
  explicit State(const Settings& settings_, BodyReader* body_) : settings(settings_), body(body_) {}

  const Settings& settings;
  BodyReader* body;  // null in tests of the router
  Head head;
  std::string_view raw_path;  // into head.target
  std::string_view raw_query;
  std::vector<std::string> segments;
  bool trailing_slash = false;

  // by the router
  const RouteEntry* route = nullptr;
  std::vector<std::uint32_t>
      captures;  // indexes of segments, in the order of the pattern; the rest's begin is last

  // by the session
  Address address;
  std::string address_text;
  std::string local_authority;  // for base_url when an HTTP/1.0 request has no Host
  bool secure = false;
  std::vector<std::string> forwarded_hosts;  // as a trusted proxy says, without ports
  std::string id;
  Caller caller;

  void clear();
};

}  // namespace welkin::http
