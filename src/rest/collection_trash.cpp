#include "welkin/collections/trash.hpp"

#include <algorithm>

#include "rest/body.hpp"
#include "rest/groupware.hpp"
#include "rest/objects.hpp"
#include "rest/validators.hpp"
#include "welkin/collections/upkeep.hpp"
#include "welkin/core/turnstile.hpp"

/// What was deleted from calendars and address books.
namespace welkin::rest {
namespace {

using collections::Trashed;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr Micros kDayMicros = 86'400'000'000;

/// Rounded up, as in the trash of files.
std::int64_t days_left(const Services& services, const Trashed& item) {
  const Micros left = item.trashed_at + collections::kTrashDays * kDayMicros - services.clock.now();
  return left <= 0 ? 0 : (left + kDayMicros - 1) / kDayMicros;
}

void write_item(const Services& services, wire::JsonWriter& json, const Groupware& what, const Trashed& item,
                const Described& described) {
  json.begin_object();
  json.field("resource_type", item.is_collection ? what.collection_type : what.object_type);
  json.field("trashed_at", times::rfc3339(item.trashed_at));
  json.field("days_until_deletion", days_left(services, item));
  if (item.trashed_by) json.field("trashed_by", services.ids.encode(IdKind::user, item.trashed_by.value));
  json.key("resource");
  json.begin_object();
  const auto kind = item.is_collection ? what.collection_id : IdKind::trashed_object;
  json.field("id", services.ids.encode(kind, item.id));
  const auto collection_name = described.text(item.collection, "DAV:", "displayname");
  if (item.is_collection) {
    json.field("name", collection_name.empty() ? item.name : collection_name);
    json.field("object_count", item.objects);
  } else {
    json.field("name", item.title);
    json.field("collection_id", services.ids.encode(what.collection_id, item.collection.value));
  }
  json.field("size", item.bytes);
  json.end_object();
  json.end_object();
}

/// Either kind of id that the listing tells.
struct TrashId {
  bool is_collection = false;
  std::int64_t key = 0;
};
TrashId trash_id(const Services& services, const Groupware& what, std::string_view text) {
  if (const auto collection = services.ids.decode(what.collection_id, text)) return {true, *collection};
  const auto entry = services.ids.decode(IdKind::trashed_object, text);
  if (!entry) throw Error(Errc::not_found, "not_found", "not found");
  return {false, *entry};
}

/// {"success":true,"message":...}; `more` is members that are JSON already.
Task<> done(Reply& rp, const char* message, const std::string& more = {}) {
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  json.field("success", true);
  json.field("message", message);
  if (!more.empty()) json.raw(more);
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

}  // namespace

/// GET .../trash/resources?limit&cursor -> {items, next_cursor?}; collections before objects
Task<> list_trash(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const int limit = page_limit(rq);
  const auto cursor = rq.query("cursor").value_or("");
  const auto page = co_await services.collections.trash().list(rq.caller(), what.kind, cursor, limit);
  std::vector<collections::CollectionId> of;
  for (const auto& item : page.items)
    if (std::find(of.begin(), of.end(), item.collection) == of.end()) of.push_back(item.collection);
  const Described described(
      co_await services.collections.properties(rq.caller(), std::move(of), {{"DAV:", "displayname"}}));
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  json.key("items");
  json.begin_array();
  for (const auto& item : page.items) write_item(services, json, what, item, described);
  json.end_array();
  if (!page.next.empty()) json.field("next_cursor", page.next);
  json.end_object();
  if (not_modified(rq, rp, listing_etag({what.collection_type, "trash", text}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// POST .../trash/{item}/restore -> 200 | 404 | 409 collection_gone, uid_conflict, supported_component
Task<> restore_trashed(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto id = trash_id(services, what, rq.param("item"));
  auto trash = services.collections.trash();
  if (id.is_collection) {
    const collections::CollectionId collection{id.key};
    co_await trash.restore_collection(rq.caller(), collection);
    co_await done(rp, "It was restored with all that was in it",
                  std::string("\"resource_type\":\"") + what.collection_type + "\",\"id\":\"" +
                      services.ids.encode(what.collection_id, id.key) + '"');
    co_return;
  }
  auto body = co_await trash.object(rq.caller(), what.kind, id.key);
  // What it is taken for is decided when it is put back, under the lock.
  collections::Collection any;
  any.kind = what.kind;
  any.components = collections::component::kAll;
  auto facts = facts_of(what, any, body.data, body.name);
  const auto name =
      co_await trash.restore_object(rq.caller(), id.key, std::move(facts), collections::etag_of(body.data));
  const auto object = co_await services.collections.objects().find({body.collection, true}, name);
  const auto object_id = object ? services.ids.encode(what.object_id, object->id) : std::string();
  co_await done(rp, "It was restored",
                std::string("\"resource_type\":\"") + what.object_type + "\",\"id\":\"" + object_id +
                    "\",\"collection_id\":\"" +
                    services.ids.encode(what.collection_id, body.collection.value) + '"');
}

/// DELETE .../trash/{item} -> 200, for good
Task<> purge_trashed(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto id = trash_id(services, what, rq.param("item"));
  auto trash = services.collections.trash();
  if (id.is_collection) {
    co_await trash.purge_collection(rq.caller(), collections::CollectionId{id.key});
  } else {
    co_await trash.purge_object(rq.caller(), what.kind, id.key);
  }
  co_await done(rp, "It was deleted permanently");
}

/// DELETE .../trash -> 200 {success, message, items}: what the caller's own collections have there
Task<> empty_trash(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto count = co_await services.collections.trash().empty(rq.caller(), what.kind);
  co_await done(rp, "The trash was emptied", "\"items\":" + std::to_string(count));
}

void mount_common(Scopes& s, const Services& services, const Groupware& what, const char* family) {
  const auto on = family_routes(s, services, what.path, family, what.collection_type);
  const auto with = [&what](auto verb) {
    return [verb, &what](const Services& services, Request& rq, Reply& rp) {
      return verb(services, rq, rp, what);
    };
  };
  on(Method::get, "", "list", "read", with(list_collections));
  on(Method::post, "", "create", "create", with(create_collection));
  on(Method::get, "/{id}", "get", "read", with(get_collection));
  on(Method::put, "/{id}", "update", "update", with(update_collection));
  on(Method::del, "/{id}", "remove", "delete", with(remove_collection));
  on(Method::get, "/{id}/export", "export", "read", with(export_collection));
  on(Method::post, "/{id}/import", "import", "create",
     [&what, turnstile = std::make_shared<Turnstile>(1, 4)](const Services& services, Request& rq,
                                                            Reply& rp) {
       return import_collection(services, rq, rp, what, *turnstile);
     });
  on(Method::get, "/trash/resources", "trash", "read", with(list_trash));
  on(Method::post, "/trash/{item}/restore", "restore", "create", with(restore_trashed));
  on(Method::del, "/trash/{item}", "purge", "delete", with(purge_trashed));
  on(Method::del, "/trash", "empty_trash", "delete", with(empty_trash));
}

}  // namespace welkin::rest
