#include "dav/groupware/sync.hpp"

#include "dav/groupware/answer.hpp"
#include "dav/groupware/filter_reader.hpp"
#include "dav/groupware/home_sync.hpp"
#include "dav/groupware/refusal.hpp"
#include "dav/groupware/sync_state.hpp"

namespace welkin::dav::groupware {
namespace {

struct Question {
  std::optional<std::int64_t> since;  // unset: from the beginning
  std::optional<std::uint64_t> limit;
};

Question read_question(const http::Request& rq, const wire::XmlElement& body,
                       const collections::Collection& collection) {
  const auto asked = read_sync_question(rq, body);
  Question question;
  question.limit = asked.limit;
  if (!asked.token.empty()) {
    question.since = read_token(collection, asked.token);
    if (!question.since) forbid("d:valid-sync-token");
  }
  return question;
}

}  // namespace

Task<> sync_collection(ReportRequest& request) {
  if ((request.target.spot.kind & kHome) != 0) {
    co_await sync_home(request);
    co_return;
  }
  // The collection's row was read before its members are: a token covers everything up to its number, and
  // what changes meanwhile has a later one.
  const auto& collection = *request.target.collection;
  const auto question = read_question(request.rq, request.body, collection);
  const auto query = read_report_props(request.body);
  Answer answer(request.services, request.rq, request.rp, query, request.target.spot);
  if (!query.calendar_data.is_whole())
    answer.set_floating(co_await floating_zone(request.services, request.rq.caller(), collection, nullptr));
  co_await answer.begin();
  const auto href = request.target.spot.href();
  auto list = request.services.collections.objects().list(
      collection.sight(),
      {.after = question.since.value_or(0),
       .until = collection.seq,
       .tombstones = question.since.has_value(),
       .components = 0},
      {.times = (query.needs & needs::kTimes) != 0, .data = (query.needs & needs::kData) != 0});
  std::uint64_t left = question.limit.value_or(UINT64_MAX);
  auto told = question.since.value_or(0);
  bool is_cut = false;
  for (auto page = co_await list.next(); !page.empty() && !is_cut; page = co_await list.next()) {
    for (const auto& row : page) {
      is_cut = left == 0;
      if (is_cut) break;
      --left;
      told = row.seq;
      if (row.deleted) {
        std::string gone = href;
        wire::append_href_segment(gone, row.name);
        answer.status(gone, 404);
      } else {
        answer.member(collection, href, row);
      }
      co_await answer.send_if_long();
    }
    co_await answer.send();
    if (is_cut) break;
  }
  if (is_cut) answer.more(href);
  // A cut list that began with nothing has told of no removals; whoever goes on from 0 is told of them.
  answer.append("<d:sync-token>" + write_token(collection, is_cut ? told : collection.seq) +
                "</d:sync-token>");
  co_await answer.end();
}

}  // namespace welkin::dav::groupware
