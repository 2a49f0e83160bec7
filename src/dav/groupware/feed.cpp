#include "dav/groupware/feed.hpp"

#include <algorithm>

#include "dav/groupware/live.hpp"
#include "welkin/calendars/file.hpp"
#include "welkin/collections/feeds.hpp"
#include "welkin/core/error.hpp"
#include "welkin/http/body.hpp"
#include "welkin/http/conditional.hpp"

namespace welkin::dav::groupware {
namespace {

constexpr std::string_view kEnding = ".ics";
// Of one address. Misses far fewer: who has a token does not guess.
constexpr unsigned kReadsPerMinute = 600, kMissesPerWindow = 30, kMissWindowSeconds = 600;

[[noreturn]] void miss(const Services& services, const http::Request& rq) {
  services.people.count_attempt("feed_miss", rq.limit_key(), kMissesPerWindow, kMissWindowSeconds);
  throw Error(Errc::not_found, "not_found", "There is nothing at this address");
}

Task<collections::Feeds::Published> open_feed(const Services& services, const http::Request& rq) {
  services.people.count_attempt("feed", rq.limit_key(), kReadsPerMinute, 60);
  std::string token = rq.param("file");
  if (token.size() > kEnding.size() && token.ends_with(kEnding)) token.resize(token.size() - kEnding.size());
  auto found = co_await services.collections.feeds().open(std::move(token));
  if (!found) miss(services, rq);
  co_return *std::move(found);
}

bool is_color(std::string_view text) {
  return (text.size() == 7 || text.size() == 9) && text.front() == '#' &&
         text.substr(1).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

/// What readers are told of the calendar as a whole (RFC 7986, and what programs read that do not know it).
void append_head(std::string& out, const std::string& name, const std::string& color) {
  wire::append_ical(out, {"NAME", {}, wire::ical_escape(name)});
  if (is_color(color)) wire::append_ical(out, {"X-APPLE-CALENDAR-COLOR", {}, color});
  out += "REFRESH-INTERVAL;VALUE=DURATION:PT4H\r\nX-PUBLISHED-TTL:PT4H\r\n";
}

void strip(wire::IcalComponent& component, const collections::FeedOptions& options) {
  if (!options.with_alarms)
    std::erase_if(component.components, [](const auto& below) { return below.name == "VALARM"; });
  if (options.with_attendees) return;
  component.remove("ATTENDEE");
  component.remove("ORGANIZER");
}

}  // namespace

std::string feed_url(const http::Request& rq, std::string_view token) {
  return rq.base_url() + "/dav/public/" + std::string(token) + std::string(kEnding);
}

Task<> serve_feed(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto feed = co_await open_feed(services, rq);
  const auto& collection = feed.collection;
  const auto stored = co_await services.collections.properties(
      feed.owner, {collection.id},
      {{std::string(kDav), "displayname"}, {std::string(kApple), "calendar-color"}});
  auto name = stored_text(stored, kDav, "displayname");
  if (name.empty()) name = default_name(collection);
  const auto etag = '"' + collection.uid + '-' + collection.state() + (feed.options.with_alarms ? "-a" : "") +
                    (feed.options.with_attendees ? "-p" : "") + '"';
  rp.set("ETag", etag);
  rp.set("Last-Modified", times::http_date(collection.changed_at));
  rp.set("Cache-Control", "private, no-cache");
  rp.set("X-Robots-Tag", "noindex, nofollow");
  rp.set("Referrer-Policy", "no-referrer");
  if (http::evaluate(rq.method(), rq.headers(), etag, collection.changed_at) ==
      http::Precondition::not_modified) {
    co_await rp.send(http::Status::not_modified);
    co_return;
  }
  rp.set("Content-Disposition", http::content_disposition("inline", name + std::string(kEnding)));
  rp.set("X-Content-Type-Options", "nosniff");
  co_await rp.begin(http::Status::ok, "text/calendar; charset=utf-8", std::nullopt, true);
  if (rq.method() == http::Method::head) {
    co_await rp.end();
    co_return;
  }
  std::string out;
  calendars::CalendarJoiner joiner;
  joiner.begin(out, name);
  append_head(out, name, stored_text(stored, kApple, "calendar-color"));
  auto list = services.collections.objects().list(collection.sight(), {}, {.times = false, .data = true});
  for (auto page = co_await list.next(); !page.empty(); page = co_await list.next()) {
    for (const auto& row : page)
      joiner.add(out, row.data, [&](wire::IcalComponent& component) { strip(component, feed.options); });
    co_await rp.write(out);
    out.clear();
  }
  joiner.end(out);
  co_await rp.write(out);
  co_await rp.end();
}

}  // namespace welkin::dav::groupware
