#include "dav/groupware/live.hpp"

namespace welkin::dav::groupware {
namespace {

std::string below_home(const Item& item, const View& view, std::string_view name) {
  auto out = home_href(view.mount, collections::Kind::calendar, item.user);
  return (out += name) += '/';
}

bool inbox_url(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!view.scheduling || (view.caller.protocol_mask & protocols::kCaldav) == 0) return false;
  ((out += "<C:schedule-inbox-URL><d:href>") += below_home(item, view, "inbox")) +=
      "</d:href></C:schedule-inbox-URL>";
  return true;
}

bool outbox_url(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!view.scheduling || (view.caller.protocol_mask & protocols::kCaldav) == 0) return false;
  ((out += "<C:schedule-outbox-URL><d:href>") += below_home(item, view, "outbox")) +=
      "</d:href></C:schedule-outbox-URL>";
  return true;
}

bool default_calendar(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (view.default_calendar.empty()) return put(out, "<C:schedule-default-calendar-URL/>");
  auto href = home_href(view.mount, collections::Kind::calendar, item.user);
  wire::append_href_segment(href, view.default_calendar);
  ((out += "<C:schedule-default-calendar-URL><d:href>") += href) +=
      "/</d:href></C:schedule-default-calendar-URL>";
  return true;
}

bool schedule_tag(const Item& item, const View&, const Arguments*, std::string& out) {
  if (!item.object->schedule_tag) return false;
  ((out += "<C:schedule-tag>\"") += collections::etag_text(*item.object->schedule_tag)) +=
      "\"</C:schedule-tag>";
  return true;
}

/// Of the drafts; C:schedule-calendar-transp of each calendar says it now, and a list that is kept and not
/// obeyed would be a lie.
bool free_busy_set(const Item&, const View&, const Arguments*, std::string&) { return false; }

constexpr LiveProperty kScheduling[] = {
    {kCaldav, "schedule-inbox-URL", kPrincipal, false, 0, true, inbox_url},
    {kCaldav, "schedule-outbox-URL", kPrincipal, false, 0, true, outbox_url},
    {kCaldav, "schedule-default-calendar-URL", kInbox, false, needs::kDefaultCalendar, false,
     default_calendar},
    {kCaldav, "calendar-free-busy-set", kInbox, false, 0, true, free_busy_set},
    {kCaldav, "schedule-tag", kCalendarObject, false, needs::kTimes, true, schedule_tag},
};

}  // namespace

std::span<const LiveProperty> scheduling_properties() { return kScheduling; }

}  // namespace welkin::dav::groupware
