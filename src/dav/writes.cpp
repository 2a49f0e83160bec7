#include "dav/writes.hpp"

#include "dav/change.hpp"
#include "dav/lock.hpp"
#include "dav/mkcol.hpp"
#include "dav/proppatch.hpp"
#include "dav/put.hpp"
#include "dav/remove.hpp"
#include "dav/transfer.hpp"

namespace welkin::dav {
namespace {

struct WriteRoute {
  http::Method method;
  const char* name;
  const char* action;
  Verb verb;
};

constexpr WriteRoute kRoutes[] = {
    {http::Method::put, "put", "create", put},
    {http::Method::patch, "patch", "update", patch},
    {http::Method::del, "delete", "delete", remove},
    {http::Method::mkcol, "mkcol", "create", mkcol},
    {http::Method::copy, "copy", "read", copy},
    {http::Method::move, "move", "delete", move},
    {http::Method::proppatch, "proppatch", "update", proppatch},
    {http::Method::lock, "lock", "update", lock},
    {http::Method::unlock, "unlock", "update", unlock},
};

}  // namespace

void mount_writes(http::Router::Scope& scope, const TreeServices& services) {
  for (const auto& route : kRoutes) {
    const auto handler = [services, verb = route.verb](http::Request& rq, http::Reply& rp) {
      return run_change(services, verb, rq, rp);
    };
    const auto name = services.tree.routes + '.' + route.name;
    const auto pattern = services.tree.pattern();
    scope.on({route.method, pattern, name + "_root", http::Access::dav, "node", route.action}, handler);
    scope.on({route.method, pattern + "/{*path}", name, http::Access::dav, "node", route.action}, handler);
  }
}

}  // namespace welkin::dav
