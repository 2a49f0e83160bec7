#include "dav/search.hpp"

#include <algorithm>
#include <deque>

#include "dav/listing.hpp"
#include "dav/search_query.hpp"
#include "welkin/core/error.hpp"
#include "welkin/dav/location.hpp"

namespace welkin::dav {
namespace {

constexpr std::size_t kSortedMax = 10'000;

/// Results that wait to be put in order; rows are views, so what they view is
/// kept beside them.
class Found {
 public:
  void add(const files::BrowseRow& row, const std::string& folder) {
    auto& kept = kept_.emplace_back();
    kept.number = kept_.size();
    kept.name = row.name;
    kept.type = row.mime_type;
    kept.author = row.author_name;
    kept.sha256.assign(row.sha256.begin(), row.sha256.end());
    kept.sha1.assign(row.sha1.begin(), row.sha1.end());
    kept.href = folder;
    wire::append_href_segment(kept.href, row.name);
    if (row.is_folder()) kept.href += '/';
    kept.row = row;
    kept.row.name = kept.name;
    kept.row.mime_type = kept.type;
    kept.row.author_name = kept.author;
    kept.row.sha256 = kept.sha256;
    kept.row.sha1 = kept.sha1;
  }
  std::size_t size() const { return kept_.size(); }

  void in_order(const SearchQuery& query, std::vector<files::BrowseRow>& rows,
                std::vector<std::string>& hrefs) {
    std::vector<const Kept*> order;
    for (const auto& kept : kept_) order.push_back(&kept);
    // Equals stay in the order they were found in: that of the deque.
    std::sort(order.begin(), order.end(), [&](const Kept* a, const Kept* b) {
      if (query.comes_before(a->row, b->row)) return true;
      return a->number < b->number && !query.comes_before(b->row, a->row);
    });
    if (query.limit && order.size() > *query.limit) order.resize(*query.limit);
    for (const auto* kept : order) {
      rows.push_back(kept->row);
      hrefs.push_back(kept->href);
    }
  }

 private:
  struct Kept {
    std::string name, type, author, href;
    Bytes sha256, sha1;
    std::size_t number = 0;
    files::BrowseRow row;
  };
  std::deque<Kept> kept_;  // where a row's views look does not move
};

bool matches(const SearchQuery& query, const files::BrowseRow& row) {
  return !query.where || query.where->of(row) == SearchTerm::Truth::yes;
}

/// @return whether all that matches was told
Task<bool> search_in_order(Listing& listing, const SearchQuery& query, const files::Node& root,
                           const std::string& href, Listing::Walk walk) {
  Found found;
  walk.wanted = [&](const files::BrowseRow& row, const std::string& folder) {
    if (found.size() <= kSortedMax && matches(query, row)) found.add(row, folder);
    return false;
  };
  const auto walked = co_await listing.members(root.id, root.rights, href, walk);
  std::vector<files::BrowseRow> rows;
  std::vector<std::string> hrefs;
  found.in_order(query, rows, hrefs);
  co_await listing.some(rows, hrefs,
                        query.depth == Depth::infinity && (query.request.needs & needs::kLocks) != 0);
  co_return walked.whole&& found.size() <= kSortedMax&& rows.size() == found.size();
}

Task<bool> search_members(Listing& listing, const SearchQuery& query, const files::Node& root,
                          const std::string& href) {
  Listing::Walk walk;
  walk.deep = query.depth == Depth::infinity;
  // An ordinary question costs a unit a row; a hundred long patterns do not get a hundred thousand rows.
  constexpr std::size_t ordinary_cost = 16;
  if (query.where) walk.row_cost = 1 + query.where->cost() / ordinary_cost;
  if (!query.order.empty()) co_return co_await search_in_order(listing, query, root, href, std::move(walk));
  walk.rows_max = query.limit.value_or(kRowsMax);
  walk.wanted = [&](const files::BrowseRow& row, const std::string&) { return matches(query, row); };
  co_return (co_await listing.members(root.id, root.rights, href, walk)).whole;
}

}  // namespace

namespace {

Task<SearchQuery> read_query(http::Request& rq) {
  const auto body = co_await read_xml(rq);
  if (!body) throw Error(Errc::invalid, "bad_search", "A SEARCH has a body");
  co_return read_search(*body);
}

Task<> search_in(const TreeServices& services, http::Request& rq, http::Reply& rp, SearchQuery query,
                 std::optional<Place> scope) {
  if (!scope) throw Error(Errc::conflict, "search_scope_valid", "The scope of the search is not here");
  const auto root = co_await require_node(services, rq, *scope);
  const auto href = scope->href(root.is_folder());

  const auto preferences = preferences_of(rq);
  co_await begin_multistatus(rp, preferences);
  Listing listing(services, rq, rp, query.request, preferences);
  listing.begin();
  // With an order, the scope itself comes first all the same: it is not one of
  // its members.
  const bool syncs = services.tree.for_nextcloud;  // told of members only, and not of what is over the limit
  const bool own = !syncs && matches(query, files::browse_row(root));
  bool whole = !query.limit || *query.limit > 0;
  if (own && whole) {
    co_await listing.own(root, href);
    if (query.limit) --*query.limit;
  }
  if (root.is_folder() && query.depth != Depth::zero)
    whole = co_await search_members(listing, query, root, href) && whole;
  if (!whole && !syncs) listing.more(href);
  co_await listing.end();
}

}  // namespace

Task<> search(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  auto query = co_await read_query(rq);
  const auto here = checked_place(services.tree, rq);
  co_await require_node(services, rq, here);
  auto scope =
      query.scope.empty() ? std::optional<Place>(here) : place_of_tag(services.tree, rq, query.scope);
  co_await search_in(services, rq, rp, std::move(query), std::move(scope));
}

namespace {

Task<> search_above(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  auto query = co_await read_query(rq);
  auto scope = place_of_tag(services.tree, rq, query.scope);
  if (!scope) {
    // Written from where the question was asked: below the last segments of the mount.
    auto above = services.tree;
    above.mount.resize(2);
    scope = place_of_tag(services.tree, rq, std::string(rq.base_path()) + above.path_of({}) + query.scope);
  }
  co_await search_in(services, rq, rp, std::move(query), std::move(scope));
}

}  // namespace

http::Handler search_from_above(const Services& services, Tree tree) {
  return [services = TreeServices{services, std::move(tree)}](http::Request& rq, http::Reply& rp) {
    return search_above(services, rq, rp);
  };
}

}  // namespace welkin::dav
