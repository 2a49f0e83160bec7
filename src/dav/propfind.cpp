#include "dav/propfind.hpp"

#include <deque>

#include "dav/facts.hpp"
#include "dav/resource.hpp"
#include "dav/row_writer.hpp"
#include "dav/viewer.hpp"

namespace welkin::dav {
namespace {

/// One answer on its way out.
class Listing {
 public:
  Listing(const Services& services, http::Request& rq, http::Reply& rp, const PropRequest& request,
          const Preferences& preferences)
      : services_(services),
        caller_(rq.caller()),
        rp_(rp),
        viewer_(viewer_of(services, rq)),
        facts_(services, caller_, request),
        writer_(request, viewer_, preferences.minimal),
        out_(text_) {
    wants_.mime_type = (request.needs & needs::kMimeType) != 0;
    wants_.digests = (request.needs & needs::kDigests) != 0;
    wants_.author = (request.needs & needs::kAuthor) != 0;
  }

  void begin() { out_.begin(kNamespaces); }

  /// The resource that was asked for.
  Task<> own(const files::Node& node, const std::string& href) {
    const auto row = files::browse_row(node);
    co_await facts_.load_one(row, href);
    out_.begin_response(href);
    writer_.propstats(facts_.resource(row, [&] { return href; }), out_);
    out_.end_response();
    ++rows_;
  }

  /// Members of a folder, and with `deep` of those below it.
  Task<> members(NodeId folder, std::int32_t rights, const std::string& href, bool deep) {
    // A folder's members are told after it, when its turn comes: what waits is a number and a path.
    waiting_.push_back({folder, rights, href});
    while (!waiting_.empty() && !full_) {
      const auto next = std::move(waiting_.front());
      waiting_.pop_front();
      co_await one_folder(next, deep);
    }
  }

  Task<> end(const std::string& href) {
    if (full_) {
      out_.begin_response(href);
      out_.status(507, "<D:number-of-matches-within-limits/>");
      out_.end_response();
    }
    out_.end();
    co_await rp_.write(text_);
    co_await rp_.end();
  }

 private:
  struct Folder {
    NodeId id;
    std::int32_t rights;
    std::string href;
  };

  Task<> one_folder(const Folder& folder, bool deep) {
    auto browse = services_.files.browse(caller_, folder.id, folder.rights, wants_);
    co_await facts_.enter(folder.id, folder.href);
    for (auto page = co_await browse.next(); !page.empty(); page = co_await browse.next()) {
      while (!page.empty()) {
        const auto count = co_await facts_.load(page);
        for (const auto& row : page.first(count)) {
          if (deep && rows_ >= kPropfindRowsMax) {
            full_ = true;
            co_return;
          }
          one_row(folder, row);
          if (deep && row.is_folder()) waiting_.push_back({row.id, row.rights, href_of(folder, row)});
        }
        page = page.subspan(count);
        co_await rp_.write(text_);
        text_.clear();
      }
      if (!first_sent_) co_await rp_.flush();
      first_sent_ = true;
    }
  }

  static std::string href_of(const Folder& folder, const files::BrowseRow& row) {
    std::string href = folder.href;
    wire::append_href_segment(href, row.name);
    if (row.is_folder()) href += '/';
    return href;
  }

  void one_row(const Folder& folder, const files::BrowseRow& row) {
    out_.begin_response(folder.href, row.name, row.is_folder());
    writer_.propstats(facts_.resource(row, [&] { return href_of(folder, row); }), out_);
    out_.end_response();
    ++rows_;
  }

  const Services& services_;
  const Caller& caller_;
  http::Reply& rp_;
  Viewer viewer_;
  Facts facts_;
  RowWriter writer_;
  std::string text_;
  wire::Multistatus out_;
  files::BrowseWants wants_;
  std::deque<Folder> waiting_;
  std::size_t rows_ = 0;
  bool full_ = false, first_sent_ = false;
};

}  // namespace

Task<> propfind(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto place = place_of(rq);
  const auto depth = depth_of(rq).value_or(DepthHeader{Depth::infinity});
  auto preferences = preferences_of(rq);
  const auto request = read_propfind(co_await read_xml(rq));
  const auto node = co_await require_node(services, rq, place);
  const bool has_members = node.is_folder() && depth.depth != Depth::zero;
  preferences.no_root = has_members && preferences.no_root;

  if (node.is_folder() && !place.has_slash) rp.set("Content-Location", place.path(true));
  co_await begin_multistatus(rp, preferences);
  Listing listing(services, rq, rp, request, preferences);
  const auto href = place.href(node.is_folder());
  listing.begin();
  if (!has_members || !(preferences.no_root || depth.no_root)) co_await listing.own(node, href);
  if (has_members) co_await listing.members(node.id, node.rights, href, depth.depth == Depth::infinity);
  co_await listing.end(href);
}

}  // namespace welkin::dav
