#include "dav/proppatch.hpp"

#include "dav/property_update.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/favorites.hpp"

namespace welkin::dav {
namespace {

/// Where there is no room for them, that is said of the properties.
Task<> apply(const TreeServices& services, const Caller& caller, NodeId node, PropertyUpdate& update) {
  if (update.favorite) {
    // Apart from the node: who may only read it marks it, too.
    if (*update.favorite) {
      co_await services.files.favorites().set(caller, {node});
    } else {
      co_await services.files.favorites().unset(caller, node);
    }
    if (!update.changes_anything()) co_return;
  }
  try {
    co_await services.files.properties().patch(caller, node, update.patch);
  } catch (const Error& e) {
    if (e.code() != Errc::quota_exceeded) throw;
    update.fail_last(507, no_room(e));
  }
}

Task<> answer(Change& change, const PropertyUpdate& update, bool is_folder) {
  const auto preferences = preferences_of(change.rq);
  auto& rp = change.rp;
  rp.add("Vary", "Prefer, Brief");
  if (preferences.minimal) rp.set("Preference-Applied", "return=minimal");
  if (preferences.minimal && !update.fails) {
    co_await rp.send(http::Status::ok);
    co_return;
  }
  std::string text;
  wire::Multistatus out(text);
  out.begin(kNamespaces);
  out.begin_response(change.place.href(is_folder));
  update.write(out);
  out.end_response();
  out.end();
  rp.set("Cache-Control", "private, no-cache");
  if (is_folder && !change.place.has_slash) rp.set("Content-Location", change.place.path(true));
  co_await rp.send(http::Status::multi_status, "application/xml; charset=utf-8", std::move(text));
}

}  // namespace

Task<> proppatch(Change& change) {
  const auto body = co_await read_xml(change.rq);
  const auto& node = change.require_node();
  if (!body || !body->is("DAV:", "propertyupdate")) {
    throw Error(Errc::invalid, "bad_propertyupdate", "The body is no DAV:propertyupdate");
  }
  auto update = read_property_update(*body, node.is_folder());
  update.patch.expect = co_await change.require_conditions();
  update.patch.lock_tokens = change.submitted.tokens;
  change.touch_target(false, false);
  // What is refused by its name is told before locks are looked at: nothing is changed either way.
  if (!update.fails) co_await apply(change.services, change.rq.caller(), node.id, update);
  co_await answer(change, update, node.is_folder());
}

}  // namespace welkin::dav
