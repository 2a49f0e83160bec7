#include <algorithm>
#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/contact_json.hpp"
#include "rest/groupware.hpp"
#include "rest/objects.hpp"
#include "rest/validators.hpp"
#include "welkin/contacts/contact.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/body.hpp"

namespace welkin::rest {
namespace {

using collections::Collection;
using collections::Object;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr std::size_t kTogether = 16;  // cards hold pictures
constexpr int kPageMax = 500;

Task<> send_contact(const Services& services, Request& rq, Reply& rp, const Collection& in,
                    const Object& object, Status status) {
  std::string text;
  wire::JsonWriter json(text);
  write_contact(services.ids, json, rq.base_path(), in, object);
  rp.set("ETag", quoted(object.etag));
  co_await send_json_text(rp, status, std::move(text));
}

/// Contact objects for members that were listed without their data, in their order.
Task<> write_contacts(const Services& services, Request& rq, wire::JsonWriter& json, const Collection& in,
                      const std::vector<Object>& listed) {
  for (std::size_t at = 0; at < listed.size(); at += kTogether) {
    std::vector<std::int64_t> keys;
    for (std::size_t i = at; i < std::min(at + kTogether, listed.size()); ++i) keys.push_back(listed[i].id);
    const auto bodies = co_await services.collections.objects().by_keys(in.sight(), keys);
    for (const auto key : keys)
      for (const auto& object : bodies)
        if (object.id == key) write_contact(services.ids, json, rq.base_path(), in, object);
  }
}

std::int64_t count_query(const Request& rq, const char* name, std::int64_t absent) {
  const auto value = rq.query(name);
  if (!value) return absent;
  const auto n = text::number(*value);
  if (!n || *n > 1'000'000'000)
    throw Error(Errc::invalid, "bad_query",
                std::string("The query parameter '") + name + "' must be a number");
  return static_cast<std::int64_t>(*n);
}

/// GET /api/address-books/{id}/contacts?limit=100&offset=0 -> [Contact] by name
Task<> list(const Services& services, Request& rq, Reply& rp) {
  const auto book = co_await require_collection(services, rq, kBooks);
  const auto limit = static_cast<int>(std::clamp<std::int64_t>(count_query(rq, "limit", 100), 1, kPageMax));
  const auto offset = count_query(rq, "offset", 0);
  if (not_modified(rq, rp,
                   listing_etag({"contacts", book.uid, book.state(), std::to_string(limit),
                                 std::to_string(offset)}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  const auto listed = co_await services.collections.browse().contacts_from(book.id, offset, limit);
  std::string text;
  wire::JsonWriter json(text);
  json.begin_array();
  co_await write_contacts(services, rq, json, book, listed);
  json.end_array();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// GET /api/address-books/{id}/contacts/resources?limit&cursor -> {items: [{resource_type, resource}],
/// next_cursor?}
Task<> resources(const Services& services, Request& rq, Reply& rp) {
  const auto book = co_await require_collection(services, rq, kBooks);
  const int limit = page_limit(rq);
  const auto cursor = rq.query("cursor").value_or("");
  const auto after = text::from_base64url(cursor);
  const auto page = co_await services.collections.browse().contacts(
      book.id, after ? std::string(as_text(*after)) : std::string(), limit);
  if (not_modified(
          rq, rp,
          listing_etag({"resources", book.uid, book.state(), cursor, std::to_string(limit), page.next}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  std::string items;
  wire::JsonWriter contacts(items);
  contacts.begin_array();
  co_await write_contacts(services, rq, contacts, book, page.items);
  contacts.end_array();
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  json.key("items");
  json.raw(items);
  if (!page.next.empty()) json.field("next_cursor", text::base64url(as_bytes(page.next)));
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

Task<> get(const Services& services, Request& rq, Reply& rp) {
  const auto book = co_await require_collection(services, rq, kBooks);
  const auto object = co_await require_object(services, book, rq.param("object"), IdKind::contact);
  if (not_modified(rq, rp, quoted(object.etag))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  co_await send_contact(services, rq, rp, book, object, Status::ok);
}

/// POST /api/address-books/{id}/contacts, all optional -> 201
Task<> create(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  const auto in = co_await require_writable(services, rq, kBooks);
  wire::JsonObject fields(body);
  const auto edit = read_contact_edit(fields);
  fields.done();
  const auto uid = random_uid();
  const auto made = co_await create_object(services, rq, kBooks, in, uid + kBooks.suffix,
                                           contacts::make_contact("urn:uuid:" + uid, edit));
  rp.set("Location", std::string(rq.base_path()) + "/api/address-books/" + rq.param("id") + "/contacts/" +
                         services.ids.encode(IdKind::contact, made.id));
  co_await send_contact(services, rq, rp, in, made, Status::created);
}

/// PUT /api/address-books/{id}/contacts/{object}, all optional -> 200 | 404 | 412
Task<> update(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  const auto in = co_await require_writable(services, rq, kBooks);
  wire::JsonObject fields(body);
  const auto edit = read_contact_edit(fields);
  fields.done();
  const auto changed = co_await change_object(
      services, rq, kBooks, in, rq.param("object"), IdKind::contact,
      [&](const Object& object) { return std::optional(contacts::edit_contact(object.data, edit)); });
  co_await send_contact(services, rq, rp, in, changed, Status::ok);
}

Task<> remove(const Services& services, Request& rq, Reply& rp) {
  return remove_object(services, rq, rp, kBooks, IdKind::contact, "object");
}

/// GET /api/address-books/{id}/contacts/{object}/photo -> the picture that is in the card
Task<> photo(const Services& services, Request& rq, Reply& rp) {
  const auto book = co_await require_collection(services, rq, kBooks);
  const auto object = co_await require_object(services, book, rq.param("object"), IdKind::contact);
  std::optional<contacts::Photo> found;
  try {
    found = contacts::photo_of(wire::parse_card(object.data));
  } catch (const Error&) {
    found.reset();
  }
  if (!found) throw Error(Errc::not_found, "not_found", "not found");
  http::UserBody body;
  body.name = "photo";
  body.mime_type = found->mime_type;
  body.etag = quoted(object.etag);
  body.last_modified = object.modified_at;
  body.size_bytes = found->bytes.size();
  body.inline_asked = true;
  body.feed = [&found](Slice slice, ByteSink& out) {
    return out.write(as_bytes(std::string_view(found->bytes).substr(slice.offset, slice.length)));
  };
  co_await http::serve_body(rq, rp, body);
}

}  // namespace

void mount_address_books(Scopes& s, const Services& services) {
  mount_common(s, services, kBooks, "address_books");
  const auto on = family_routes(s, services, "/api/address-books", "address_books", "contact");
  on(Method::get, "/{id}/contacts", "contacts", "read", list);
  on(Method::get, "/{id}/contacts/resources", "contact_resources", "read", resources);
  on(Method::post, "/{id}/contacts", "create_contact", "create", create);
  on(Method::get, "/{id}/contacts/{object}", "get_contact", "read", get);
  on(Method::put, "/{id}/contacts/{object}", "update_contact", "update", update);
  on(Method::del, "/{id}/contacts/{object}", "remove_contact", "delete", remove);
  on(Method::get, "/{id}/contacts/{object}/vcf", "contact_vcf", "read",
     [](const Services& services, Request& rq, Reply& rp) { return raw_object(services, rq, rp, kBooks); });
  on(Method::get, "/{id}/contacts/{object}/photo", "contact_photo", "read", photo);
}

}  // namespace welkin::rest
