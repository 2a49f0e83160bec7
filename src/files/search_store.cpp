#include "files/search_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "files/page_mark.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files::store {
namespace {

// What is asked for, folded as names are; and the drives in which the caller can read anything at all, so
// that the index is asked for those only. The gate decides about each hit. $1 text, $2 subjects, $3 the
// folder of the credential, $4 that of the link, $5 the caller.
constexpr db::Stmt kScope{"files.search_scope", R"(
  select fold_name($1), array(
    select m.drive_id from drive_members m where m.subject_id = any ($2::bigint[]) and m.rights & 1 = 1
    union
    select n.drive_id from grants g join nodes n on n.id = g.node_id
     where g.subject_id = any ($2::bigint[]) and (g.expires_at is null or g.expires_at > now())
    union
    select n.drive_id from nodes n where n.id = $4::bigint),
    case when $3::bigint <> 0 then $3::bigint when $4::bigint <> 0 then $4::bigint
         else coalesce((select d.root_id from drives d where d.owner_id = $5 and d.kind = 1), 0) end)"};

constexpr std::size_t kWordsIndexed = 3;    // looked up in the index, the longest; further ones are compared
constexpr std::size_t kIndexedLetters = 3;  // below, an index of trigrams is of no use

struct Scope {
  std::string text;  // folded
  std::vector<std::int32_t> drives;
  NodeId start;  // where short words are looked for
};

Scope scope_of(db::Tx& tx, const Caller& caller, const SearchQuery& query) {
  const auto rows = tx.one(
      kScope, db::Params(query.text, caller.subjects, caller.root_limit, caller.link_node, caller.user));
  Scope scope;
  scope.text = rows[0].str(0);
  for (const auto id : rows[0].i64_array(1)) scope.drives.push_back(static_cast<std::int32_t>(id));
  scope.start = query.folder ? query.folder : rows[0].id<NodeId>(2);
  return scope;
}

std::size_t letters(std::string_view word) {
  return static_cast<std::size_t>(
      std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// "%word%" with LIKE's own signs escaped.
std::string like_pattern(std::string_view word) {
  std::string out = "%";
  for (const char c : word) {
    if (c == '%' || c == '_' || c == '\\') out += '\\';
    out += c;
  }
  return out += '%';
}

/// The words of a text, the longest first.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const auto word : text::split(text, ' '))
    if (!word.empty()) words.emplace_back(word);
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return letters(a) != letters(b) ? letters(a) > letters(b) : a < b;
  });
  return words;
}

/// What decides the statement's text.
struct Shape {
  SearchOrder order;
  bool reverse, content, after;
  std::size_t words;  // with a pattern of their own
  bool narrow;        // no word is long enough for the index
  std::string name() const {
    return fmt::format("files.search.{}.{}.{}.{}.{}.{}", static_cast<int>(order), reverse, content, after,
                       words, narrow);
  }
};

PageOrder order_of(SearchOrder by, bool reverse) {
  switch (by) {
    case SearchOrder::relevance:
      return {"(to_char(999 - x.rank, 'FM000') || fold_name(n.name)) collate \"C\"", true, reverse};
    case SearchOrder::type:
      return folders_first(kTypeKey, reverse);
    case SearchOrder::modified_at:
      return {kModifiedKey, false, reverse};
    case SearchOrder::created_at:
      return {"n.created_at", false, reverse};
    case SearchOrder::size:
      return {kSizeKey, false, reverse};
    case SearchOrder::name:
      break;
  }
  return folders_first(kNameKey, reverse);
}

// $1 user, $2..$6 the gate, $7 kinds, $8 how many candidates, $9 drives, $10 the folded text, $11 extensions,
// $12 patterns of types, $13 and $14 sizes, $15 and $16 modified, $17 and $18 created, $19 where short words
// are looked for, $20 the one folder or 0, $21 further patterns, $22.. patterns.
constexpr const char* kFilters =
    " n.parent_id is not null and n.kind = any ($7::smallint[]) and n.drive_id = any ($9::integer[])"
    " and (cardinality($11::text[]) = 0 or n.kind = 1"
    "  and lower(substring(n.name from '\\.([^.]+)$')) = any ($11::text[]))"
    " and (cardinality($12::text[]) = 0 or n.kind = 1"
    "  and n.mime in (select t.id from mime_types t where t.name like any ($12::text[])))"
    " and ($13::bigint = 0 and $14::bigint = 9223372036854775807"
    "  or n.kind = 1 and n.size between $13::bigint and $14::bigint)"
    " and ($15::bigint = -9223372036854775808 and $16::bigint = 9223372036854775807 or"
    "  case n.kind when 1 then n.mtime else (select f.changed_at from folders f where f.node_id = n.id) end"
    "  between $15::bigint and $16::bigint)"
    " and n.created_at between $17::bigint and $18::bigint"
    " and ($20::bigint = 0 or n.parent_id = $20::bigint)";
constexpr int kFirstPattern = 22;

constexpr const char* kRank =
    "case when $10 = '' then 0 when fold_name(n.name) = $10 then 100"
    " when starts_with(fold_name(n.name), $10 || '.') then 95 when starts_with(fold_name(n.name), $10) then "
    "80"
    " when position(' ' || $10 in translate(fold_name(n.name), '._-()[]', '       ')) > 0 then 60 else 40 "
    "end";

std::string found_sql(const Shape& shape) {
  std::string likes = " and fold_name(n.name) like all ($21::text[])";
  for (std::size_t i = 0; i < shape.words; ++i)
    likes += fmt::format(" and fold_name(n.name) like ${}", kFirstPattern + i);
  std::string sql = fmt::format("select n.id, {} rank from nodes n where{}{}", kRank, kFilters, likes);
  sql += shape.narrow ? " and n.id in (select c.id from nodes c where c.parent_id = $19::bigint"
                        " union select v.node_id from favorites v where v.user_id = $1"
                        " union select r.node_id from recent r where r.user_id = $1)"
                      : "";
  if (shape.content)
    sql += fmt::format(
        " union all select n.id, 10 + least(29, (ts_rank(t.words, q) * 100)::integer)"
        " from websearch_to_tsquery('simple', $10) q, content_text t join nodes n on n.content_id = "
        "t.content_id"
        " where t.words @@ q and{}",
        kFilters);
  return "select h.id, max(h.rank) rank from (" + sql + ") h group by h.id";
}

std::string search_sql(const Shape& shape) {
  const auto order = order_of(shape.order, shape.reverse);
  return fmt::format(
      "select {0}, c.rank::bigint, c.key from (select n.id, x.rank, {1} as key from ({2}) x join nodes n on "
      "n.id = x.id"
      "{3} where true{4} order by key {5}, n.id {5} limit $8) c join nodes n on n.id = c.id{6}"
      " order by c.key {5}, n.id {5}",
      kFoundColumns, order.key, found_sql(shape), kNodeJoins,
      shape.after ? order.goes_on_after(kFirstPattern + static_cast<int>(shape.words)) : "",
      order.direction(), kFoundJoins);
}

/// "image/" means all of that kind.
std::vector<std::string> type_patterns(const std::vector<std::string>& types) {
  std::vector<std::string> out;
  for (const auto& type : types) {
    const auto pattern = like_pattern(type);
    out.push_back(pattern.substr(1, pattern.size() - (type.ends_with('/') ? 1 : 2)));
  }
  return out;
}

db::Params params_of(const Caller& caller, const SearchQuery& query, const Scope& scope,
                     const std::vector<std::string>& words, std::size_t indexed, std::int64_t candidates) {
  std::vector<std::int16_t> kinds;
  if (query.files) kinds.push_back(1);
  if (query.folders) kinds.push_back(2);
  std::vector<std::string> further;
  for (auto i = indexed; i < words.size(); ++i) further.push_back(like_pattern(words[i]));
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min(),
                 kMax = std::numeric_limits<std::int64_t>::max();
  db::Params params(caller.user);
  add_gate(params, caller)
      .add(kinds)
      .add(candidates)
      .add(scope.drives)
      .add(scope.text)
      .add(query.extensions)
      .add(type_patterns(query.mime_types))
      .add(query.size_min.value_or(0))
      .add(query.size_max.value_or(kMax))
      .add(query.modified_after.value_or(kMin))
      .add(query.modified_before.value_or(kMax))
      .add(query.created_after.value_or(kMin))
      .add(query.created_before.value_or(kMax))
      .add(scope.start)
      .add(query.recursive ? NodeId{} : scope.start)
      .add(further);
  for (std::size_t i = 0; i < indexed; ++i) params.add(like_pattern(words[i]));
  return params;
}

}  // namespace

std::vector<std::int32_t> readable_drives(db::Tx& tx, const Caller& caller) {
  return scope_of(tx, caller, {}).drives;
}

SearchPage search(db::Tx& tx, const Caller& caller, const SearchQuery& query) {
  if (query.folder) require_folder(tx, caller, query.folder);
  tx.script("set local plan_cache_mode = force_custom_plan");
  const auto scope = scope_of(tx, caller, query);
  const auto words = words_of(scope.text);
  const bool narrow = !words.empty() && letters(words[0]) < kIndexedLetters;
  const auto indexed = std::min(words.size(), kWordsIndexed);
  Shape shape{query.order_by, query.reverse, query.content && !words.empty() && !narrow && query.files,
              false,          indexed,       narrow};

  CandidateQuery candidates;
  candidates.order = order_of(query.order_by, query.reverse);
  candidates.signature = fmt::format("s{}{}", static_cast<int>(query.order_by), query.reverse);
  candidates.limit = query.limit;
  candidates.after = query.after;
  candidates.fetch = [&](const std::optional<PageMark>& after, std::int64_t count) {
    auto params = params_of(caller, query, scope, words, indexed, count);
    if (after) add_mark(params, candidates.order, *after);
    shape.after = after.has_value();
    return tx.exec(named_stmt(shape.name(), [&] { return search_sql(shape); }), params);
  };
  if (query.folder)
    candidates.keep = [&](const Found& found) {
      return found.node.id != query.folder &&
             std::find(found.chain.begin(), found.chain.end(), query.folder.value) != found.chain.end();
    };
  auto page = take_page(caller, candidates);
  SearchPage out;
  out.next = std::move(page.next);
  for (auto& item : page.items)
    out.items.push_back({std::move(item.node), static_cast<std::int32_t>(item.number)});
  return out;
}

}  // namespace welkin::files::store
