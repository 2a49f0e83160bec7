#include "dav/groupware/calendar_query.hpp"

#include <algorithm>
#include <functional>

#include "dav/groupware/answer.hpp"
#include "dav/groupware/filter_reader.hpp"
#include "welkin/calendars/freebusy.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/resource.hpp"

namespace welkin::dav::groupware {
namespace {

/// How many bodies are in memory at once.
constexpr std::size_t kTogether = 32;

/// Whether the kind of component alone decides: then nobody has to read an object.
bool is_decided_by_kind(const calendars::CompFilter& filter) {
  const auto asks_nothing = [](const calendars::CompFilter& f) {
    return !f.is_not_defined && !f.range && f.properties.empty();
  };
  if (!asks_nothing(filter) || filter.components.size() > 1) return false;
  return filter.components.empty() ||
         (asks_nothing(filter.components[0]) && filter.components[0].components.empty());
}

bool is_bounded(const calendars::TimeRange& range) {
  return range.start != INT64_MIN || range.end != INT64_MAX;
}

using Visit = std::function<Task<>(const collections::ObjectRow&)>;

/// Every object that may be meant, narrowed by what the index knows: by the span of time when there is one,
/// else in the order of changes. `visit` outlives this.
Task<> candidates(collections::Objects objects, collections::Sight calendar,
                  const calendars::FilterBounds& bounds, collections::ObjectWants wants, const Visit& visit) {
  const auto components = bounds.kinds == ~0
                              ? std::int16_t{0}
                              : static_cast<std::int16_t>(bounds.kinds & collections::component::kAll);
  if (bounds.kinds != ~0 && components == 0) co_return;
  if (!is_bounded(bounds.range)) {
    auto list = objects.list(calendar,
                             {.after = 0, .until = {}, .tombstones = false, .components = components}, wants);
    for (auto page = co_await list.next(); !page.empty(); page = co_await list.next())
      for (const auto& row : page) co_await visit(row);
    co_return;
  }
  // Keys first: they are small, and no connection is held while objects are read and written.
  const auto keys = co_await objects.within(calendar, components, bounds.range.start, bounds.range.end);
  for (std::size_t done = 0; done < keys.size(); done += kTogether) {
    const auto end = std::min(done + kTogether, keys.size());
    const auto some = co_await objects.by_keys(calendar, {keys.begin() + static_cast<std::ptrdiff_t>(done),
                                                          keys.begin() + static_cast<std::ptrdiff_t>(end)});
    for (const auto& object : some) co_await visit(collections::row_of(object));
  }
}

/// What cannot be read any more passes only a filter that asks nothing.
bool passes(const calendars::CompFilter& filter, std::string_view data, const calendars::Zone& floating) {
  try {
    return calendars::passes(filter, wire::parse_ical(data), floating);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Task<> calendar_query(ReportRequest& request) {
  const auto& calendar = *request.target.collection;
  const auto filter = read_filter(request.body);
  const auto query = read_report_props(request.body);
  const auto floating =
      co_await floating_zone(request.services, request.rq.caller(), calendar, &request.body);
  const bool by_kind = is_decided_by_kind(filter);
  Answer answer(request.services, request.rq, request.rp, query, request.target.spot);
  answer.set_floating(floating);
  co_await answer.begin();
  const auto href = request.target.spot.href();
  const Visit visit = [&](const collections::ObjectRow& row) -> Task<> {
    if (by_kind || passes(filter, row.data, floating)) answer.member(calendar, href, row);
    co_await answer.send_if_long();
  };
  co_await candidates(
      request.services.collections.objects(), calendar.sight(), calendars::bounds_of(filter),
      {.times = (query.needs & needs::kTimes) != 0, .data = !by_kind || (query.needs & needs::kData) != 0},
      visit);
  co_await answer.end();
}

Task<> free_busy_query(ReportRequest& request) {
  const auto& calendar = *request.target.collection;
  const auto* range_element = request.body.child(kCaldav, "time-range");
  if (range_element == nullptr)
    throw Error(Errc::invalid, "bad_report", "A free-busy-query has a time-range");
  const auto range = read_range(*range_element, true);
  const auto depth = depth_of(request.rq);
  std::vector<std::string> own;
  if (calendar.access == collections::Access::own) {
    const auto me = co_await request.services.people.me(request.rq.caller());
    if (!me.email.empty()) own.push_back("mailto:" + me.email);
  }
  calendars::BusyTimes busy(range, std::move(own));
  const auto floating =
      co_await floating_zone(request.services, request.rq.caller(), calendar, &request.body);
  const Visit visit = [&](const collections::ObjectRow& row) -> Task<> {
    try {
      busy.add(wire::parse_ical(row.data), floating);
    } catch (const Error&) {
      // What cannot be read keeps nobody busy.
    }
    co_return;
  };
  calendars::FilterBounds bounds;
  bounds.kinds = collections::component::kEvent;
  bounds.range = range;
  if (!depth || depth->depth != Depth::zero)
    co_await candidates(request.services.collections.objects(), calendar.sight(), bounds,
                        {.times = false, .data = true}, visit);
  std::string out;
  wire::append_ical(
      out, calendars::free_busy_calendar(range, busy.periods(), times::seconds(request.services.clock.now()),
                                         "-//Welkin//Welkin//EN"));
  request.rp.set("Cache-Control", "private, no-cache");
  co_await request.rp.send(http::Status::ok, "text/calendar; charset=utf-8", std::move(out));
}

}  // namespace welkin::dav::groupware
