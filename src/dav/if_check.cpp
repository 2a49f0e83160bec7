#include "dav/if_check.hpp"

#include <algorithm>
#include <map>

#include "dav/sync_token.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/changes.hpp"

namespace welkin::dav {
namespace {

/// What conditions can ask of one resource.
struct State {
  std::string etag;  // with quotes; "" for what is not there
  std::vector<files::LockToken> tokens;
  NodeId folder;                     // 0: it is none
  std::vector<std::string> current;  // sync tokens that say what it is like now
};

Task<State> state_of(const TreeServices& services, const http::Request& rq, const files::Located& at) {
  State state;
  const auto& node = at.node ? at.node : at.parent;
  if (!node) co_return state;
  if (at.node && at.node->is_folder()) state.folder = at.node->id;
  if (at.node) state.etag = '"' + at.node->etag + '"';
  for (const auto& lock : co_await services.files.locks().covering(rq.caller(), node->id)) {
    if (at.node || lock.infinite) state.tokens.push_back(lock.token);
  }
  co_return state;
}

bool holds(const wire::IfCondition& condition, const State& state) {
  bool matches = false;
  if (condition.is_etag) {
    matches = condition.value == state.etag;  // strong: a weak tag equals none of ours
  } else if (const auto token = files::parse_lock_token(condition.value)) {
    matches = std::find(state.tokens.begin(), state.tokens.end(), *token) != state.tokens.end();
  } else {
    matches = std::find(state.current.begin(), state.current.end(), condition.value) != state.current.end();
  }
  return matches != condition.negated;
}

/// Walks the header, looking up each resource once.
class Check {
 public:
  Check(const TreeServices& services, const http::Request& rq, const Place& place,
        const files::Located& target)
      : services_(services), rq_(rq), place_(place), target_(target) {}

  Task<IfVerdict> run(const wire::IfHeader& header) {
    IfVerdict verdict;
    verdict.holds = false;
    for (const auto& list : header.lists) {
      State* const state = co_await find(list);
      co_await ask_sync_tokens(list, *state);
      for (const auto& condition : list.conditions)
        verdict.asked_etag = verdict.asked_etag || (condition.is_etag && state == own_);
      const auto all = [&](const wire::IfCondition& condition) { return holds(condition, *state); };
      verdict.holds = verdict.holds || std::all_of(list.conditions.begin(), list.conditions.end(), all);
    }
    co_return verdict;
  }

 private:
  /// RFC 6578 §5: a sync token is true of a folder that has not changed since.
  Task<> ask_sync_tokens(const wire::IfList& list, State& state) {
    for (const auto& condition : list.conditions) {
      if (condition.is_etag || !state.folder) continue;
      const auto token = read_sync_token(condition.value);
      if (!token || !token->after.empty()) continue;
      if (co_await services_.files.change_log().is_current(rq_.caller(), state.folder, token->state)) {
        state.current.push_back(condition.value);
      }
    }
  }

  Task<State*> find(const wire::IfList& list) {
    std::optional<Place> at = place_;
    if (list.tagged) at = place_of_tag(services_.tree, rq_, list.resource);
    if (!at) co_return &nowhere_;
    const auto [found, is_new] = states_.try_emplace(at->names);
    State& state = found->second;
    if (at->names == place_.names) own_ = &state;
    if (!is_new) co_return &state;
    if (own_ == &state) {
      state = co_await state_of(services_, rq_, target_);
    } else {
      state = co_await state_of(services_, rq_, co_await services_.files.locate(rq_.caller(), at->names));
    }
    co_return &state;
  }

  const TreeServices& services_;
  const http::Request& rq_;
  const Place& place_;
  const files::Located& target_;
  State nowhere_;
  std::map<std::vector<std::string>, State> states_;
  const State* own_ = nullptr;
};

void submit(std::vector<files::LockToken>& tokens, std::string_view uri) {
  const auto token = files::parse_lock_token(uri);
  if (token && std::find(tokens.begin(), tokens.end(), *token) == tokens.end()) tokens.push_back(*token);
}

}  // namespace

Submitted read_if(const http::Request& rq) {
  Submitted out;
  const auto refuse = [](const char* what) {
    throw Error(Errc::invalid, "bad_if", std::string("The If header cannot be read: ") + what);
  };
  for (const auto& field : rq.headers()) {
    if (!text::iequals(field.name, "if")) continue;
    if (out.present) refuse("it stands there twice");
    out.present = true;
    auto parsed = wire::parse_if(field.value);
    if (parsed.fault) refuse(parsed.fault);
    out.header = std::move(parsed.header);
  }
  for (const auto& list : out.header.lists) {
    for (const auto& condition : list.conditions) {
      if (!condition.is_etag) submit(out.tokens, condition.value);
    }
  }
  if (!out.present) {
    auto token = text::trim(rq.header("lock-token"));
    if (token.starts_with('<') && token.ends_with('>')) token = token.substr(1, token.size() - 2);
    submit(out.tokens, token);
  }
  return out;
}

Task<IfVerdict> check_if(const TreeServices& services, const http::Request& rq, const Submitted& submitted,
                         const Place& place, const files::Located& target) {
  if (!submitted.present) co_return IfVerdict{};
  Check check(services, rq, place, target);
  co_return co_await check.run(submitted.header);
}

Task<IfVerdict> require_if(const TreeServices& services, const http::Request& rq, const Submitted& submitted,
                           const Place& place, const files::Located& target) {
  const auto verdict = co_await check_if(services, rq, submitted, place, target);
  if (!verdict.holds) throw Error(Errc::precondition_failed, "if_failed", "No list of the If header is true");
  co_return verdict;
}

namespace {
Task<> obey(const TreeServices& services, const http::Handler& next, http::Request& rq, http::Reply& rp) {
  if (const auto submitted = read_if(rq); submitted.present) {
    const auto place = checked_place(services.tree, rq);
    const auto at = co_await services.files.locate(rq.caller(), place.names);
    co_await require_if(services, rq, submitted, place, at);
  }
  co_await next(rq, rp);
}
}  // namespace

http::Middleware obey_if(const TreeServices& services) {
  return [services](const http::Handler& next, http::Request& rq, http::Reply& rp) {
    return obey(services, next, rq, rp);
  };
}

}  // namespace welkin::dav
