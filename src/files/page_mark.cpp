#include "files/page_mark.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "welkin/core/text.hpp"

namespace welkin::files::store {
namespace {

constexpr char kSeparator = '\x1f';            // names hold no control characters
constexpr std::int64_t kMoreCandidates = 500;  // where the first look did not fill the page

std::string write_mark(const CandidateQuery& q, const PageMark& m) {
  return text::base64url(as_bytes(fmt::format("{0}{1}{2}{1}{3}", q.signature, kSeparator, m.key, m.id)));
}

/// nullopt: not ours, or made for another order; the list then starts at its beginning.
std::optional<PageMark> read_mark(const CandidateQuery& q) {
  const auto plain = text::from_base64url(q.after);
  if (!plain) return std::nullopt;
  const auto parts = text::split(as_text(*plain), kSeparator);
  if (parts.size() != 3 || parts[0] != q.signature) return std::nullopt;
  const auto id = text::signed_number(parts[2]);
  if (!id || !text::is_utf8(parts[1]) || parts[1].find('\0') != std::string_view::npos) return std::nullopt;
  if (!q.order.is_text && !text::signed_number(parts[1])) return std::nullopt;
  return PageMark{std::string(parts[1]), *id};
}

}  // namespace

std::string PageOrder::goes_on_after(int key_parameter) const {
  return fmt::format(" and ({}, n.id) {} (${}::{}, ${}::bigint)", key, descends ? "<" : ">", key_parameter,
                     type(), key_parameter + 1);
}

PageOrder folders_first(const std::string& key, bool descends) {
  return {fmt::format("(case n.kind when 2 then '{}' else '{}' end || {}) collate \"C\"", descends ? 1 : 0,
                      descends ? 0 : 1, key),
          true, descends};
}

db::Params& add_mark(db::Params& params, const PageOrder& order, const PageMark& mark) {
  if (order.is_text)
    params.add(mark.key);
  else
    params.add(*text::signed_number(mark.key));
  return params.add(mark.id);
}

CandidatePage take_page(const Caller& caller, const CandidateQuery& query) {
  CandidatePage page;
  std::optional<PageMark> mark;
  if (!query.after.empty()) mark = read_mark(query);
  PageMark last_taken;
  for (std::int64_t candidates = query.limit + 1;; candidates = kMoreCandidates) {
    const auto rows = query.fetch(mark, candidates);
    for (const auto row : rows) {
      constexpr int kKey = kFoundColumnCount + 1;
      mark = PageMark{query.order.is_text ? row.str(kKey) : std::to_string(row.i64(kKey)), row.i64(0)};
      auto found = readable(caller, row);
      if (!found || (query.keep && !query.keep(*found))) continue;
      if (page.items.size() == static_cast<std::size_t>(query.limit)) {
        page.next = write_mark(query, last_taken);  // the one too many only tells that there is more
        return page;
      }
      page.items.push_back({std::move(found->node), row.i64(kFoundColumnCount)});
      last_taken = *mark;
    }
    if (rows.size() < candidates) return page;
  }
}

db::Stmt named_stmt(const std::string& name, const std::function<std::string()>& text) {
  static std::mutex mutex;
  static std::map<std::string, std::string> texts;  // its nodes stay where they are
  const std::lock_guard lock(mutex);
  const auto at = texts.try_emplace(name).first;
  if (at->second.empty()) at->second = text();
  return {at->first.c_str(), at->second.c_str()};
}

}  // namespace welkin::files::store
