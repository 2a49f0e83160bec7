#include "welkin/http/router.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "http/ascii.hpp"
#include "http/http_metrics.hpp"
#include "http/request_state.hpp"
#include "welkin/core/error.hpp"
#include "welkin/http/problem.hpp"

namespace welkin::http {
namespace {

struct Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::unique_ptr<Node> param;
  std::unique_ptr<Node> rest;
  std::map<Method, RouteEntry> routes;
};

struct Pattern {
  std::vector<std::string> segments;  // "{" for a parameter, "{*" for the rest
  std::vector<std::string> names;
};

Pattern parse_pattern(const std::string& pattern) {
  if (!pattern.starts_with('/'))
    throw std::logic_error("route pattern " + pattern + " does not start with /");
  Pattern out;
  std::size_t at = 1;
  while (at < pattern.size()) {
    const auto end = std::min(pattern.find('/', at), pattern.size());
    const auto segment = pattern.substr(at, end - at);
    at = end + 1;
    if (segment.empty()) continue;
    if (!segment.starts_with('{')) {
      out.segments.push_back(segment);
      continue;
    }
    const bool rest = segment.starts_with("{*");
    const std::size_t name_at = rest ? 2 : 1;
    if (!segment.ends_with('}') || segment.size() < name_at + 2)
      throw std::logic_error("route pattern " + pattern + " has a malformed parameter");
    if (rest && at < pattern.size())
      throw std::logic_error("route pattern " + pattern + " goes on after its rest");
    out.segments.push_back(rest ? "{*" : "{");
    out.names.push_back(segment.substr(name_at, segment.size() - name_at - 1));
  }
  return out;
}

/// Depth first, literals before the parameter before the rest: the first node with any route is the one
/// meant.
const Node* find(const Node& node, const std::vector<std::string>& segments, std::size_t at,
                 std::vector<std::uint32_t>& captures) {
  if (at == segments.size()) {
    if (!node.routes.empty()) return &node;
  } else {
    if (const auto literal = node.literals.find(segments[at]); literal != node.literals.end())
      if (const auto* found = find(*literal->second, segments, at + 1, captures)) return found;
    if (node.param) {
      captures.push_back(static_cast<std::uint32_t>(at));
      if (const auto* found = find(*node.param, segments, at + 1, captures)) return found;
      captures.pop_back();
    }
  }
  if (!node.rest) return nullptr;
  captures.push_back(static_cast<std::uint32_t>(at));
  return node.rest.get();
}

bool is_below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) &&
         (path.size() == prefix.size() || prefix.empty() || path[prefix.size()] == '/');
}

/// "GET, HEAD, OPTIONS, PUT"
std::string allow_of(const std::map<Method, RouteEntry>& routes) {
  std::set<std::string_view> tokens = {to_string(Method::options)};
  for (const auto& [method, entry] : routes) {
    tokens.insert(to_string(method));
    if (method == Method::get) tokens.insert(to_string(Method::head));
  }
  std::string out;
  for (const auto token : tokens) {
    if (!out.empty()) out += ", ";
    out += token;
  }
  return out;
}

Task<> answer_plainly(Request& rq, Reply& rp, std::string allowed) {
  if (allowed.empty()) throw Error(Errc::not_found, "not_found", "there is nothing at this address");
  rp.set("Allow", allowed);
  if (rq.method() == Method::options) {
    co_await rp.send(Status::no_content);
    co_return;
  }
  // Not thrown: the session's answer to an error would drop Allow.
  co_await rp.send(Status::method_not_allowed, "application/json",
                   error_json(Status::method_not_allowed, "method_not_allowed",
                              std::string(rq.method_token()) + " is not possible here", rq.id()));
}

}  // namespace

struct Router::Impl {
  Node root;
  std::vector<Route> routes;
  std::vector<std::pair<std::string, Fallback>> fallbacks;  // the longest prefix first
  std::vector<std::pair<std::string, FailureForm>> failure_forms;
  std::set<std::string> names;

  Task<> unmatched(Request& rq, Reply& rp, const std::string& allowed) const {
    std::string path;
    for (const auto& segment : rq.segments()) path += "/" + segment;
    for (const auto& [prefix, fallback] : fallbacks)
      if (is_below(path, prefix)) {
        co_await fallback(rq, rp, allowed);
        co_return;
      }
    co_await answer_plainly(rq, rp, allowed);
  }

  /// OPTIONS * asks about the server as a whole (RFC 9110 §9.3.7).
  Task<> answer_server_options(Reply& rp) const {
    std::set<std::string_view> tokens = {"OPTIONS", "HEAD"};
    for (const auto& route : routes) tokens.insert(to_string(route.method));
    std::string allow;
    for (const auto token : tokens) allow += (allow.empty() ? "" : ", ") + std::string(token);
    rp.set("Allow", allow);
    co_await rp.send(Status::no_content);
  }
};

Router::Router() : impl_(std::make_unique<Impl>()) {}
Router::~Router() = default;

void Router::Scope::on(Route route, Handler handler) {
  Handler wrapped = std::move(handler);
  for (auto middleware = middlewares_.rbegin(); middleware != middlewares_.rend(); ++middleware) {
    // No coroutine of its own: the closure lives in the router, longer than any request.
    wrapped = [outer = *middleware, next = std::move(wrapped)](Request& rq, Reply& rp) {
      return outer(next, rq, rp);
    };
  }
  router_.add(std::move(route), std::move(wrapped));
}

void Router::add(Route route, Handler handler) {
  const auto named = std::string(to_string(route.method)) + " " + route.pattern;
  if (route.resource.empty() || route.action.empty() || route.name.empty())
    throw std::logic_error("route " + named +
                           " must name itself, its resource and its action ('-' for none)");
  if (route.access == Access::unset) throw std::logic_error("route " + named + " must say who may reach it");
  if (route.method == Method::other) throw std::logic_error("route " + named + " has no method");
  if (!handler) throw std::logic_error("route " + named + " has no handler");
  const auto pattern = parse_pattern(route.pattern);
  Node* node = &impl_->root;
  for (const auto& segment : pattern.segments) {
    auto& next = segment == "{" ? node->param : segment == "{*" ? node->rest : node->literals[segment];
    if (!next) next = std::make_unique<Node>();
    node = next.get();
  }
  if (node->routes.contains(route.method)) throw std::logic_error("route " + named + " exists already");
  RouteEntry entry;
  entry.index = impl_->routes.size();
  entry.handler = std::move(handler);
  entry.param_names = pattern.names;
  entry.metrics = &route_metrics(route.name);
  entry.name = route.name;
  node->routes.emplace(route.method, std::move(entry));
  impl_->routes.push_back(std::move(route));
}

void Router::set_fallback(std::string prefix, Fallback fallback) {
  auto& all = impl_->fallbacks;
  while (prefix.ends_with('/')) prefix.pop_back();
  const auto shorter = [&](const auto& other) { return other.first.size() < prefix.size(); };
  const auto at = std::find_if(all.begin(), all.end(), shorter);
  all.emplace(at, std::move(prefix), std::move(fallback));
}

void Router::set_failure_form(std::string prefix, FailureForm form) {
  impl_->failure_forms.emplace_back(std::move(prefix), std::move(form));
}

const Router::FailureForm* Router::failure_form(std::string_view path) const {
  while (path.starts_with("//")) path.remove_prefix(1);
  path = path.substr(0, path.find_first_of("?# "));
  for (const auto& [prefix, form] : impl_->failure_forms)
    if (is_below(path, prefix)) return &form;
  return nullptr;
}

const std::vector<Route>& Router::routes() const { return impl_->routes; }

Task<> Router::dispatch(Request& rq, Reply& rp) const {
  auto& state = rq.state();
  state.captures.clear();
  if (state.head.method == Method::other)
    throw Error(Errc::not_implemented, "unknown_method", "this method is not known here");
  if (state.head.target == "*") return impl_->answer_server_options(rp);
  static const std::string kNothing;
  const auto* node = find(impl_->root, state.segments, 0, state.captures);
  if (!node) return impl_->unmatched(rq, rp, kNothing);
  auto route = node->routes.find(state.head.method);
  if (route == node->routes.end() && state.head.method == Method::head)
    route = node->routes.find(Method::get);
  if (route == node->routes.end()) {
    state.captures.clear();
    return [](const Impl& impl, Request& q, Reply& p, std::string allowed) -> Task<> {
      co_await impl.unmatched(q, p, allowed);
    }(*impl_, rq, rp, allow_of(node->routes));
  }
  state.route = &route->second;
  return route->second.handler(rq, rp);
}

}  // namespace welkin::http
