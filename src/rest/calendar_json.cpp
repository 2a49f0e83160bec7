#include "rest/calendar_json.hpp"

#include "rest/groupware.hpp"
#include "welkin/calendars/event.hpp"
#include "welkin/calendars/expand.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::rest {
namespace {

using calendars::EventView;

std::string_view type_of(std::int16_t component) {
  return component == calendars::kTodo ? "todo" : component == calendars::kJournal ? "journal" : "event";
}

void strings(wire::JsonWriter& json, const char* name, const std::vector<std::string>& all) {
  json.key(name);
  json.begin_array();
  for (const auto& each : all) json.string(each);
  json.end_array();
}

void optional_number(wire::JsonWriter& json, const char* name, const std::optional<std::int64_t>& value) {
  if (value)
    json.field(name, *value);
  else
    json.null_field(name);
}

void write_people(wire::JsonWriter& json, const EventView& view) {
  nullable(json, "organizer", view.organizer);
  json.key("attendees");
  json.begin_array();
  for (const auto& attendee : view.attendees) {
    json.begin_object();
    json.field("address", attendee.address);
    json.field("status", text::lower(attendee.partstat));
    json.end_object();
  }
  json.end_array();
}

void write_series(wire::JsonWriter& json, const EventView& view) {
  nullable(json, "rrule", view.rrule);
  strings(json, "exdates", view.exdates);
  json.key("overrides");
  json.begin_array();
  for (const auto& each : view.overrides) {
    json.begin_object();
    json.field("recurrence_id", each.recurrence_id);
    nullable(json, "summary", each.summary);
    nullable(json, "start", each.start);
    nullable(json, "end", each.end);
    json.field("cancelled", each.is_cancelled);
    json.end_object();
  }
  json.end_array();
}

void write_view(wire::JsonWriter& json, const EventView& view) {
  nullable(json, "summary", view.summary);
  nullable(json, "description", view.description);
  nullable(json, "location", view.location);
  nullable(json, "url", view.url);
  nullable(json, "start", view.start);
  nullable(json, "end", view.end);
  nullable(json, "due", view.due);
  nullable(json, "completed", view.completed);
  nullable(json, "timezone", view.timezone);
  json.field("all_day", view.is_all_day);
  nullable(json, "status", view.status);
  nullable(json, "classification", view.classification);
  json.field("transparent", view.is_transparent);
  strings(json, "categories", view.categories);
  optional_number(json, "priority", view.priority);
  optional_number(json, "percent_complete", view.percent);
  json.key("alarms");
  json.begin_array();
  for (const auto minutes : view.alarms) json.number(minutes);
  json.end_array();
  write_people(json, view);
  write_series(json, view);
}

/// "20260302T083000Z" as "2026-03-02T08:30:00Z".
std::string shown(const std::string& on_the_wire) {
  auto out = on_the_wire;
  if (out.size() < 8) return out;
  out.insert(6, 1, '-');
  out.insert(4, 1, '-');
  if (out.size() > 15) {
    out.insert(15, 1, ':');
    out.insert(13, 1, ':');
  }
  return out;
}

}  // namespace

void write_event(const PublicIds& ids, wire::JsonWriter& json, const collections::Collection& in,
                 const collections::Object& object) {
  json.begin_object();
  json.field("id", ids.encode(IdKind::calendar_object, object.id));
  json.field("calendar_id", ids.encode(IdKind::calendar, in.id.value));
  json.field("type", type_of(object.component));
  EventView view;
  bool can_be_read = true;
  try {
    view = calendars::view_of(wire::parse_ical(object.data));
  } catch (const Error&) {
    can_be_read = false;
  }
  json.field("uid", view.uid);
  json.field("readable", can_be_read);
  write_view(json, view);
  json.field("size", object.size_bytes);
  json.field("etag", collections::etag_text(object.etag));
  json.field("created_at", times::rfc3339(object.created_at));
  json.field("updated_at", times::rfc3339(object.modified_at));
  json.end_object();
}

void append_instances(const PublicIds& ids, std::vector<std::pair<std::int64_t, std::string>>& out,
                      const collections::Collection& in, const collections::Object& object,
                      const calendars::TimeRange& range, const calendars::Zone& zone,
                      std::size_t instances_max) {
  wire::IcalComponent calendar;
  try {
    calendar = wire::parse_ical(object.data);
  } catch (const Error&) {
    return;  // what cannot be read is in no range
  }
  std::vector<calendars::Instance> instances;
  try {
    instances = calendars::instances_of(calendar, range, zone, instances_max);
  } catch (const Error&) {
    throw Error(Errc::unprocessable, "too_many_instances",
                "There is too much in this range to be told at once: ask for a shorter one");
  }
  const auto id = ids.encode(IdKind::calendar_object, object.id);
  const auto calendar_id = ids.encode(IdKind::calendar, in.id.value);
  for (const auto& each : instances) {
    auto& text = out.emplace_back(each.start, std::string()).second;
    wire::JsonWriter json(text);
    json.begin_object();
    json.field("id", id);
    json.field("calendar_id", calendar_id);
    json.field("type", type_of(object.component));
    json.field("uid", each.component->text("UID"));
    nullable(json, "summary", each.component->text("SUMMARY"));
    nullable(json, "location", each.component->text("LOCATION"));
    json.field("start", shown(each.start_text));
    json.field("end", shown(each.end_text));
    json.field("all_day", each.start_text.size() == 8);
    json.field("floating", each.start_text.size() == 15);
    nullable(json, "recurrence_id", each.recurrence_id);
    nullable(json, "status", text::lower(text::trim(each.component->value("STATUS"))));
    json.field("transparent", text::iequals(text::trim(each.component->value("TRANSP")), "TRANSPARENT"));
    json.field("etag", collections::etag_text(object.etag));
    json.end_object();
  }
}

}  // namespace welkin::rest
