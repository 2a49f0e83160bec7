#include "dav/groupware/object_writes.hpp"

#include "dav/groupware/conditions.hpp"
#include "dav/groupware/limits.hpp"
#include "dav/groupware/object_body.hpp"
#include "dav/groupware/refusal.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/resource.hpp"
#include "welkin/http/upload_headers.hpp"
#include "welkin/wire/multistatus.hpp"

namespace welkin::dav::groupware {
namespace {

using Verdict = collections::Objects::Written::Verdict;

/// Where an object can be written. @throws Refusal, Error not_found, conflict `parent_missing`
void require_object_place(const Target& target) {
  const auto& spot = target.spot;
  if (spot.kind == kNothing && target.spot.parent().kind == kOutbox)
    forbid_privilege(target.spot.parent().href(), "d:bind");
  if (spot.kind == kNothing && spot.names.size() > 2)
    throw Error(Errc::conflict, "parent_missing", "The collection that would hold it is not there");
  if ((spot.kind & kObject) == 0) forbid_privilege(spot.href(), "d:write-content");
  if (!target.collection)
    throw Error(Errc::conflict, "parent_missing", "The collection that would hold it is not there");
  if (spot.has_slash) throw Error(Errc::not_found, "not_found", "There is nothing at this address");
  // Messages come from whoever sends them.
  if (spot.is_in_inbox()) forbid_privilege(spot.parent().href(), "d:bind");
  require_write(target, target.object ? "d:write-content" : "d:bind");
}

std::string sibling_href(const Spot& collection, std::string_view name) {
  auto href = collection.href();
  wire::append_href_segment(href, name);
  return href;
}

/// Words what the database decided. `to`: where it would have been written.
void require_done(const collections::Objects::Written& written, const Spot& to) {
  const bool calendar = to.kind == kCalendarObject;
  switch (written.verdict) {
    case Verdict::done:
      return;
    case Verdict::uid_conflict:
      forbid_uid(calendar, sibling_href(to.parent(), written.holder));
    case Verdict::component:
      forbid(calendar ? "C:supported-calendar-component" : "A:supported-address-data");
    case Verdict::exists:
      throw Error(Errc::precondition_failed, "exists", "There is something at the destination already");
  }
}

bool wants_representation(const http::Request& rq) {
  const std::string all = rq.headers().joined("prefer");
  for (const auto preference : text::split(all, ','))
    if (text::iequals(text::trim(preference), "return=representation")) return true;
  return false;
}

}  // namespace

namespace {

/// A write of an object, and what is told of it.
struct Put {
  collections::Objects::Written written;
  collections::Etag etag{};
  std::string data;             // what is stored
  bool is_verbatim = true;      // it is what was sent
  std::optional<db::Uuid> tag;  // of a scheduling object
};

Task<Put> write(const Services& services, http::Request& rq, const Target& target,
                collections::Objects::NewObject object) {
  Put out;
  out.data = object.data;
  if (target.spot.kind != kCalendarObject || !services.scheduling.is_on()) {
    out.etag = collections::etag_of(object.data);
    out.written =
        co_await services.collections.objects().put(rq.caller(), target.collection->id, std::move(object));
    co_return out;
  }
  calendars::Scheduling::Seen seen;
  seen.tag = require_schedule_tag(rq, target);
  seen.is_whole = !seen.tag && names_etag(rq);
  auto stored = co_await services.scheduling.put(rq.caller(), *target.collection, std::move(object), seen);
  out.written = std::move(stored.written);
  out.etag = stored.etag;
  out.tag = stored.tag;
  out.is_verbatim = stored.data.empty();
  if (!out.is_verbatim) out.data = std::move(stored.data);
  co_return out;
}

}  // namespace

Task<> put(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto target = co_await find_target(services, rq.caller(), spot_of(rq));
  require_object_place(target);
  http::require_plain_body(rq.headers());
  collections::Objects::NewObject object;
  object.expect = co_await require_conditions(services, rq, target);
  const bool calendar = target.spot.kind == kCalendarObject;
  object.data = co_await read_object_body(rq, calendar);
  object.facts = read_facts(object.data, target);
  object.name = target.spot.object;
  const auto done = co_await write(services, rq, target, std::move(object));
  require_done(done.written, target.spot);
  const bool show = wants_representation(rq);
  // Whoever has sent other bytes than are stored has to fetch them, and does when he is told no tag of them.
  if (done.is_verbatim || show) rp.set("ETag", etag_header(done.etag));
  if (done.tag) rp.set("Schedule-Tag", etag_header(*done.tag));
  rp.set("Last-Modified", times::http_date(done.written.modified_at));
  if (show) {
    rp.set("Preference-Applied", "return=representation");
    rp.set("Content-Location", target.spot.path());
    // As it stands: another coding would be another entity tag.
    rp.set("Cache-Control", "private, no-cache, no-transform");
    co_await rp.send(done.written.created ? http::Status::created : http::Status::ok,
                     calendar ? "text/calendar; charset=utf-8" : "text/vcard; charset=utf-8", done.data);
    co_return;
  }
  co_await rp.send(done.written.created ? http::Status::created : http::Status::no_content);
}

namespace {

Task<> remove_object(const Services& services, http::Request& rq, const Target& target) {
  require_write(target, "d:unbind");
  auto expect = co_await require_conditions(services, rq, target);
  if (target.spot.kind != kCalendarObject || target.spot.is_in_inbox() || !services.scheduling.is_on()) {
    co_await services.collections.objects().remove(rq.caller(), target.collection->id, target.spot.object,
                                                   expect);
    co_return;
  }
  const auto tag = require_schedule_tag(rq, target);
  const bool tells = !text::iequals(text::trim(rq.header("schedule-reply")), "F");
  co_await services.scheduling.remove(rq.caller(), *target.collection, target.spot.object, expect, tag,
                                      tells);
}

}  // namespace

Task<> remove(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto target = co_await require_target(services, rq.caller(), spot_of(rq));
  if (!target.collection || target.spot.kind == kInbox) forbid_privilege(target.spot.href(), "d:unbind");
  if (target.object) {
    co_await remove_object(services, rq, target);
  } else {
    auto state = co_await require_collection_state(services, rq, target);
    if (target.spot.kind == kCalendar && services.scheduling.is_on())
      co_await services.scheduling.remove_calendar(rq.caller(), target.collection->id, std::move(state));
    else
      co_await services.collections.remove(rq.caller(), target.collection->id, std::move(state));
  }
  co_await rp.send(http::Status::no_content);
}

namespace {

/// Absent is T (RFC 4918 §10.6).
bool may_overwrite(const http::Request& rq) {
  const auto value = text::trim(rq.header("overwrite"));
  if (value.empty() || text::iequals(value, "t")) return true;
  if (!text::iequals(value, "f")) throw Error(Errc::invalid, "bad_overwrite", "Overwrite is T or F");
  return false;
}

Task<> transfer(const Services& services, http::Request& rq, http::Reply& rp, bool copy) {
  const auto source = co_await require_target(services, rq.caller(), spot_of(rq));
  const auto to = spot_of_uri(rq, rq.header("destination"));
  if (!to)
    throw Error(Errc::invalid, "bad_destination", "Destination is no address of calendars or contacts");
  require_protocol(rq.caller(), *to);
  // Collections keep their place: a client would see another calendar, and lose what it knows of this one.
  if (!source.object || source.spot.is_in_inbox()) forbid_privilege(source.spot.href(), "d:unbind");
  const auto target = co_await find_target(services, rq.caller(), *to);
  require_object_place(target);
  if (!copy) require_write(source, "d:unbind");
  if (source.spot.kind != target.spot.kind)
    forbid(target.spot.kind == kCalendarObject ? "C:supported-calendar-data" : "A:supported-address-data");
  const auto same = source.collection->id == target.collection->id;
  if (same && source.spot.object == target.spot.object)
    throw Error(Errc::forbidden, "onto_itself", "Source and destination are the same");
  collections::Objects::Transfer what;
  what.expect = co_await require_conditions(services, rq, source);
  what.from = source.collection->id;
  what.to = target.collection->id;
  what.name = source.spot.object;
  what.to_name = target.spot.object;
  what.copy = copy;
  what.overwrite = may_overwrite(rq);
  const bool scheduling = source.spot.kind == kCalendarObject && services.scheduling.is_on();
  const auto written = scheduling
                           ? co_await services.scheduling.transfer(rq.caller(), std::move(what))
                           : co_await services.collections.objects().transfer(rq.caller(), std::move(what));
  require_done(written, target.spot);
  rp.set("ETag", etag_header(source.object->etag));
  if (written.created) rp.set("Location", target.spot.path());
  co_await rp.send(written.created ? http::Status::created : http::Status::no_content);
}

}  // namespace

Task<> copy(const Services& services, http::Request& rq, http::Reply& rp) {
  return transfer(services, rq, rp, true);
}

Task<> move(const Services& services, http::Request& rq, http::Reply& rp) {
  return transfer(services, rq, rp, false);
}

}  // namespace welkin::dav::groupware
