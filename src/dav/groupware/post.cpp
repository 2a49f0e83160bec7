#include "dav/groupware/post.hpp"

#include "dav/groupware/mount.hpp"
#include "dav/groupware/outbox.hpp"
#include "dav/groupware/sharing_post.hpp"
#include "welkin/core/error.hpp"

namespace welkin::dav::groupware {

Task<> post(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto target = co_await require_target(services, rq.caller(), spot_of(rq));
  if ((target.spot.kind & kCollection) != 0) {
    co_await post_to_collection(services, rq, rp, target);
    co_return;
  }
  if (target.spot.kind == kOutbox) {
    co_await post_to_outbox(services, rq, rp, target);
    co_return;
  }
  rp.set("Allow", allowed(target.spot));
  throw Error(Errc::method_not_allowed, "method_not_allowed", "This address does not take that method");
}

}  // namespace welkin::dav::groupware
