#include "dav/report.hpp"

#include <limits>

#include "dav/filter_files.hpp"
#include "dav/listing.hpp"
#include "dav/sync_token.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/location.hpp"
#include "welkin/files/changes.hpp"

namespace welkin::dav {
namespace {

using files::ChangeLog;
constexpr std::string_view kDav = "DAV:";

struct SyncQuery {
  SyncToken token;
  bool deep = false;
  std::optional<std::size_t> limit;
  PropRequest request;
};

[[noreturn]] void refuse(const char* what) { throw Error(Errc::invalid, "bad_report", what); }

SyncQuery read_query(const wire::XmlElement& body) {
  SyncQuery query;
  const auto* token = body.child(kDav, "sync-token");
  if (token == nullptr) refuse("A DAV:sync-collection names a sync-token, empty for the first time");
  if (!token->trimmed().empty()) {
    auto read = read_sync_token(token->trimmed());
    if (!read) throw Error(Errc::forbidden, "valid-sync-token", "That sync token is none of this server");
    query.token = std::move(*read);
  }
  if (const auto* level = body.child(kDav, "sync-level")) {
    query.deep = text::iequals(level->trimmed(), "infinite") || text::iequals(level->trimmed(), "infinity");
    if (!query.deep && level->trimmed() != "1") refuse("sync-level is 1 or infinite");
  }
  if (const auto* limit = body.child(kDav, "limit")) {
    const auto* results = limit->child(kDav, "nresults");
    const auto number = results == nullptr ? std::nullopt : text::number(results->trimmed());
    if (!number || *number == 0) refuse("A limit names its nresults, at least 1");
    query.limit = *number;
  }
  const auto* prop = body.child(kDav, "prop");
  query.request = read_prop(prop == nullptr ? wire::XmlElement{} : *prop);
  return query;
}

/// The answers of one report. @return the token to go on with
class Sync {
 public:
  Sync(const TreeServices& services, const Caller& caller, const files::Node& folder, const Place& place,
       const SyncQuery& query, Listing& listing)
      : services_(services),
        caller_(caller),
        folder_(folder),
        href_(place.href(true)),
        query_(query),
        listing_(listing) {}

  /// Everything there is. Changes meanwhile are told again by the next report: the token is older than the
  /// list.
  Task<SyncToken> list(SyncToken token) {
    Listing::Walk walk;
    walk.deep = query_.deep;
    walk.after = token.after;
    walk.into_mounts = false;
    walk.rows_max = query_.limit.value_or(std::numeric_limits<std::size_t>::max());
    const auto walked = co_await listing_.members(folder_.id, folder_.rights, href_, walk);
    token.after.clear();
    if (!walked.whole) {
      listing_.more(href_);
      token.after = walked.last;
    }
    co_return token;
  }

  Task<SyncToken> changes(files::ChangePage page) {
    const bool one_by_one = query_.deep && (query_.request.needs & needs::kLocks) != 0;
    while (true) {
      co_await tell(page, one_by_one);
      if (!page.truncated || query_.limit) break;
      page = co_await since(page.token);
    }
    if (page.truncated) listing_.more(href_);
    co_return SyncToken{page.token, {}};
  }

  Task<files::ChangePage> since(std::string token) {
    const auto depth = query_.deep ? ChangeLog::Depth::infinity : ChangeLog::Depth::one;
    const auto limit = std::min<std::size_t>(query_.limit.value_or(kPageItems), ChangeLog::kLimitMax);
    co_return co_await services_.files.change_log().since(caller_, folder_.id, std::move(token), depth,
                                                          static_cast<int>(limit));
  }

 private:
  static constexpr std::size_t kPageItems = 500;

  std::string href_of(const files::Change& change) const {
    std::string href = href_;
    for (const auto name : text::split(change.path, '/')) {
      wire::append_href_segment(href, name);
      href += '/';
    }
    if (change.gone ? !change.was_folder : !change.node.is_folder()) href.pop_back();
    return href;
  }

  Task<> tell(const files::ChangePage& page, bool one_by_one) {
    std::vector<files::BrowseRow> rows;
    std::vector<std::string> hrefs;
    for (const auto& change : page.items) {
      if (change.gone) {
        listing_.gone(href_of(change));
        continue;
      }
      rows.push_back(files::browse_row(change.node));
      hrefs.push_back(href_of(change));
    }
    co_await listing_.some(rows, hrefs, one_by_one);
  }

  const TreeServices& services_;
  const Caller& caller_;
  const files::Node& folder_;
  std::string href_;
  const SyncQuery& query_;
  Listing& listing_;
};

Task<> sync_collection(const TreeServices& services, http::Request& rq, http::Reply& rp, const Place& place,
                       const files::Node& folder, const wire::XmlElement& body) {
  const auto query = read_query(body);
  const auto& caller = rq.caller();
  if (query.deep && (query.limit || !query.token.after.empty()) && query.token.is_listing()) {
    throw Error(Errc::quota_exceeded, "number_of_matches_within_limits",
                "The first list of a whole tree cannot be cut; ask for it without a limit");
  }
  const auto preferences = preferences_of(rq);
  Listing listing(services, rq, rp, query.request, preferences);
  Sync sync(services, caller, folder, place, query, listing);
  // What can be refused is asked for before the answer begins.
  SyncToken token = query.token;
  const bool lists = token.is_listing();
  files::ChangePage page;
  if (!token.state.empty()) page = co_await sync.since(token.state);  // refuses what is none for this folder
  if (token.state.empty()) {
    token.state = co_await services.files.change_log().token(caller, folder.id);
  }
  if (!place.has_slash) rp.set("Content-Location", place.path(true));
  co_await begin_multistatus(rp, preferences);
  listing.begin();
  token = lists ? co_await sync.list(std::move(token)) : co_await sync.changes(std::move(page));
  listing.append("<d:sync-token>" + write_sync_token(token) + "</d:sync-token>");
  co_await listing.end();
}

}  // namespace

Task<> report(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  const auto place = checked_place(services.tree, rq);
  const auto body = co_await read_xml(rq);
  const auto node = co_await require_node(services, rq, place);
  if (!body) refuse("A REPORT says in its body which");
  if (body->is("http://owncloud.org/ns", "filter-files") && node.is_folder()) {
    co_await filter_files(services, rq, rp, place, node, *body);
    co_return;
  }
  if (!body->is(kDav, "sync-collection") || !node.is_folder()) {
    throw Error(Errc::forbidden, "supported_report", "That report is not offered here");
  }
  if (const auto depth = depth_of(rq); depth && depth->depth != Depth::zero) {
    throw Error(Errc::invalid, "bad_depth",
                "The Depth of a sync-collection is 0; how deep it looks says its sync-level");
  }
  co_await sync_collection(services, rq, rp, place, node, *body);
}

}  // namespace welkin::dav
