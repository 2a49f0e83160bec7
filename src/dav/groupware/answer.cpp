#include "dav/groupware/answer.hpp"

#include <algorithm>

#include "dav/groupware/home_sync.hpp"

namespace welkin::dav::groupware {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
/// How many collections' properties are looked up together: each may have 256 KiB of them.
constexpr std::size_t kTogether = 16;

}  // namespace

Answer::Answer(const Services& services, http::Request& rq, http::Reply& rp, const PropQuery& query,
               const Spot& spot)
    : services_(services),
      rp_(rp),
      query_(query),
      preferences_(preferences_of(rq)),
      view_{rq.caller(), spot.mount, {}, &query.calendar_data, {}, services.scheduling.is_on(), {}, {}},
      user_(rq.caller().name),
      writer_(query, preferences_.minimal),
      out_(text_) {}

Task<> Answer::begin() {
  if ((query_.needs & needs::kAccount) != 0) {
    view_.me = co_await services_.people.me(view_.caller);
    view_.groups = co_await services_.people.directory().groups_of(view_.caller);
  }
  if ((query_.needs & needs::kQuota) != 0)
    view_.use = co_await services_.files.drive_use((co_await services_.files.home(view_.caller)).drive);
  if ((query_.needs & needs::kDefaultCalendar) != 0 && services_.scheduling.is_on())
    view_.default_calendar = co_await services_.scheduling.default_calendar(view_.caller);
  co_await begin_multistatus(rp_, preferences_);
  out_.begin(kNamespaces);
}

void Answer::item(const Item& item) { writer_.propstats(item, view_, out_); }

Task<> Answer::place(const Spot& spot, const people::Person* person, const people::Group* group) {
  std::string token;
  if ((spot.kind & kHome) != 0 && (query_.needs & needs::kHomeState) != 0)
    token = co_await home_token(services_, view_.caller, spot.collection_kind());
  std::vector<collections::Property> stored;
  if ((spot.kind & kHome) != 0 && (query_.needs & needs::kStored) != 0)
    stored = co_await services_.collections.home_properties(view_.caller, spot.collection_kind());
  const auto href = spot.href();
  out_.begin_response(href);
  item({spot.kind, href, spot.user, nullptr, nullptr, stored, {}, person, group, token});
  out_.end_response();
}

Task<> Answer::collections(std::span<const collections::Collection> some) {
  const auto names = query_.stored_names();
  while (!some.empty()) {
    const auto piece = some.first(std::min(kTogether, some.size()));
    some = some.subspan(piece.size());
    std::vector<collections::Property> stored;
    if ((query_.needs & needs::kStored) != 0) {
      std::vector<collections::CollectionId> ids;
      for (const auto& one : piece) ids.push_back(one.id);
      stored = co_await services_.collections.properties(view_.caller, std::move(ids), names);
    }
    for (const auto& one : piece) {
      // They come sorted by collection.
      const auto is_of = [&](const collections::Property& p) { return p.collection == one.id; };
      const auto first = std::find_if(stored.begin(), stored.end(), is_of);
      const auto last = std::find_if_not(first, stored.end(), is_of);
      const auto href = collection_href(view_.mount, user_, one);
      std::vector<collections::Share> shares;
      const bool has_shares = one.is_shared || one.access != collections::Access::own;
      if (has_shares && (query_.needs & needs::kShares) != 0)
        shares = co_await services_.collections.sharing().list(view_.caller, one.id);
      out_.begin_response(href);
      item({kind_of(one), href, user_, &one, nullptr, {first, last}, shares});
      out_.end_response();
    }
    co_await send_if_long();
  }
}

void Answer::member(const collections::Collection& collection, std::string_view href,
                    const collections::ObjectRow& row) {
  href_ = href;
  wire::append_href_segment(href_, row.name);
  out_.begin_response(href_);
  item({collection.kind == collections::Kind::book ? kCardObject : kCalendarObject,
        href_,
        user_,
        &collection,
        &row,
        {}});
  out_.end_response();
}

void Answer::status(std::string_view href, int status, std::string_view condition) {
  out_.begin_response(href);
  out_.status(status, condition);
  out_.end_response();
}

Task<> Answer::send() {
  if (text_.empty()) co_return;
  co_await rp_.write(text_);
  text_.clear();
  if (!first_sent_) co_await rp_.flush();
  first_sent_ = true;
}

Task<> Answer::send_if_long() {
  if (text_.size() >= kPieceBytes) co_await send();
}

Task<> Answer::end() {
  out_.end();
  co_await rp_.write(text_);
  co_await rp_.end();
}

}  // namespace welkin::dav::groupware
