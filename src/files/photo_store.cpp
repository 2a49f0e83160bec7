#include "files/photo_store.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "files/page_mark.hpp"
#include "files/readable.hpp"
#include "files/search_store.hpp"

namespace welkin::files::store {
namespace {

#define WELKIN_TAKEN_AT "coalesce(x.taken_at, n.mtime)"
// $7 drives, $8 patterns of types.
#define WELKIN_PHOTOS                                                                  \
  " from nodes n left join content_facts x on x.content_id = n.content_id"             \
  " where n.drive_id = any ($7::integer[]) and n.kind = 1 and n.parent_id is not null" \
  " and n.mime in (select t.id from mime_types t where t.name like any ($8::text[]))"

// $1 is the user and not asked for, $9 how many candidates, $10 only before, $11 and $12 to go on after.
std::string page_sql(const PageOrder& order, bool after) {
  return fmt::format(
      "select {0}, c.key, c.key from (select n.id, {1} as key" WELKIN_PHOTOS
      " and {1} < $10::bigint and $1::bigint is not null{2} order by key desc, n.id desc limit $9) c"
      " join nodes n on n.id = c.id{3} order by c.key desc, n.id desc",
      kFoundColumns, order.key, after ? order.goes_on_after(11) : "", kFoundJoins);
}

constexpr db::Stmt kMonths{
    "files.photo_months",
    "with item as materialized (select n.id, " WELKIN_READABLE_PLACE " place, " WELKIN_TAKEN_AT
    " taken" WELKIN_PHOTOS " and $1::bigint is not null), " WELKIN_READABLE_GATES
    " select to_char(to_timestamp(i.taken / 1e6) at time zone 'UTC', 'YYYY-MM') as m, count(*)"
    " from item i join visible v on v.id = i.id group by m order by m desc"};

constexpr db::Stmt kFacts{
    "files.photo_facts",
    "select width::bigint, height::bigint, orientation::bigint, taken_at, latitude, longitude,"
    " make, model from content_facts where content_id = $1"};

std::vector<std::string> patterns(bool pictures, bool videos) {
  std::vector<std::string> out;
  if (pictures) out.emplace_back("image/%");
  if (videos) out.emplace_back("video/%");
  return out;
}

db::Params scoped(db::Tx& tx, const Caller& caller, std::vector<std::string> types) {
  db::Params params(caller.user);
  return add_gate(params, caller).add(readable_drives(tx, caller)).add(types);
}

}  // namespace

PhotoPage photos(db::Tx& tx, const Caller& caller, const PhotoQuery& query) {
  tx.script("set local plan_cache_mode = force_custom_plan");
  CandidateQuery candidates;
  candidates.order = {WELKIN_TAKEN_AT, false, true};
  candidates.signature = fmt::format("p{}{}", query.pictures, query.videos);
  candidates.limit = query.limit;
  candidates.after = query.after;
  const auto base = scoped(tx, caller, patterns(query.pictures, query.videos));
  candidates.fetch = [&](const std::optional<PageMark>& after, std::int64_t count) {
    auto params = base;
    params.add(count).add(query.before.value_or(std::numeric_limits<std::int64_t>::max()));
    if (after) add_mark(params, candidates.order, *after);
    return tx.exec(named_stmt(after ? "files.photos_after" : "files.photos",
                              [&] { return page_sql(candidates.order, after.has_value()); }),
                   params);
  };
  auto page = take_page(caller, candidates);
  PhotoPage out;
  out.next = std::move(page.next);
  for (auto& item : page.items) out.items.push_back({std::move(item.node), item.number});
  return out;
}

std::vector<PhotoMonth> photo_months(db::Tx& tx, const Caller& caller) {
  std::vector<PhotoMonth> out;
  for (const auto row : tx.exec(kMonths, scoped(tx, caller, patterns(true, true))))
    out.push_back({row.str(0), row.i64(1)});
  return out;
}

std::optional<PhotoFacts> photo_facts(db::Tx& tx, ContentId content) {
  const auto rows = tx.exec(kFacts, content);
  if (rows.empty()) return std::nullopt;
  const auto row = rows[0];
  const auto real = [&](int column) {
    return row.is_null(column) ? std::nullopt : std::optional<double>(row.f64(column));
  };
  PhotoFacts out{row.opt_i64(0), row.opt_i64(1), row.opt_i64(2), row.opt_i64(3),
                 real(4),        real(5),        row.opt_str(6), row.opt_str(7)};
  if (!out.width && !out.taken_at && !out.latitude && !out.make && !out.model) return std::nullopt;
  return out;
}

}  // namespace welkin::files::store
