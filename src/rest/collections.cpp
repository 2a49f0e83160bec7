#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/groupware.hpp"
#include "rest/validators.hpp"
#include "welkin/calendars/timezone.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/wire/xml.hpp"

/// Calendars and address books themselves.
namespace welkin::rest {
namespace {

using collections::Access;
using collections::Collection;
using collections::PropertyChange;
using http::Reply;
using http::Request;
using http::Status;

constexpr std::string_view kCaldav = "urn:ietf:params:xml:ns:caldav", kApple = "http://apple.com/ns/ical/";
constexpr std::size_t kNameBytesMax = 255, kTextBytesMax = 10'000;

struct ComponentName {
  const char* name;
  std::int16_t bit;
};
constexpr ComponentName kComponents[] = {{"event", collections::component::kEvent},
                                         {"todo", collections::component::kTodo},
                                         {"journal", collections::component::kJournal}};

[[noreturn]] void bad(const char* field, const char* why) {
  throw Error(Errc::invalid, "bad_field", std::string("The field '") + field + "' " + why);
}

PropertyChange change(std::string_view ns, const char* name, const std::optional<std::string>& value) {
  PropertyChange out{std::string(ns), name, std::nullopt};
  if (!value || value->empty()) return out;
  wire::XmlElement element;
  element.ns = ns;
  element.name = name;
  element.text = *value;
  wire::append_xml(out.value.emplace(), element);
  return out;
}

void require_text(const char* field, const std::string& value, std::size_t bytes_max, bool lines) {
  if (value.size() > bytes_max) bad(field, "is too long");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && !(lines && (c == '\n' || c == '\r' || c == '\t'))) || byte == 0x7f)
      bad(field, "must not hold control characters");
  }
}

void require_color(const std::string& value) {
  const bool has_form = (value.size() == 7 || value.size() == 9) && value[0] == '#' &&
                        std::all_of(value.begin() + 1, value.end(), [](char c) {
                          return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
                        });
  if (!has_form) bad("color", "must be #RRGGBB or #RRGGBBAA");
}

std::int16_t read_components(wire::JsonObject& fields) {
  if (!fields.has("components")) return collections::component::kAll;
  std::int16_t out = 0;
  for (const auto& name : fields.strings("components")) {
    const auto* known = std::find_if(std::begin(kComponents), std::end(kComponents),
                                     [&](const auto& each) { return each.name == name; });
    if (known == std::end(kComponents)) bad("components", "must be a list of event, todo and journal");
    out = static_cast<std::int16_t>(out | known->bit);
  }
  if (out == 0) bad("components", "must not be empty");
  return out;
}

/// What POST and PUT have in common: what is said of a collection, as properties.
std::vector<PropertyChange> read_properties(wire::JsonObject& fields, const Groupware& what, bool is_new) {
  std::vector<PropertyChange> out;
  const bool calendar = what.kind == collections::Kind::calendar;
  if (auto name = is_new ? std::optional(std::optional(fields.string("name"))) : text_field(fields, "name")) {
    if (!*name || text::trim(**name).empty()) bad("name", "must not be empty");
    require_text("name", **name, kNameBytesMax, false);
    out.push_back(change("DAV:", "displayname", *name));
  }
  if (const auto about = text_field(fields, "description")) {
    if (*about) require_text("description", **about, kTextBytesMax, true);
    out.push_back(calendar ? change(kCaldav, "calendar-description", *about)
                           : change("urn:ietf:params:xml:ns:carddav", "addressbook-description", *about));
  }
  if (const auto color = text_field(fields, "color")) {
    if (*color && !(*color)->empty()) require_color(**color);
    out.push_back(change(kApple, "calendar-color", *color));
  }
  if (calendar) {
    if (const auto order = number_field(fields, "order"))
      out.push_back(
          change(kApple, "calendar-order", *order ? std::optional(std::to_string(**order)) : std::nullopt));
    if (const auto zone = text_field(fields, "timezone")) {
      const bool is_gone = !*zone || (*zone)->empty();
      if (!is_gone && !calendars::Zone::iana(**zone)) bad("timezone", "is no time zone that is known");
      out.push_back(change(kCaldav, "calendar-timezone-id",
                           is_gone ? std::nullopt : std::optional(calendars::Zone::iana(**zone)->name())));
      // Its rules in full are another way to say the same, and must not say anything else.
      out.push_back(change(kCaldav, "calendar-timezone", std::nullopt));
    }
  } else if (const auto is_public = fields.opt_boolean("is_public"); is_public && *is_public) {
    bad("is_public", "cannot be set: address books are shared with people, not with everybody");
  }
  return out;
}

std::string etag_of(const Collection& one) { return '"' + one.uid + '-' + one.state() + '"'; }

Task<> send_collection(const Services& services, Request& rq, Reply& rp, const Groupware& what,
                       const Collection& one, Status status) {
  const auto described = co_await describe(services, rq.caller(), {one});
  std::string text;
  wire::JsonWriter json(text);
  write_collection(services, json, what, one, described);
  rp.set("ETag", etag_of(one));
  co_await send_json_text(rp, status, std::move(text));
}

}  // namespace

void write_collection(const Services& services, wire::JsonWriter& json, const Groupware& what,
                      const Collection& one, const Described& described) {
  const bool calendar = what.kind == collections::Kind::calendar;
  json.begin_object();
  json.field("id", services.ids.encode(what.collection_id, one.id.value));
  json.field("name", described.name(one));
  json.field("owner_id", services.ids.encode(IdKind::user, one.owner.value));
  json.field("owner_name", one.owner_name);
  nullable(json, "description",
           calendar ? described.text(one.id, kCaldav, "calendar-description")
                    : described.text(one.id, "urn:ietf:params:xml:ns:carddav", "addressbook-description"));
  nullable(json, "color", described.text(one.id, kApple, "calendar-color"));
  if (calendar) {
    const auto order = text::signed_number(described.text(one.id, kApple, "calendar-order"));
    if (order)
      json.field("order", *order);
    else
      json.null_field("order");
    nullable(json, "timezone", described.text(one.id, kCaldav, "calendar-timezone-id"));
    json.key("components");
    json.begin_array();
    for (const auto& each : kComponents)
      if ((one.components & each.bit) != 0) json.string(each.name);
    json.end_array();
  } else {
    json.field("is_public", false);
    json.field("is_system", false);
  }
  json.field("access", one.access == Access::own ? "owner" : one.access == Access::write ? "write" : "read");
  json.field("is_readonly", one.access < Access::write);
  json.field("is_shared", one.is_shared);
  json.field("object_count", one.objects);
  json.field("size", one.bytes);
  json.field("etag", one.uid + '-' + one.state());
  json.field("created_at", times::rfc3339(one.created_at));
  json.field("updated_at", times::rfc3339(one.changed_at));
  json.end_object();
}

/// GET -> [Calendar], one's own first, the oldest first
Task<> list_collections(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  if (what.kind == collections::Kind::calendar) co_await services.birthdays.catch_up(rq.caller());
  const auto all = co_await services.collections.home(rq.caller(), what.kind);
  const auto described = co_await describe(services, rq.caller(), all);
  std::string text;
  wire::JsonWriter json(text);
  json.begin_array();
  for (const auto& one : all) write_collection(services, json, what, one, described);
  json.end_array();
  if (not_modified(rq, rp, listing_etag({what.collection_type, text}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  co_await send_json_text(rp, Status::ok, std::move(text));
}

Task<> get_collection(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto one = co_await require_collection(services, rq, what);
  const auto described = co_await describe(services, rq.caller(), {one});
  std::string text;
  wire::JsonWriter json(text);
  write_collection(services, json, what, one, described);
  if (not_modified(rq, rp, etag_of(one))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// POST {name, description?, color?, components?, order?, timezone?} -> 201 | 400 bad_field | 507
Task<> create_collection(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  collections::NewCollection wanted;
  wanted.kind = what.kind;
  wanted.path = random_uid();
  wanted.components = what.kind == collections::Kind::calendar ? read_components(fields) : std::int16_t{0};
  wanted.properties = read_properties(fields, what, true);
  std::erase_if(wanted.properties, [](const auto& each) { return !each.value; });
  fields.done();
  const auto id = co_await services.collections.create(rq.caller(), std::move(wanted));
  const auto made = co_await services.collections.require(rq.caller(), id);
  rp.set("Location",
         std::string(rq.base_path()) + what.path + '/' + services.ids.encode(what.collection_id, id.value));
  co_await send_collection(services, rq, rp, what, made, Status::created);
}

/// PUT, all optional -> 200 | 400 | 404 | 412. Whoever it is shared with changes what only he sees.
Task<> update_collection(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto body = co_await json_body(rq);
  const auto one = co_await require_collection(services, rq, what);
  wire::JsonObject fields(body);
  auto changes = read_properties(fields, what, false);
  fields.done();
  if (http::evaluate(rq.method(), rq.headers(), etag_of(one), std::nullopt) == http::Precondition::failed)
    throw Error(Errc::precondition_failed, "precondition_failed", "It is not in the state you expect");
  if (!changes.empty()) co_await services.collections.patch(rq.caller(), one.id, std::move(changes));
  const auto now = co_await services.collections.require(rq.caller(), one.id);
  co_await send_collection(services, rq, rp, what, now, Status::ok);
}

/// DELETE -> 204, into the trash with all that is in it; one that was shared with the caller is left
Task<> remove_collection(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto one = co_await require_collection(services, rq, what);
  if (http::evaluate(rq.method(), rq.headers(), etag_of(one), std::nullopt) == http::Precondition::failed)
    throw Error(Errc::precondition_failed, "precondition_failed", "It is not in the state you expect");
  const bool has_condition = rq.headers().has("if-match");
  const auto state = has_condition ? one.state() : std::string();
  if (what.kind == collections::Kind::calendar && services.scheduling.is_on())
    co_await services.scheduling.remove_calendar(rq.caller(), one.id, state);
  else
    co_await services.collections.remove(rq.caller(), one.id, state);
  co_await rp.send(Status::no_content);
}

}  // namespace welkin::rest
