#include "dav/listing.hpp"

#include "welkin/core/event.hpp"

namespace welkin::dav {
namespace {

// Rows are written a page at a time, but each may be long: 64 locks, 200 properties.
constexpr std::size_t kTextMax = std::size_t{256} << 10;
constexpr std::size_t kCostOfTurn = 64;

Viewer viewer_of(const TreeServices& services, const http::Request& rq) {
  return {rq.caller(),          std::string(rq.base_path()) + services.tree.principals,
          services.clock.now(), services.tree.instance_id,
          rq.base_url(),        &services.tree.has_preview};
}

std::string href_below(const std::string& folder, const files::BrowseRow& row) {
  std::string href = folder;
  wire::append_href_segment(href, row.name);
  if (row.is_folder()) href += '/';
  return href;
}

/// Lets others of this thread go on.
Task<> pass_turn() {
  Event now;
  now.set();
  co_await now.wait();
}

}  // namespace

std::string Listing::Folder::href() const {
  if (!above) return name;
  std::string href = above->href();
  wire::append_href_segment(href, name);
  return href += '/';
}

Task<bool> Listing::may_look(const Walk& walk) {
  if (looked_at_ >= walk.looked_at_max) co_return false;
  looked_at_ += walk.row_cost;
  since_turn_ += walk.row_cost;
  if (since_turn_ >= kCostOfTurn) {
    since_turn_ = 0;
    co_await pass_turn();
  }
  co_return true;
}

Listing::Listing(const TreeServices& services, http::Request& rq, http::Reply& rp, const PropRequest& request,
                 const Preferences& preferences)
    : services_(services),
      caller_(rq.caller()),
      rp_(rp),
      viewer_(viewer_of(services, rq)),
      facts_(services, caller_, request,
             std::string(rq.base_path()) + services.tree.path_of(rq.caller().name) + '/'),
      writer_(request, viewer_, preferences.minimal),
      out_(text_) {
  wants_.mime_type = (request.needs & needs::kMimeType) != 0;
  wants_.digests = (request.needs & needs::kDigests) != 0;
  wants_.author = (request.needs & needs::kAuthor) != 0;
}

void Listing::begin() { out_.begin(kNamespaces); }

Task<> Listing::own(const files::Node& node, const std::string& href) {
  const auto row = files::browse_row(node);
  co_await facts_.load_one(row, href);
  out_.begin_response(href);
  writer_.propstats(facts_.resource(row, [&] { return href; }), out_);
  out_.end_response();
}

Task<> Listing::send() {
  co_await rp_.write(text_);
  text_.clear();
  // The first page is small, and somebody waits for it.
  if (!first_sent_) co_await rp_.flush();
  first_sent_ = true;
}

Task<Listing::Walked> Listing::members(NodeId folder, std::int32_t rights, const std::string& href,
                                       const Walk& walk) {
  Walked walked;
  rows_ = looked_at_ = 0;
  // A folder inside waits for its turn as a number and a name: memory grows with folders, not with files.
  waiting_.push_back(std::make_shared<const Folder>(Folder{nullptr, href, folder, rights}));
  while (!waiting_.empty()) {
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (!co_await one_folder(next, walk, walked)) {
      walked.whole = false;
      break;
    }
  }
  co_return walked;
}

/// False: a limit was reached.
Task<bool> Listing::one_folder(const std::shared_ptr<const Folder>& folder, const Walk& walk,
                               Walked& walked) {
  const bool limited = walk.deep || walk.rows_max < kRowsMax;
  const std::string href = folder->href();
  auto browse = services_.files.browse(caller_, folder->id, folder->rights, wants_, walk.after);
  co_await browse.start();
  // The folder's own row is out while the database looks for its members.
  if (!first_sent_) co_await send();
  co_await facts_.enter(folder->id, href);
  for (auto page = co_await browse.next(); !page.empty(); page = co_await browse.next()) {
    while (!page.empty()) {
      const auto count = co_await facts_.load(page);
      for (const auto& row : page.first(count)) {
        if (walk.deep && row.is_mount && !walk.into_mounts) {
          out_.begin_response(href, row.name, row.is_folder());
          out_.status(403, "<d:sync-traversal-supported/>");
          out_.end_response();
          continue;
        }
        if (walk.deep && row.is_folder())
          waiting_.push_back(
              std::make_shared<const Folder>(Folder{folder, std::string(row.name), row.id, row.rights}));
        if (walk.wanted) {
          if (!co_await may_look(walk)) co_return false;
          if (!walk.wanted(row, href)) continue;
        }
        if (limited && rows_ >= walk.rows_max) co_return false;
        ++rows_;
        out_.begin_response(href, row.name, row.is_folder());
        writer_.propstats(facts_.resource(row, [&] { return href_below(href, row); }), out_);
        out_.end_response();
        if (limited) walked.last = row.name;
        if (text_.size() >= kTextMax) co_await send();
      }
      page = page.subspan(count);
      co_await send();
    }
  }
  co_return true;
}

Task<> Listing::some(std::span<const files::BrowseRow> rows, const std::vector<std::string>& hrefs,
                     bool one_by_one) {
  for (std::size_t done = 0; done < rows.size();) {
    std::size_t count = 1;
    if (one_by_one) {
      co_await facts_.load_one(rows[done], hrefs[done]);
    } else {
      count = co_await facts_.load(rows.subspan(done));
    }
    for (const auto end = done + count; done < end; ++done) {
      out_.begin_response(hrefs[done]);
      writer_.propstats(facts_.resource(rows[done], [&] { return hrefs[done]; }), out_);
      out_.end_response();
      if (text_.size() >= kTextMax) co_await send();
    }
    co_await send();
  }
}

void Listing::gone(const std::string& href) {
  out_.begin_response(href);
  out_.status(404);
  out_.end_response();
}

void Listing::more(const std::string& href) {
  out_.begin_response(href);
  out_.status(507, "<d:number-of-matches-within-limits/>");
  out_.end_response();
}

Task<> Listing::end() {
  out_.end();
  co_await rp_.write(text_);
  co_await rp_.end();
}

}  // namespace welkin::dav
