#include "dav/groupware/collection_writes.hpp"

#include "dav/groupware/conditions.hpp"
#include "dav/groupware/refusal.hpp"
#include "dav/groupware/update.hpp"
#include "welkin/core/error.hpp"
#include "welkin/dav/resource.hpp"
#include "welkin/http/fetch.hpp"

namespace welkin::dav::groupware {
namespace {

constexpr std::string_view kXmlType = "application/xml; charset=utf-8";

/// What a failed making is told in: MKCALENDAR a multistatus (RFC 4791 §5.3.1), MKCOL its own (RFC 5689 §3).
Task<> answer_refused(http::Reply& rp, const Update& update, const Spot& spot, bool calendar) {
  std::string text;
  wire::Multistatus out(text);
  if (calendar) {
    out.begin(kNamespaces);
    out.begin_response(spot.href());
    update.write(out);
    out.end_response();
    out.end();
  } else {
    wire::begin_dav_document(text, "mkcol-response", kNamespaces);
    update.write(out);
    text += "</d:mkcol-response>";
  }
  // A multistatus speaks for itself, and its status is a success; the other is the first failure's.
  co_await rp.send(calendar ? http::Status::multi_status : http::Status::failed_dependency, kXmlType,
                   std::move(text));
}

/// Where collections can be made. @throws Refusal, Error conflict `parent_missing`
void require_place(const Target& target, const Caller& caller, bool calendar) {
  const auto& spot = target.spot;
  const Kind wanted = calendar ? kCalendar : kBook;
  if (spot.kind != wanted || spot.user != caller.name) {
    const bool in_own_home = (spot.kind & (kCalendarObject | kCardObject)) != 0 || spot.kind == kNothing;
    // Below a home that is somebody else's, or below nothing: there is no parent that could hold it.
    if (in_own_home && !target.collection && spot.names.size() > 2)
      throw Error(Errc::conflict, "parent_missing", "The collection that would hold it is not there");
    forbid(calendar ? "C:calendar-collection-location-ok" : "A:addressbook-collection-location-ok");
  }
  if ((caller.rights_mask & rights::kCreate) == 0) forbid_privilege(spot.parent().href(), "d:bind");
}

/// True when it was made; what could not be kept stands in `update`.
Task<bool> create(const Services& services, const Caller& caller, const Spot& spot, Update& update) {
  collections::NewCollection wanted;
  wanted.kind = spot.collection_kind();
  wanted.path = spot.collection;
  wanted.components =
      spot.kind == kCalendar ? update.components.value_or(collections::component::kAll) : std::int16_t{0};
  wanted.properties = update.changes;
  try {
    if (update.subscribed)
      co_await services.subscriptions.create(
          caller, std::move(wanted), update.source().value_or(""),
          update.refresh_seconds().value_or(calendars::Subscriptions::kRefreshDefault));
    else
      co_await services.collections.create(caller, std::move(wanted));
  } catch (const Error& e) {
    if (std::string_view(e.slug()) == "exists") forbid("d:resource-must-be-null");
    if (std::string_view(e.slug()) != "too_many_properties") throw;
    update.fail_last(507, {});
    co_return false;
  }
  co_return true;
}

/// An address that may be asked, when one is said or needed.
void judge_source(const Services& services, Update& update, bool needs_one) {
  const auto source = update.source();
  if (!source && !needs_one) return;
  http::FetchOptions options;
  options.allowed = services.config.fetch_allowed;
  if (source && http::fetch_refusal(options, *source).empty()) return;
  if (!source) update.named.push_back({std::string(kServer), "source", 200, {}});
  update.fail_one(kServer, "source", 403, "<w:bad_source xmlns:w=\"urn:welkin:error\"/>");
}

Task<> make(const Services& services, http::Request& rq, http::Reply& rp, const Target& target, Update update,
            bool calendar) {
  require_place(target, rq.caller(), target.spot.kind == kCalendar);
  if (update.subscribed) judge_source(services, update, true);
  if (update.fails || !co_await create(services, rq.caller(), target.spot, update)) {
    co_await answer_refused(rp, update, target.spot, calendar);
    co_return;
  }
  rp.set("Cache-Control", "no-cache");
  co_await rp.send(http::Status::created);
}

}  // namespace

Task<> mkcalendar(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto body = co_await read_xml(rq);
  if (body && !body->is(kCaldav, "mkcalendar"))
    throw Error(Errc::invalid, "bad_mkcalendar", "The body is no C:mkcalendar");
  const auto target = co_await find_target(services, rq.caller(), spot_of(rq));
  if (target.exists) forbid("d:resource-must-be-null");
  Update update;
  if (body) update = read_making(*body, kCalendar);
  require_place(target, rq.caller(), true);
  co_await make(services, rq, rp, target, std::move(update), true);
}

Task<> mkcol(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto body = co_await read_xml(rq);
  if (body && !body->is(kDav, "mkcol")) throw Error(Errc::invalid, "bad_mkcol", "The body is no DAV:mkcol");
  const auto target = co_await find_target(services, rq.caller(), spot_of(rq));
  if (target.exists) {
    rp.set("Allow", "OPTIONS, PROPFIND, PROPPATCH, REPORT, DELETE");
    throw Error(Errc::method_not_allowed, "exists", "There is something at this address already");
  }
  Update update;
  if (body) update = read_making(*body, target.spot.kind);
  require_place(
      target, rq.caller(),
      target.spot.kind != kBook && target.spot.names.size() > 0 && target.spot.names[0] != "addressbooks");
  // A plain collection is nothing that could be kept here.
  if (!update.type || *update.type != target.spot.kind) forbid("d:valid-resourcetype");
  co_await make(services, rq, rp, target, std::move(update), false);
}

namespace {

/// The calendar of the caller's own that is to take invitations; "" when the address is none.
Task<std::string> default_path(const Services& services, const http::Request& rq, const std::string& href) {
  const auto spot = spot_of_uri(rq, href);
  if (!spot || spot->kind != kCalendar || spot->user != rq.caller().name) co_return "";
  const auto found =
      co_await services.collections.find(rq.caller(), collections::Kind::calendar, spot->collection);
  const bool fits = found && found->access == collections::Access::own && found->may_write() &&
                    (found->components & collections::component::kEvent) != 0;
  co_return fits ? spot->collection : std::string();
}

Task<> patch(const Services& services, const Caller& caller, const collections::Collection& collection,
             const Update& update) {
  co_await services.collections.patch(caller, collection.id, update.changes);
  const bool is_subscribed =
      collection.origin == collections::Origin::subscription && collection.access == collections::Access::own;
  if (is_subscribed && (update.source() || update.refresh_seconds()))
    co_await services.subscriptions.change(caller, collection.id, update.source(), update.refresh_seconds());
}

/// False when there was no room; everything else is thrown.
Task<bool> apply(const Services& services, const Caller& caller, const Target& target, const Update& update) {
  try {
    if ((target.spot.kind & kHome) != 0)
      co_await services.collections.patch_home(caller, target.spot.collection_kind(), update.changes);
    else
      co_await patch(services, caller, *target.collection, update);
  } catch (const Error& e) {
    if (std::string_view(e.slug()) != "too_many_properties") throw;
    co_return false;
  }
  co_return true;
}

}  // namespace

Task<> proppatch(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto body = co_await read_xml(rq);
  const auto target = co_await require_target(services, rq.caller(), spot_of(rq));
  if (!body || !body->is(kDav, "propertyupdate"))
    throw Error(Errc::invalid, "bad_propertyupdate", "The body is no DAV:propertyupdate");
  auto update = read_update(*body, target.spot.kind);
  if (target.collection && !target.object)
    co_await require_collection_state(services, rq, target);
  else
    co_await require_conditions(services, rq, target);
  if ((rq.caller().rights_mask & rights::kUpdate) == 0)
    forbid_privilege(target.spot.href(), "d:write-properties");
  const bool is_subscription =
      target.collection && target.collection->origin == collections::Origin::subscription;
  if (is_subscription && !update.fails) judge_source(services, update, false);
  std::string default_calendar;
  if (update.default_calendar && !update.fails) {
    default_calendar = co_await default_path(services, rq, *update.default_calendar);
    if (default_calendar.empty())
      update.fail("schedule-default-calendar-URL", 403, "<C:valid-schedule-default-calendar-URL/>");
  }
  if (!update.fails && !co_await apply(services, rq.caller(), target, update)) update.fail_last(507, {});
  if (!update.fails && !default_calendar.empty())
    co_await services.scheduling.set_default_calendar(rq.caller(), std::move(default_calendar));
  const auto preferences = preferences_of(rq);
  rp.add("Vary", "Prefer, Brief");
  if (preferences.minimal) rp.set("Preference-Applied", "return=minimal");
  if (preferences.minimal && !update.fails) {
    co_await rp.send(http::Status::ok);
    co_return;
  }
  std::string text;
  wire::Multistatus out(text);
  out.begin(kNamespaces);
  out.begin_response(target.spot.href());
  update.write(out);
  out.end_response();
  out.end();
  co_await rp.send(http::Status::multi_status, kXmlType, std::move(text));
}

}  // namespace welkin::dav::groupware
