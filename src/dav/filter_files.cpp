#include "dav/filter_files.hpp"

#include <limits>

#include "dav/listing.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/favorites.hpp"

namespace welkin::dav {
namespace {

constexpr std::string_view kDav = "DAV:", kOwncloud = "http://owncloud.org/ns",
                           kNextcloud = "http://nextcloud.org/ns";
constexpr int kPageItems = 200;

[[noreturn]] void refuse(const char* what) { throw Error(Errc::invalid, "bad_report", what); }

struct Filter {
  PropRequest request;
  std::size_t first = 0, limit = std::numeric_limits<std::size_t>::max();
};

std::size_t number_in(const wire::XmlElement* element, std::size_t otherwise) {
  if (element == nullptr) return otherwise;
  const auto number = text::number(element->trimmed());
  if (!number) refuse("A limit is a number");
  return *number;
}

Filter read_filter(const wire::XmlElement& body) {
  Filter filter;
  const auto* rules = body.child(kOwncloud, "filter-rules");
  if (rules == nullptr || rules->children.empty()) refuse("A oc:filter-files has rules");
  for (const auto& rule : rules->children) {
    if (rule.is(kOwncloud, "systemtag"))
      throw Error(Errc::precondition_failed, "no_such_tag", "There is no tag of that number");
    if (!rule.is(kOwncloud, "favorite") || rule.trimmed() != "1") refuse("Files are filtered by oc:favorite 1 only");
  }
  const auto* prop = body.child(kDav, "prop");
  filter.request = read_prop(prop == nullptr ? wire::XmlElement{} : *prop);
  const auto* limit = body.child(kDav, "limit");
  filter.limit = number_in(limit == nullptr ? nullptr : limit->child(kDav, "nresults"), filter.limit);
  filter.first = number_in(body.child(kNextcloud, "firstresult"), 0);
  return filter;
}

/// The names from the folder at `top` down to `path`; nullopt: it does not lie below.
std::optional<std::vector<std::string>> names_below(const std::string& top, const std::string& path) {
  const std::string prefix = top == "/" ? top : top + '/';
  if (path.size() <= prefix.size() || !path.starts_with(prefix)) return std::nullopt;
  std::vector<std::string> names;
  for (const auto name : text::split(std::string_view(path).substr(prefix.size()), '/')) names.emplace_back(name);
  return names;
}

/// What a page of marks has below the folder, with its hrefs.
struct Hits {
  std::vector<files::Node> nodes;
  std::vector<std::string> hrefs;

  void add(const files::Node& node, const std::vector<std::string>& names, const std::string& above) {
    auto href = wire::href_prefix(above, names);
    if (!node.is_folder()) href.pop_back();
    nodes.push_back(node);
    hrefs.push_back(std::move(href));
  }
};

}  // namespace

Task<> filter_files(const TreeServices& services, http::Request& rq, http::Reply& rp, const Place& place,
                    const files::Node& folder, const wire::XmlElement& body) {
  auto filter = read_filter(body);
  const auto top = co_await services.files.path(rq.caller(), folder.id);
  const auto preferences = preferences_of(rq);
  const auto above = place.href(true);
  co_await begin_multistatus(rp, preferences);
  Listing listing(services, rq, rp, filter.request, preferences);
  listing.begin();
  files::MarkQuery query;
  query.limit = kPageItems;
  std::size_t seen = 0;
  while (filter.limit > 0) {
    const auto page = co_await services.files.favorites().list(rq.caller(), query);
    Hits hits;
    for (const auto& mark : page.items) {
      if (mark.node.drive != folder.drive || !mark.node.path) continue;
      const auto names = names_below(top, *mark.node.path);
      if (!names || seen++ < filter.first || filter.limit == 0) continue;
      --filter.limit;
      hits.add(mark.node, *names, above);
    }
    std::vector<files::BrowseRow> rows;
    for (const auto& node : hits.nodes) rows.push_back(files::browse_row(node));
    co_await listing.some(rows, hits.hrefs, (filter.request.needs & needs::kLocks) != 0);
    if (page.next.empty()) break;
    query.after = page.next;
  }
  co_await listing.end();
}

}  // namespace welkin::dav
