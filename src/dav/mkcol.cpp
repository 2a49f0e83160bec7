#include "dav/mkcol.hpp"

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav {
namespace {

[[noreturn]] void refuse_taken(Change& change) {
  change.rp.set("Allow", allowed_methods(change.at));
  throw Error(Errc::method_not_allowed, "resource_must_be_null", "There is something of that name already");
}

}  // namespace

Task<> mkcol(Change& change) {
  if (change.at.node || change.is_root()) refuse_taken(change);
  const auto& parent = change.require_parent();
  if (change.rq.has_body() && !(co_await change.rq.read()).empty())
    throw Error(Errc::unsupported_media_type, "mkcol_body", "MKCOL takes no such body");
  co_await change.require_conditions();
  change.touch_target(false, false);
  std::optional<files::Node> made;
  try {
    made = co_await change.services.files.create_folder(change.rq.caller(), parent.id, change.at.name,
                                                        change.submitted.tokens);
  } catch (const Error& e) {
    if (e.code() != Errc::conflict) throw;
  }
  if (!made) refuse_taken(change);
  co_await change.rp.send(http::Status::created);
}

}  // namespace welkin::dav
