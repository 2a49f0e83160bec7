#include "dav/groupware/propfind.hpp"

#include "dav/groupware/answer.hpp"
#include "dav/groupware/refusal.hpp"

namespace welkin::dav::groupware {
namespace {

/// The addresses below one that holds no collections.
std::vector<std::vector<std::string>> names_below(const Spot& spot, const std::string& user) {
  switch (spot.kind) {
    case kRoot:
      return {{"principals"}, {"calendars"}, {"addressbooks"}};
    case kPrincipals:
      if (spot.names.size() == 1) return {{"users"}, {"groups"}};
      if (spot.names[1] == "groups") return {};
      return {{user}};
    case kHomes:
      if (spot.names[0] == "addressbooks" && spot.names.size() == 1) return {{"users"}};
      return {{user}};
    default:
      return {};
  }
}

Task<> list_members(const Services& services, const Target& target, Answer& answer) {
  const auto& collection = *target.collection;
  const auto& query = answer.query();
  auto list = services.collections.objects().list(
      collection.sight(), {},
      {.times = (query.needs & needs::kTimes) != 0, .data = (query.needs & needs::kData) != 0});
  const auto href = target.spot.href();
  for (auto page = co_await list.next(); !page.empty(); page = co_await list.next()) {
    for (const auto& row : page) {
      answer.member(collection, href, row);
      co_await answer.send_if_long();
    }
    co_await answer.send();
  }
}

Task<> list_below(const Services& services, const Caller& caller, const Target& target, Answer& answer) {
  const auto& spot = target.spot;
  if ((spot.kind & kHome) != 0) {
    co_await answer.collections(co_await services.collections.home(caller, spot.collection_kind()));
    if (spot.kind == kCalendarHome && services.scheduling.is_on()) {
      co_await answer.collections(co_await services.collections.home(caller, collections::Kind::inbox));
      auto outbox = spot.names;
      outbox.emplace_back("outbox");
      co_await answer.place(spot_at(spot.mount, std::move(outbox), true));
    }
    co_return;
  }
  if (target.collection && !target.object) co_await list_members(services, target, answer);
  for (const auto& names : names_below(spot, caller.name)) {
    auto below = spot.names;
    below.insert(below.end(), names.begin(), names.end());
    co_await answer.place(spot_at(spot.mount, std::move(below), true));
  }
}

}  // namespace

Task<> propfind(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto body = co_await read_xml(rq);
  const auto query = read_propfind(body ? &*body : nullptr);
  const auto depth = depth_of(rq).value_or(DepthHeader{Depth::one});
  const auto target = co_await require_target(services, rq.caller(), spot_of(rq));
  if (depth.depth == Depth::infinity && target.is_folder()) forbid("d:propfind-finite-depth");
  Answer answer(services, rq, rp, query, target.spot);
  co_await answer.begin();
  if (depth.depth == Depth::zero || !depth.no_root) {
    if (target.object) {
      answer.member(*target.collection, target.spot.parent().href(), collections::row_of(*target.object));
    } else if (target.collection) {
      co_await answer.collections({&*target.collection, 1});
    } else {
      co_await answer.place(target.spot, target.person ? &*target.person : nullptr,
                            target.group ? &*target.group : nullptr);
    }
  }
  if (depth.depth == Depth::one && target.is_folder())
    co_await list_below(services, rq.caller(), target, answer);
  co_await answer.end();
}

}  // namespace welkin::dav::groupware
