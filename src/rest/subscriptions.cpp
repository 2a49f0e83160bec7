#include "welkin/calendars/subscriptions.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/routes.hpp"
#include "rest/user_json.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/http/fetch.hpp"
#include "welkin/wire/json.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using nlohmann::json;

constexpr const char* kDav = "DAV:";
constexpr const char* kServer = "http://calendarserver.org/ns/";
constexpr std::size_t kNameBytesMax = 255, kPathBytes = 12;

Task<> send_birthdays(const Services& services, Request& rq, Reply& rp) {
  const bool enabled = co_await services.birthdays.is_enabled(rq.caller());
  co_await send_json(rp, Status::ok, json{{"enabled", enabled}});
}

/// PUT /api/birthday-calendar {enabled} -> 200 {enabled} | 400 | 403
Task<> put_birthdays(const Services& services, Request& rq, Reply& rp) {
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  const auto enabled = in.opt_boolean("enabled");
  in.done();
  if (!enabled) throw Error(Errc::invalid, "bad_json", "'enabled' is true or false");
  co_await services.birthdays.set_enabled(rq.caller(), *enabled);
  co_await send_birthdays(services, rq, rp);
}

void require_fetchable(const Services& services, const std::string& url) {
  http::FetchOptions options;
  options.allowed = services.config.fetch_allowed;
  const auto why = http::fetch_refusal(options, url);
  if (!why.empty()) throw Error(Errc::invalid, "bad_source", why);
}

std::optional<std::int32_t> read_refresh(wire::JsonObject& in) {
  const auto seconds = in.opt_integer("refresh_seconds");
  if (!seconds) return std::nullopt;
  using calendars::Subscriptions;
  if (*seconds < Subscriptions::kRefreshMin || *seconds > Subscriptions::kRefreshMax)
    throw Error(Errc::invalid, "bad_refresh", "'refresh_seconds' is between 900 and 2592000");
  return static_cast<std::int32_t>(*seconds);
}

/// An element with a text, or with a DAV:href that holds it.
std::string element(const char* ns, const char* name, const std::string& text, bool is_href) {
  wire::XmlElement out;
  out.ns = ns;
  out.name = name;
  if (is_href) {
    wire::XmlElement href;
    href.ns = kDav;
    href.name = "href";
    href.text = text;
    out.children.push_back(std::move(href));
  } else {
    out.text = text;
  }
  std::string xml;
  wire::append_xml(xml, out);
  return xml;
}

json subscription_json(const Services& services, collections::CollectionId id,
                       const calendars::Subscription& subscription) {
  return {
      {"id", services.ids.encode(IdKind::calendar, id.value)},
      {"url", subscription.source},
      {"refresh_seconds", subscription.refresh_seconds},
      {"next_at", times::rfc3339(subscription.next_at)},
      {"fetched_at", time_json(subscription.fetched_at)},
      {"failures", subscription.failures},
      {"failure", subscription.failure.empty() ? json(nullptr) : json(subscription.failure)},
  };
}

collections::CollectionId calendar_id(const Services& services, const Request& rq) {
  const auto key = services.ids.decode(IdKind::calendar, rq.param("id"));
  if (!key) throw Error(Errc::not_found, "not_found", "not found");
  return collections::CollectionId{*key};
}

/// POST /api/calendar-subscriptions {url, name?, refresh_seconds?} -> 201 | 400 | 403 | 507
Task<> create(const Services& services, Request& rq, Reply& rp) {
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  const auto url = in.string("url");
  const auto name = in.opt_string("name");
  const auto refresh = read_refresh(in);
  in.done();
  require_fetchable(services, url);
  if (name && name->size() > kNameBytesMax)
    throw Error(Errc::invalid, "bad_name", "'name' is longer than 255 bytes");
  collections::NewCollection wanted;
  wanted.path = "feed-" + crypto::random_token(kPathBytes);
  wanted.properties.push_back({kServer, "source", element(kServer, "source", url, true)});
  if (name) wanted.properties.push_back({kDav, "displayname", element(kDav, "displayname", *name, false)});
  const auto id = co_await services.subscriptions.create(
      rq.caller(), std::move(wanted), url, refresh.value_or(calendars::Subscriptions::kRefreshDefault));
  const auto made = co_await services.subscriptions.find(rq.caller(), id);
  co_await send_json(rp, Status::created, subscription_json(services, id, made));
}

Task<> send_one(const Services& services, Request& rq, Reply& rp, collections::CollectionId id) {
  const auto found = co_await services.subscriptions.find(rq.caller(), id);
  co_await send_json(rp, Status::ok, subscription_json(services, id, found));
}

Task<> get(const Services& services, Request& rq, Reply& rp) {
  co_await send_one(services, rq, rp, calendar_id(services, rq));
}

/// PATCH /api/calendars/{id}/subscription {url?, refresh_seconds?} -> 200 | 400 | 403 | 404; asked again soon
Task<> patch(const Services& services, Request& rq, Reply& rp) {
  const auto id = calendar_id(services, rq);
  const json body = co_await json_body(rq);
  wire::JsonObject in(body);
  auto url = in.opt_string("url");
  const auto refresh = read_refresh(in);
  in.done();
  if (url) require_fetchable(services, *url);
  co_await services.subscriptions.change(rq.caller(), id, url, refresh);
  if (url) {
    std::vector<collections::PropertyChange> changes{
        {kServer, "source", element(kServer, "source", *url, true)}};
    co_await services.collections.patch(rq.caller(), id, std::move(changes));
  }
  co_await send_one(services, rq, rp, id);
}

}  // namespace

void mount_birthdays(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/birthday-calendar", "birthdays", "birthdays");
  on(Method::get, "", "get", "read", send_birthdays);
  on(Method::put, "", "put", "update", put_birthdays);
}

void mount_subscriptions(Scopes& s, const Services& services) {
  family_routes(s, services, "/api/calendar-subscriptions", "subscriptions", "subscription")(
      Method::post, "", "create", "create", create);
  const auto on =
      family_routes(s, services, "/api/calendars/{id}/subscription", "subscriptions", "subscription");
  on(Method::get, "", "get", "read", get);
  on(Method::patch, "", "patch", "update", patch);
}

}  // namespace welkin::rest
