#include "dav/groupware/home_sync.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "dav/groupware/answer.hpp"
#include "dav/groupware/refusal.hpp"
#include "dav/groupware/sync_state.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav::groupware {
namespace {

using Mark = collections::Collections::Mark;

constexpr std::size_t kCheckBytes = 6, kStateBytes = 6;

std::string prefix(collections::Kind kind) {
  return kind == collections::Kind::calendar ? "urn:welkin:home:calendars/" : "urn:welkin:home:books/";
}

void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

/// Takes a number off the front; nullopt: there is none.
std::optional<std::uint64_t> take_number(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 63 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= std::uint64_t{byte & 127U} << shift;
    if (byte < 128) return value;
  }
  return std::nullopt;
}

/// Ties a token to its home. No secret: a token that somebody makes up tells him nothing he may not see.
std::string check_of(UserId user, collections::Kind kind, std::string_view payload) {
  const auto digest = crypto::sha256("home " + std::to_string(user.value) + ' ' +
                                     std::to_string(static_cast<int>(kind)) + ' ' + std::string(payload));
  return {digest.begin(), digest.begin() + kCheckBytes};
}

using States = std::map<std::int64_t, Mark>;

States by_id(const std::vector<Mark>& marks) {
  States out;
  for (const auto& mark : marks) out[mark.id.value] = mark;
  return out;
}

/// What a client has seen, and how far it has been told what is new.
class HomeSync {
 public:
  HomeSync(ReportRequest& request, SyncQuestion question)
      : request_(request), question_(std::move(question)), left_(question_.limit.value_or(UINT64_MAX)) {}

  Task<> run() {
    const auto& caller = request_.rq.caller();
    const auto kind = request_.target.spot.collection_kind();
    if (!question_.token.empty()) {
      const auto known = read_home_token(caller.user, kind, question_.token);
      if (!known) forbid("d:valid-sync-token");
      told_ = by_id(*known);
    }
    auto home = co_await request_.services.collections.marked_home(caller, kind);
    const auto gone = co_await find_gone(home);
    const auto query = read_report_props(request_.body);
    Answer answer(request_.services, request_.rq, request_.rp, query, request_.target.spot);
    co_await answer.begin();
    for (const auto& [mark, href] : gone) {
      if (!take()) break;
      answer.status(href, 404);
      told_.erase(mark.id.value);
    }
    for (std::size_t i = 0; i < home.marks.size(); ++i) {
      const auto& mark = home.marks[i];
      const auto seen = told_.find(mark.id.value);
      if (seen != told_.end() && seen->second.state == mark.state) continue;
      if (!take()) break;
      co_await answer.collections({&home.collections[i], 1});
      told_[mark.id.value] = mark;
    }
    if (is_cut_) answer.more(request_.target.spot.href());
    std::vector<Mark> marks;
    for (const auto& [id, mark] : told_) marks.push_back(mark);
    answer.append("<d:sync-token>" + write_home_token(caller.user, kind, marks) + "</d:sync-token>");
    co_await answer.end();
  }

 private:
  bool take() {
    is_cut_ = is_cut_ || left_ == 0;
    if (!is_cut_) --left_;
    return !is_cut_;
  }

  /// With their addresses. A name that something else has meanwhile is told as that, not as gone.
  Task<std::vector<std::pair<Mark, std::string>>> find_gone(const collections::Collections::Home& home) {
    const auto now = by_id(home.marks);
    std::vector<Mark> missing;
    for (const auto& [id, mark] : told_)
      if (!now.contains(id)) missing.push_back(mark);
    std::vector<std::pair<Mark, std::string>> out;
    if (missing.empty()) co_return out;
    std::set<std::string> taken;
    for (const auto& collection : home.collections) taken.insert(collection.path);
    const auto paths = co_await request_.services.collections.former_paths(request_.rq.caller(), missing);
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (!paths[i]) forbid("d:valid-sync-token");
      if (taken.contains(*paths[i])) {
        told_.erase(missing[i].id.value);
        continue;
      }
      auto names = request_.target.spot.names;
      names.push_back(*paths[i]);
      out.emplace_back(missing[i], spot_at(request_.target.spot.mount, std::move(names), true).href());
    }
    co_return out;
  }

  ReportRequest& request_;
  SyncQuestion question_;
  std::uint64_t left_;
  bool is_cut_ = false;
  States told_;
};

}  // namespace

std::string write_home_token(UserId user, collections::Kind kind, const std::vector<Mark>& marks) {
  std::string payload;
  std::int64_t before = 0;
  for (const auto& [id, mark] : by_id(marks)) {
    put_number(payload, static_cast<std::uint64_t>(id - before) << 1 | (mark.is_own ? 1 : 0));
    for (std::size_t i = kStateBytes; i-- > 0;) payload += static_cast<char>(mark.state >> (8 * i));
    before = id;
  }
  return prefix(kind) + text::base64url(as_bytes(check_of(user, kind, payload) + payload));
}

std::optional<std::vector<Mark>> read_home_token(UserId user, collections::Kind kind,
                                                 std::string_view token) {
  const auto before = prefix(kind);
  if (!token.starts_with(before)) return std::nullopt;
  const auto bytes = text::from_base64url(token.substr(before.size()));
  if (!bytes || bytes->size() < kCheckBytes) return std::nullopt;
  auto payload = as_text(*bytes);
  const auto check = payload.substr(0, kCheckBytes);
  payload.remove_prefix(kCheckBytes);
  if (check != check_of(user, kind, payload)) return std::nullopt;
  std::vector<Mark> out;
  std::int64_t id = 0;
  while (!payload.empty()) {
    const auto step = take_number(payload);
    if (!step || payload.size() < kStateBytes) return std::nullopt;
    Mark mark;
    id += static_cast<std::int64_t>(*step >> 1);
    mark.id.value = id;
    mark.is_own = (*step & 1) != 0;
    for (std::size_t i = 0; i < kStateBytes; ++i)
      mark.state = mark.state << 8 | static_cast<unsigned char>(payload[i]);
    payload.remove_prefix(kStateBytes);
    out.push_back(mark);
  }
  return out;
}

Task<std::string> home_token(const Services& services, const Caller& caller, collections::Kind kind) {
  const auto home = co_await services.collections.marked_home(caller, kind);
  co_return write_home_token(caller.user, kind, home.marks);
}

Task<> sync_home(ReportRequest& request) {
  auto question = read_sync_question(request.rq, request.body);
  if (question.is_infinite) forbid("d:sync-traversal-supported");
  HomeSync sync(request, std::move(question));
  co_await sync.run();
}

}  // namespace welkin::dav::groupware
