#include "dav/groupware/get.hpp"

#include "dav/groupware/card_data.hpp"
#include "dav/groupware/conditions.hpp"
#include "dav/groupware/export.hpp"
#include "dav/groupware/refusal.hpp"
#include "dav/groupware/target.hpp"
#include "welkin/core/error.hpp"
#include "welkin/http/body.hpp"

namespace welkin::dav::groupware {
namespace {

Task<> send_object(http::Request& rq, http::Reply& rp, Target& target) {
  auto& object = *target.object;
  if (target.spot.kind == kCardObject) {
    // The entity tag names the state, whatever version it is told in.
    auto chosen = negotiate_card(object.data, rq.headers().joined("accept"));
    if (!chosen.is_acceptable)
      throw Refusal(http::Status::not_acceptable, "<A:supported-address-data-conversion/>");
    object.data = std::move(chosen.data);
    rp.add("Vary", "Accept");
  }
  if (object.schedule_tag) rp.set("Schedule-Tag", etag_header(*object.schedule_tag));
  http::UserBody body;
  body.name = object.name;
  body.mime_type = target.spot.kind == kCalendarObject ? "text/calendar" : "text/vcard";
  body.etag = etag_header(object.etag);
  body.last_modified = object.modified_at;
  body.size_bytes = object.data.size();
  body.feed = [&object](Slice slice, ByteSink& out) {
    return out.write(as_bytes(std::string_view(object.data).substr(slice.offset, slice.length)));
  };
  co_await http::serve_body(rq, rp, body);
}

}  // namespace

Task<> get(const Services& services, http::Request& rq, http::Reply& rp) {
  auto target = co_await require_target(services, rq.caller(), spot_of(rq));
  if (target.object) {
    co_await send_object(rq, rp, target);
  } else if (target.collection) {
    co_await export_collection(services, rq, rp, target);
  } else {
    rp.set("Cache-Control", "private, no-cache");
    co_await rp.send(http::Status::ok, "text/plain; charset=utf-8",
                     "Calendars and contacts are here for apps that speak CalDAV and CardDAV.\n");
  }
}

}  // namespace welkin::dav::groupware
