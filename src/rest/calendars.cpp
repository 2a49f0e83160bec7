#include <algorithm>
#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/calendar_json.hpp"
#include "rest/groupware.hpp"
#include "rest/objects.hpp"
#include "rest/validators.hpp"
#include "welkin/calendars/event.hpp"
#include "welkin/calendars/expand.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::rest {
namespace {

using calendars::EventEdit;
using calendars::EventView;
using collections::Object;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr std::int64_t kRangeSecondsMax = 400LL * 86'400;
constexpr std::size_t kInstancesMax = 5'000;
constexpr std::size_t kTogether = 32;  // bodies in memory at once

struct TypeName {
  std::string_view name;
  calendars::Kind kind;
};
constexpr TypeName kTypes[] = {
    {"event", calendars::kEvent}, {"todo", calendars::kTodo}, {"journal", calendars::kJournal}};

[[noreturn]] void bad_query(const char* name, const char* wanted) {
  throw Error(Errc::invalid, "bad_query",
              std::string("The query parameter '") + name + "' must be " + wanted);
}

/// ?types=event,todo; 0: any.
std::int16_t read_types(const Request& rq) {
  const auto value = rq.query("types");
  if (!value || value->empty()) return 0;
  std::int16_t out = 0;
  for (const auto word : text::split(*value, ',')) {
    const auto* known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const auto& each) { return each.name == word; });
    if (known == std::end(kTypes)) bad_query("types", "a list of event, todo and journal");
    out = static_cast<std::int16_t>(out | known->kind);
  }
  return out;
}

/// An instant, or a day by the clock of the zone.
std::int64_t read_instant(const Request& rq, const char* name, const calendars::Zone& zone) {
  const auto value = rq.query(name);
  if (!value) bad_query(name, "there: a day or an instant");
  auto text = *value;
  // '+' of an offset comes as a blank.
  if (const auto blank = text.rfind(' '); blank != std::string::npos && blank > 10) text[blank] = '+';
  const auto property = calendars::time_property("X", text, "");
  const auto time = property ? wire::parse_ical_time(property->value) : std::nullopt;
  if (!time) bad_query(name, "a day or an instant: 2026-03-28 or 2026-03-28T09:00:00Z");
  return time->is_utc ? time->local_seconds : zone.to_utc(time->local_seconds);
}

/// Of times without a zone: the request's, else the calendar's, else UTC.
calendars::Zone zone_of(const Request& rq, const Described& described, const collections::Collection& of) {
  if (const auto asked = rq.query("timezone")) {
    const auto zone = calendars::Zone::iana(*asked);
    if (!zone) bad_query("timezone", "a time zone that is known");
    return *zone;
  }
  const auto own = described.text(of.id, "urn:ietf:params:xml:ns:caldav", "calendar-timezone-id");
  return own.empty() ? calendars::Zone() : calendars::Zone::iana(own).value_or(calendars::Zone());
}

EventEdit read_edit(wire::JsonObject& fields) {
  EventEdit out;
  out.summary = text_field(fields, "summary");
  out.description = text_field(fields, "description");
  out.location = text_field(fields, "location");
  out.url = text_field(fields, "url");
  out.status = text_field(fields, "status");
  out.classification = text_field(fields, "classification");
  out.rrule = text_field(fields, "rrule");
  out.start = text_field(fields, "start");
  out.end = text_field(fields, "end");
  out.due = text_field(fields, "due");
  out.completed = text_field(fields, "completed");
  out.timezone = text_field(fields, "timezone");
  out.is_transparent = fields.opt_boolean("transparent");
  out.priority = number_field(fields, "priority");
  out.percent = number_field(fields, "percent_complete");
  if (fields.has("categories")) out.categories = fields.strings("categories");
  if (const auto* alarms = fields.raw("alarms"); alarms != nullptr && !alarms->is_null()) {
    if (!alarms->is_array())
      throw Error(Errc::unprocessable, "bad_field", "The field 'alarms' must be an array of numbers");
    auto& list = out.alarms.emplace();
    for (const auto& each : *alarms) {
      if (!each.is_number_integer())
        throw Error(Errc::unprocessable, "bad_field", "The field 'alarms' must be an array of numbers");
      list.push_back(each.get<std::int64_t>());
    }
  }
  return out;
}

std::int64_t now_seconds(const Services& services) { return times::seconds(services.clock.now()); }

Task<> send_event(const Services& services, Reply& rp, const collections::Collection& in,
                  const Object& object, Status status) {
  std::string text;
  wire::JsonWriter json(text);
  write_event(services.ids, json, in, object);
  rp.set("ETag", quoted(object.etag));
  co_await send_json_text(rp, status, std::move(text));
}

/// Everything that overlaps the range, in pages of bodies. @throws Error unprocessable `too_many_instances`
Task<std::vector<std::string>> instances_in(const Services& services, const collections::Collection& of,
                                            std::int16_t types, calendars::TimeRange range,
                                            const calendars::Zone& zone) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  auto objects = services.collections.objects();
  const auto keys = co_await objects.within(of.sight(), types, range.start, range.end);
  for (std::size_t at = 0; at < keys.size(); at += kTogether) {
    const auto from = keys.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = keys.begin() + static_cast<std::ptrdiff_t>(std::min(at + kTogether, keys.size()));
    for (const auto& object : co_await objects.by_keys(of.sight(), {from, to}))
      append_instances(services.ids, found, of, object, range, zone, kInstancesMax);
    if (found.size() > kInstancesMax)
      throw Error(Errc::unprocessable, "too_many_instances",
                  "There is too much in this range to be told at once: ask for a shorter one");
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  out.reserve(found.size());
  for (auto& [start, json] : found) out.push_back(std::move(json));
  co_return out;
}

/// GET /api/calendars/{id}/events?from&to&types&timezone -> {items: [Instance]}, sorted by their start
Task<> events(const Services& services, Request& rq, Reply& rp) {
  const auto of = co_await require_collection(services, rq, kCalendars);
  const auto described = co_await describe(services, rq.caller(), {of});
  const auto zone = zone_of(rq, described, of);
  const auto types = read_types(rq);
  const calendars::TimeRange range{read_instant(rq, "from", zone), read_instant(rq, "to", zone)};
  if (range.end <= range.start) bad_query("to", "behind 'from'");
  if (range.end - range.start > kRangeSecondsMax) bad_query("to", "at most 400 days behind 'from'");
  if (not_modified(rq, rp,
                   listing_etag({"events", of.uid, of.state(), std::to_string(range.start),
                                 std::to_string(range.end), std::to_string(types), zone.name()}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  const auto items = co_await instances_in(services, of, types, range, zone);
  std::string text = "{\"items\":[";
  for (std::size_t i = 0; i < items.size(); ++i) (text += i == 0 ? "" : ",") += items[i];
  text += "]}";
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// GET /api/calendars/{id}/objects?limit&cursor&types -> {items: [Event], next_cursor?}, each object once
Task<> objects(const Services& services, Request& rq, Reply& rp) {
  const auto of = co_await require_collection(services, rq, kCalendars);
  const int limit = page_limit(rq);
  const auto types = read_types(rq);
  const auto cursor = rq.query("cursor").value_or("");
  const auto after = text::from_base64url(cursor);
  const auto page = co_await services.collections.browse().objects(
      of.sight(), types, after ? std::string(as_text(*after)) : std::string(), limit);
  if (not_modified(rq, rp,
                   listing_etag({"objects", of.uid, of.state(), cursor, std::to_string(limit),
                                 std::to_string(types), page.next}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  json.key("items");
  json.begin_array();
  for (std::size_t at = 0; at < page.items.size(); at += kTogether) {
    std::vector<std::int64_t> keys;
    for (std::size_t i = at; i < std::min(at + kTogether, page.items.size()); ++i)
      keys.push_back(page.items[i].id);
    const auto bodies = co_await services.collections.objects().by_keys(of.sight(), keys);
    for (const auto key : keys)
      for (const auto& object : bodies)
        if (object.id == key) write_event(services.ids, json, of, object);
  }
  json.end_array();
  if (!page.next.empty()) json.field("next_cursor", text::base64url(as_bytes(page.next)));
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

Task<> get(const Services& services, Request& rq, Reply& rp) {
  const auto of = co_await require_collection(services, rq, kCalendars);
  const auto object = co_await require_object(services, of, rq.param("object"), kCalendars.object_id);
  if (not_modified(rq, rp, quoted(object.etag))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  co_await send_event(services, rp, of, object, Status::ok);
}

/// POST /api/calendars/{id}/events {type?, uid?, summary, start, ...} -> 201 | 400 | 403 | 404 | 409
/// uid_conflict | 507
Task<> create(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  const auto in = co_await require_writable(services, rq, kCalendars);
  wire::JsonObject fields(body);
  const auto type = fields.opt_string("type").value_or("event");
  const auto* kind =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& each) { return each.name == type; });
  if (kind == std::end(kTypes))
    throw Error(Errc::invalid, "bad_field", "The field 'type' must be event, todo or journal");
  const auto given = fields.opt_string("uid");
  if (given && (given->empty() || given->size() > 1024))
    throw Error(Errc::invalid, "bad_field", "The field 'uid' has no usable length");
  const auto edit = read_edit(fields);
  fields.done();
  const auto uid = given.value_or(random_uid());
  auto name = (given ? collections::etag_text(collections::etag_of(uid)) : uid) + kCalendars.suffix;
  auto data = calendars::make_event(kind->kind, uid, edit, now_seconds(services));
  const auto made = co_await create_object(services, rq, kCalendars, in, std::move(name), std::move(data));
  rp.set("Location", std::string(rq.base_path()) + "/api/calendars/" + rq.param("id") + "/events/" +
                         services.ids.encode(kCalendars.object_id, made.id));
  co_await send_event(services, rp, in, made, Status::created);
}

/// PUT /api/calendars/{id}/events/{object}, all optional; recurrence_id: of one instance -> 200 | 400 | 404 |
/// 412
Task<> update(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  const auto in = co_await require_writable(services, rq, kCalendars);
  wire::JsonObject fields(body);
  const auto instance = fields.opt_string("recurrence_id");
  const auto edit = read_edit(fields);
  fields.done();
  const auto now = now_seconds(services);
  const auto changed =
      co_await change_object(services, rq, kCalendars, in, rq.param("object"), kCalendars.object_id,
                             [&](const Object& object) -> std::optional<std::string> {
                               return instance ? calendars::edit_instance(object.data, *instance, edit, now)
                                               : calendars::edit_event(object.data, edit, now);
                             });
  co_await send_event(services, rp, in, changed, Status::ok);
}

/// DELETE /api/calendars/{id}/events/{object} -> 204, into the trash; ?recurrence_id: one instance, 200 with
/// the rest
Task<> remove(const Services& services, Request& rq, Reply& rp) {
  const auto instance = rq.query("recurrence_id");
  if (!instance) {
    co_await remove_object(services, rq, rp, kCalendars, kCalendars.object_id, "object");
    co_return;
  }
  const auto in = co_await require_writable(services, rq, kCalendars);
  const auto now = now_seconds(services);
  const auto changed = co_await change_object(
      services, rq, kCalendars, in, rq.param("object"), kCalendars.object_id, [&](const Object& object) {
        return std::optional(calendars::remove_instance(object.data, *instance, now));
      });
  co_await send_event(services, rp, in, changed, Status::ok);
}

}  // namespace

void mount_calendars(Scopes& s, const Services& services) {
  mount_common(s, services, kCalendars, "calendars");
  const auto on = family_routes(s, services, "/api/calendars", "calendars", "calendar_object");
  on(Method::get, "/{id}/events", "events", "read", events);
  on(Method::get, "/{id}/objects", "objects", "read", objects);
  on(Method::post, "/{id}/events", "create_event", "create", create);
  on(Method::get, "/{id}/events/{object}", "get_event", "read", get);
  on(Method::put, "/{id}/events/{object}", "update_event", "update", update);
  on(Method::del, "/{id}/events/{object}", "remove_event", "delete", remove);
  on(Method::get, "/{id}/events/{object}/ics", "event_ics", "read",
     [](const Services& services, Request& rq, Reply& rp) {
       return raw_object(services, rq, rp, kCalendars);
     });
}

}  // namespace welkin::rest
