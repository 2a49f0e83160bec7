#include "dav/groupware/outbox.hpp"

#include "dav/groupware/live.hpp"
#include "dav/groupware/object_body.hpp"
#include "dav/groupware/refusal.hpp"
#include "welkin/wire/multistatus.hpp"

namespace welkin::dav::groupware {

Task<> post_to_outbox(const Services& services, http::Request& rq, http::Reply& rp, const Target& target) {
  if ((rq.caller().rights_mask & rights::kCreate) == 0)
    forbid_privilege(target.spot.href(), "C:schedule-send-freebusy");
  const auto request = co_await read_object_body(rq, true);
  const auto answers = co_await services.scheduling.free_busy(rq.caller(), request);
  std::string out =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<C:schedule-response xmlns:d=\"DAV:\" "
      "xmlns:C=\"urn:ietf:params:xml:ns:caldav\">";
  for (const auto& answer : answers) {
    out += "<C:response><C:recipient><d:href>";
    wire::append_escaped(out, answer.recipient);
    ((out += "</d:href></C:recipient><C:request-status>") += answer.status) += "</C:request-status>";
    if (!answer.calendar.empty()) {
      out += "<C:calendar-data>";
      append_body(out, answer.calendar);
      out += "</C:calendar-data>";
    }
    out += "</C:response>";
  }
  rp.set("Cache-Control", "private, no-cache");
  co_await rp.send(http::Status::ok, "application/xml; charset=utf-8", out += "</C:schedule-response>");
}

}  // namespace welkin::dav::groupware
