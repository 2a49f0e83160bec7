#include "dav/groupware/multiget.hpp"

#include <map>
#include <set>

#include "dav/groupware/answer.hpp"
#include "dav/groupware/filter_reader.hpp"
#include "dav/groupware/limits.hpp"
#include "dav/groupware/refusal.hpp"

namespace welkin::dav::groupware {
namespace {

/// How many bodies are in memory at once.
constexpr std::size_t kTogether = 32;

struct Wanted {
  std::string href;  // as it will be told
  std::string name;  // "": not in this collection
};

/// The hrefs in their order, each thing once.
std::vector<Wanted> read_hrefs(const ReportRequest& request) {
  std::vector<Wanted> out;
  std::set<std::string> seen;
  const auto& here = request.target.spot;
  for (const auto& element : request.body.children) {
    if (!element.is(kDav, "href")) continue;
    Wanted wanted;
    if (const auto spot = spot_of_uri(request.rq, element.trimmed())) {
      // Told as we spell it, below the mount that was asked.
      const auto canonical = spot_at(here.mount, spot->names, spot->has_slash);
      wanted.href = canonical.href();
      if (canonical.parent().names == here.names && (canonical.kind & kObject) != 0 && !canonical.has_slash)
        wanted.name = canonical.object;
    } else {
      wire::append_escaped(wanted.href, element.trimmed());
    }
    if (!seen.insert(wanted.href).second) continue;
    out.push_back(std::move(wanted));
    if (out.size() > kHrefsMax) forbid("d:number-of-matches-within-limits");
  }
  return out;
}

}  // namespace

Task<> multiget(ReportRequest& request) {
  const auto& collection = *request.target.collection;
  const auto query = read_report_props(request.body);
  const auto wanted = read_hrefs(request);
  Answer answer(request.services, request.rq, request.rp, query, request.target.spot);
  if (!query.calendar_data.is_whole())
    answer.set_floating(co_await floating_zone(request.services, request.rq.caller(), collection, nullptr));
  co_await answer.begin();
  const auto href = request.target.spot.href();
  for (std::size_t done = 0; done < wanted.size();) {
    const auto end = std::min(done + kTogether, wanted.size());
    std::vector<std::string> names;
    for (auto i = done; i < end; ++i)
      if (!wanted[i].name.empty()) names.push_back(wanted[i].name);
    std::map<std::string, collections::Object> found;
    for (auto& object :
         co_await request.services.collections.objects().named(collection.sight(), std::move(names))) {
      auto name = object.name;
      found.emplace(std::move(name), std::move(object));
    }
    for (; done < end; ++done) {
      const auto at = found.find(wanted[done].name);
      if (at == found.end()) {
        answer.status(wanted[done].href, 404);
      } else {
        answer.member(collection, href, collections::row_of(at->second));
      }
    }
    co_await answer.send();
  }
  co_await answer.end();
}

}  // namespace welkin::dav::groupware
