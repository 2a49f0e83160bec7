#include "welkin/collections/sharing.hpp"

#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/routes.hpp"
#include "rest/user_json.hpp"
#include "welkin/collections/feeds.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/people/directory.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::rest {
namespace {

using collections::Access;
using collections::CollectionId;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using nlohmann::json;

// Naming people is a way to find out who is here.
constexpr unsigned kNamedPerWindow = 300, kNamedWindowSeconds = 600;

/// The collection of the path, which is of the kind that the route says. @throws Error not_found, invalid
/// `bad_id`
Task<collections::Collection> collection_of(const Services& services, const Request& rq, IdKind kind) {
  const auto key = services.ids.decode(kind, rq.param("id"));
  if (!key) throw Error(Errc::not_found, "not_found", "not found");
  auto found = co_await services.collections.require(rq.caller(), CollectionId{*key});
  const auto wanted = kind == IdKind::calendar ? collections::Kind::calendar : collections::Kind::book;
  if (found.kind != wanted) throw Error(Errc::not_found, "not_found", "not found");
  co_return found;
}

json share_json(const PublicIds& ids, const collections::Share& share) {
  return {
      {"id", ids.encode(share.is_group ? IdKind::group : IdKind::user, share.subject)},
      {"type", share.is_group ? "group" : "user"},
      {"name", share.name},
      {"display_name", share.display_name.empty() ? share.name : share.display_name},
      {"access", share.access == Access::write ? "write" : "read"},
      {"created_at", times::rfc3339(share.created_at)},
  };
}

Task<> send_shares(const Services& services, Request& rq, Reply& rp, CollectionId id) {
  const auto shares = co_await services.collections.sharing().list(rq.caller(), id);
  json items = json::array();
  for (const auto& share : shares) items.push_back(share_json(services.ids, share));
  co_await send_json(rp, Status::ok, json{{"shares", std::move(items)}});
}

Task<> list_shares(const Services& services, Request& rq, Reply& rp, IdKind kind) {
  const auto collection = co_await collection_of(services, rq, kind);
  co_await send_shares(services, rq, rp, collection.id);
}

/// Who is meant by one of `user` (a name), `email` and `group` (a name).
Task<std::int64_t> named_subject(const Services& services, const Request& rq, wire::JsonObject& in) {
  const auto user = in.opt_string("user"), email = in.opt_string("email"), group = in.opt_string("group");
  if ((user.has_value() + email.has_value() + group.has_value()) != 1)
    throw Error(Errc::invalid, "bad_share", "Give one of 'user', 'email' and 'group'");
  services.people.count_attempt("share", std::to_string(rq.caller().user.value), kNamedPerWindow,
                                kNamedWindowSeconds);
  auto directory = services.people.directory();
  if (group) {
    const auto found = co_await directory.group(rq.caller(), *group);
    if (!found) throw Error(Errc::not_found, "no_such_group", "Group not found: " + *group);
    co_return found->id.value;
  }
  const auto found =
      user ? co_await directory.named(text::lower(*user)) : co_await directory.with_email(*email);
  if (!found) throw Error(Errc::not_found, "no_such_user", "User not found: " + (user ? *user : *email));
  co_return found->id.value;
}

/// PUT .../shares {user | email | group, access: "read" | "write"} -> 200 with all shares | 400 | 403 | 404
Task<> put_share(const Services& services, Request& rq, Reply& rp, IdKind kind) {
  const auto collection = co_await collection_of(services, rq, kind);
  if (collection.access != Access::own)
    throw Error(Errc::forbidden, "forbidden", "Only the owner shares this");
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  const auto access = in.string("access");
  if (access != "read" && access != "write")
    throw Error(Errc::invalid, "bad_share", "'access' is 'read' or 'write'");
  const auto subject = co_await named_subject(services, rq, in);
  in.done();
  std::vector<collections::ShareChange> changes{{subject, access == "write" ? Access::write : Access::read}};
  co_await services.collections.sharing().change(rq.caller(), collection.id, std::move(changes));
  co_await send_shares(services, rq, rp, collection.id);
}

/// DELETE .../shares/{subject} -> 204, by the owner, or by somebody who leaves himself | 403 | 404
Task<> delete_share(const Services& services, Request& rq, Reply& rp, IdKind kind) {
  const auto collection = co_await collection_of(services, rq, kind);
  auto key = services.ids.decode(IdKind::user, rq.param("subject"));
  if (!key) key = services.ids.decode(IdKind::group, rq.param("subject"));
  if (!key) throw Error(Errc::not_found, "no_such_share", "Share not found");
  const auto shares = co_await services.collections.sharing().list(rq.caller(), collection.id);
  bool is_there = false;
  for (const auto& share : shares) is_there = is_there || share.subject == *key;
  if (!is_there) throw Error(Errc::not_found, "no_such_share", "Share not found");
  if (collection.access != Access::own && *key == rq.caller().user.value) {
    co_await services.collections.remove(rq.caller(), collection.id, "");
  } else {
    std::vector<collections::ShareChange> changes{{*key, std::nullopt}};
    co_await services.collections.sharing().change(rq.caller(), collection.id, std::move(changes));
  }
  co_await rp.send(Status::no_content);
}

json feed_json(const std::optional<collections::Feed>& feed) {
  if (!feed) return {{"published", false}};
  return {
      {"published", true},
      {"with_alarms", feed->options.with_alarms},
      {"with_attendees", feed->options.with_attendees},
      {"expires_at", time_json(feed->options.expires_at)},
      {"created_at", times::rfc3339(feed->created_at)},
      {"last_read_at", time_json(feed->last_read_at)},
  };
}

Task<> get_feed(const Services& services, Request& rq, Reply& rp, IdKind kind) {
  const auto collection = co_await collection_of(services, rq, kind);
  const auto feed = co_await services.collections.feeds().find(rq.caller(), collection.id);
  co_await send_json(rp, Status::ok, feed_json(feed));
}

/// POST .../feed {with_alarms?, with_attendees?, expires_at?} -> 201 with the `url`, which is never shown
/// again and ends the one before | 400 | 403 | 404
Task<> post_feed(const Services& services, Request& rq, Reply& rp, IdKind kind) {
  const auto collection = co_await collection_of(services, rq, kind);
  const json body = co_await optional_json_body(rq);
  wire::JsonObject in(body);
  collections::FeedOptions options;
  options.with_alarms = in.opt_boolean("with_alarms").value_or(false);
  options.with_attendees = in.opt_boolean("with_attendees").value_or(false);
  if (const auto at = in.opt_string("expires_at")) {
    options.expires_at = times::from_rfc3339(*at);
    if (!options.expires_at || *options.expires_at <= services.clock.now())
      throw Error(Errc::invalid, "bad_expiry", "'expires_at' is no time to come, like 2030-01-31T12:00:00Z");
  }
  in.done();
  const auto token = co_await services.collections.feeds().publish(rq.caller(), collection.id, options);
  json answer = feed_json(co_await services.collections.feeds().find(rq.caller(), collection.id));
  answer["url"] = rq.base_url() + "/dav/public/" + token + ".ics";
  rp.set("Cache-Control", "no-store");
  co_await send_json(rp, Status::created, answer);
}

Task<> delete_feed(const Services& services, Request& rq, Reply& rp, IdKind kind) {
  const auto collection = co_await collection_of(services, rq, kind);
  co_await services.collections.feeds().unpublish(rq.caller(), collection.id);
  co_await rp.send(Status::no_content);
}

using Action = Task<> (*)(const Services&, Request&, Reply&, IdKind);

auto of_kind(IdKind kind, Action action) {
  return [kind, action](const Services& services, Request& rq, Reply& rp) {
    return action(services, rq, rp, kind);
  };
}

}  // namespace

void mount_sharing(Scopes& s, const Services& services) {
  const auto calendars = family_routes(s, services, "/api/calendars", "calendar_shares", "share");
  const auto books = family_routes(s, services, "/api/address-books", "book_shares", "share");
  const auto both = [&](Method method, const char* path, const char* name, const char* action, Action run) {
    calendars(method, path, name, action, of_kind(IdKind::calendar, run));
    books(method, path, name, action, of_kind(IdKind::address_book, run));
  };
  both(Method::get, "/{id}/shares", "list", "read", list_shares);
  both(Method::put, "/{id}/shares", "put", "share", put_share);
  both(Method::del, "/{id}/shares/{subject}", "delete", "share", delete_share);
  const auto feeds = family_routes(s, services, "/api/calendars", "feeds", "feed");
  feeds(Method::get, "/{id}/feed", "get", "manage", of_kind(IdKind::calendar, get_feed));
  feeds(Method::post, "/{id}/feed", "publish", "share", of_kind(IdKind::calendar, post_feed));
  feeds(Method::del, "/{id}/feed", "unpublish", "share", of_kind(IdKind::calendar, delete_feed));
}

}  // namespace welkin::rest
