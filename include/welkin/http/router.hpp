#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/task.hpp"
#include "welkin/http/message.hpp"
#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

namespace welkin::http {

using Handler = std::function<Task<>(Request&, Reply&)>;
/// Wraps a handler: authentication, error answers, rate limits. Given by a protocol for all of its routes.
using Middleware = std::function<Task<>(const Handler& next, Request&, Reply&)>;

/// Who may reach a route at all; what he may do with which thing there is decided by the gate.
enum class Access : std::uint8_t {
  unset,  // left out: the router refuses the route
  open,   // nobody needs to be known
  user,   // a signed-in user
  admin,  // a signed-in administrator, by session, never by app password
  dav,    // Basic or Bearer, never cookies
};

/// Every route says what it is: the authorization matrix test is generated from this table (security check
/// AZ-01).
struct Route {
  Method method;
  std::string pattern;  // "/api/files/{id}", "/webdav/{*path}"
  std::string name;     // "files.get": metrics, log, OpenAPI operation id
  Access access = Access::unset;
  std::string resource;  // what is acted on: "file", "folder", "session", "-"
  std::string action;    // "read", "create", "update", "delete", "manage", "-"
};

/// Segment tree, built at start and then immutable. Literal segments win over `{param}`, that over `{*rest}`.
/// HEAD is served by the GET route; OPTIONS and 405 with Allow come from the table; an unknown path is 404
/// through `set_fallback`. A trailing slash does not matter.
class Router {
 public:
  Router();
  ~Router();

  /// A view of the router that wraps every handler added through it, outermost middleware first.
  class Scope {
   public:
    Scope(Router& router, std::vector<Middleware> middlewares)
        : router_(router), middlewares_(std::move(middlewares)) {}
    /// @throws std::logic_error when the route exists, or access, resource or action were left out
    void on(Route route, Handler handler);

   private:
    Router& router_;
    std::vector<Middleware> middlewares_;
  };
  Scope scope(std::vector<Middleware> middlewares) { return Scope(*this, std::move(middlewares)); }

  /// Answers what no route matches below `prefix` ("/api", "" for all): 404 and, with `allowed` set, 405 or
  /// OPTIONS.
  using Fallback = std::function<Task<>(Request&, Reply&, const std::string& allowed)>;
  void set_fallback(std::string prefix, Fallback fallback);

  /// How errors below `prefix` are told that no route could tell: a target that cannot be decoded, an unknown
  /// method. Everywhere else they are JSON.
  struct FailureForm {
    std::string content_type;
    std::function<std::string(std::string_view slug, std::string_view message)> body;
  };
  void set_failure_form(std::string prefix, FailureForm form);
  /// @param path  as it was sent, below the base path; need not be decodable
  const FailureForm* failure_form(std::string_view path) const;

  const std::vector<Route>& routes() const;

  /// Finds and runs the handler. Called by the session.
  Task<> dispatch(Request& rq, Reply& rp) const;

 private:
  void add(Route route, Handler handler);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::http
