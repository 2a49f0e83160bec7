#include <algorithm>
#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/contact_json.hpp"
#include "rest/groupware.hpp"
#include "rest/validators.hpp"
#include "welkin/contacts/contact.hpp"
#include "welkin/core/text.hpp"

/// Groups of contacts: cards of their own that name others by their UIDs.
namespace welkin::rest {
namespace {

using collections::Collection;
using collections::Object;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr int kGroupsMax = 1000, kPage = 100;
constexpr std::size_t kMembersMax = 1000, kTogether = 16;

contacts::Group read_group(const Object& object) {
  try {
    return contacts::group_of(wire::parse_card(object.data));
  } catch (const Error&) {
    return {};
  }
}

void write_group(const Services& services, wire::JsonWriter& json, const Collection& in,
                 const Object& object) {
  const auto group = read_group(object);
  json.begin_object();
  json.field("id", services.ids.encode(IdKind::contact_group, object.id));
  json.field("address_book_id", services.ids.encode(IdKind::address_book, in.id.value));
  json.field("uid", group.uid.empty() ? object.name : group.uid);
  json.field("name", group.name);
  json.field("members_count", group.members.size());
  json.field("created_at", times::rfc3339(object.created_at));
  json.field("updated_at", times::rfc3339(object.modified_at));
  json.field("etag", collections::etag_text(object.etag));
  json.end_object();
}

Task<> send_group(const Services& services, Reply& rp, const Collection& in, const Object& object,
                  Status status) {
  std::string text;
  wire::JsonWriter json(text);
  write_group(services, json, in, object);
  rp.set("ETag", quoted(object.etag));
  co_await send_json_text(rp, status, std::move(text));
}

/// GET /api/address-books/{id}/groups -> [Group], the oldest first
Task<> list(const Services& services, Request& rq, Reply& rp) {
  const auto book = co_await require_collection(services, rq, kBooks);
  if (not_modified(rq, rp, listing_etag({"groups", book.uid, book.state()}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  std::string text;
  wire::JsonWriter json(text);
  json.begin_array();
  std::string after;
  for (int told = 0; told < kGroupsMax;) {
    const auto page = co_await services.collections.browse().groups(book.id, after, kPage);
    std::vector<std::int64_t> keys;
    for (const auto& each : page.items) keys.push_back(each.id);
    auto bodies = co_await services.collections.objects().by_keys(book.sight(), std::move(keys));
    std::sort(bodies.begin(), bodies.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    for (const auto& object : bodies) write_group(services, json, book, object);
    told += static_cast<int>(page.items.size());
    after = page.next;
    if (after.empty()) break;
  }
  json.end_array();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

std::string read_name(const nlohmann::json& body) {
  wire::JsonObject fields(body);
  auto name = fields.string("name");
  fields.done();
  if (text::trim(name).empty() || name.size() > 1024)
    throw Error(Errc::invalid, "bad_field",
                "The field 'name' must not be empty, and have at most 1,024 bytes");
  return name;
}

/// POST {name} -> 201
Task<> create(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  const auto in = co_await require_writable(services, rq, kBooks);
  const auto name = read_name(body);
  const auto uid = random_uid();
  const auto made = co_await create_object(services, rq, kBooks, in, uid + kBooks.suffix,
                                           contacts::make_group("urn:uuid:" + uid, name));
  co_await send_group(services, rp, in, made, Status::created);
}

Task<> get(const Services& services, Request& rq, Reply& rp) {
  const auto book = co_await require_collection(services, rq, kBooks);
  const auto object = co_await require_object(services, book, rq.param("group"), IdKind::contact_group);
  if (not_modified(rq, rp, quoted(object.etag))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  co_await send_group(services, rp, book, object, Status::ok);
}

/// PUT {name} -> 200
Task<> rename(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  const auto in = co_await require_writable(services, rq, kBooks);
  const auto name = read_name(body);
  const auto changed = co_await change_object(
      services, rq, kBooks, in, rq.param("group"), IdKind::contact_group,
      [&](const Object& object) { return std::optional(contacts::rename_group(object.data, name)); });
  co_await send_group(services, rp, in, changed, Status::ok);
}

Task<> remove(const Services& services, Request& rq, Reply& rp) {
  return remove_object(services, rq, rp, kBooks, IdKind::contact_group, "group");
}

/// GET .../groups/{group}/contacts -> [Contact], in the order of the group; whoever is not in the book any
/// more is left out
Task<> members(const Services& services, Request& rq, Reply& rp) {
  const auto book = co_await require_collection(services, rq, kBooks);
  const auto object = co_await require_object(services, book, rq.param("group"), IdKind::contact_group);
  auto uids = read_group(object).members;
  if (uids.size() > kMembersMax) uids.resize(kMembersMax);
  std::string text;
  wire::JsonWriter json(text);
  json.begin_array();
  for (std::size_t at = 0; at < uids.size(); at += kTogether) {
    std::vector<std::string> forms;
    const auto end = std::min(at + kTogether, uids.size());
    for (std::size_t i = at; i < end; ++i)
      for (auto& form : contacts::forms_of_uid(uids[i])) forms.push_back(std::move(form));
    const auto held = co_await services.collections.objects().by_uids(book.sight(), std::move(forms));
    for (std::size_t i = at; i < end; ++i)
      for (const auto& each : held)
        if (contacts::forms_of_uid(each.uid)[1] == uids[i])
          write_contact(services.ids, json, rq.base_path(), book, each.object);
  }
  json.end_array();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// The UID that a group names a contact by.
Task<std::string> uid_of(const Services& services, const Collection& in, const std::string& id) {
  const auto contact = co_await require_object(services, in, id, IdKind::contact);
  const auto uid = contacts::contact_of(wire::parse_card(contact.data)).uid;
  // A card without a UID is known by its name here, and by nothing to other programs.
  co_return uid.empty() ? contact.name : uid;
}

/// POST .../groups/{group}/contacts {contact_id} -> 204
Task<> add(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  const auto in = co_await require_writable(services, rq, kBooks);
  wire::JsonObject fields(body);
  const auto id = fields.string("contact_id");
  fields.done();
  const auto uid = co_await uid_of(services, in, id);
  co_await change_object(services, rq, kBooks, in, rq.param("group"), IdKind::contact_group,
                         [&](const Object& object) { return contacts::add_member(object.data, uid); });
  co_await rp.send(Status::no_content);
}

/// DELETE .../groups/{group}/contacts/{object} -> 204, also when it was no member
Task<> drop(const Services& services, Request& rq, Reply& rp) {
  const auto in = co_await require_writable(services, rq, kBooks);
  const auto uid = co_await uid_of(services, in, rq.param("object"));
  co_await change_object(services, rq, kBooks, in, rq.param("group"), IdKind::contact_group,
                         [&](const Object& object) { return contacts::remove_member(object.data, uid); });
  co_await rp.send(Status::no_content);
}

}  // namespace

void mount_contact_groups(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/address-books", "address_books", "contact");
  on(Method::get, "/{id}/groups", "groups", "read", list);
  on(Method::post, "/{id}/groups", "create_group", "create", create);
  on(Method::get, "/{id}/groups/{group}", "get_group", "read", get);
  on(Method::put, "/{id}/groups/{group}", "rename_group", "update", rename);
  on(Method::del, "/{id}/groups/{group}", "remove_group", "delete", remove);
  on(Method::get, "/{id}/groups/{group}/contacts", "group_contacts", "read", members);
  on(Method::post, "/{id}/groups/{group}/contacts", "add_to_group", "update", add);
  on(Method::del, "/{id}/groups/{group}/contacts/{object}", "remove_from_group", "update", drop);
}

}  // namespace welkin::rest
