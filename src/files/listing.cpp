#include "files/listing.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files::store {
namespace {

/// How one phase (folders or files) is ordered: the SQL of its key, the type the key travels as, and its
/// tie-break.
struct Ordering {
  const char* key;
  bool key_is_text;
  const char* tie;  // "n.name" (text) or "n.id" (bigint)
  bool sorts;       // no index gives this order
};

Ordering ordering(OrderBy by, Kind kind) {
  const bool folder = kind == Kind::folder;
  switch (by) {
    case OrderBy::modified_at:
      return folder ? Ordering{"f.changed_at", false, "n.id", true}
                    : Ordering{"n.mtime", false, "n.id", false};
    case OrderBy::size:
      return folder ? Ordering{"f.bytes_below", false, "n.id", true}
                    : Ordering{"n.size", false, "n.id", false};
    case OrderBy::created_at:
      return {"n.created_at", false, "n.id", true};
    case OrderBy::type:
      if (!folder)
        return {"coalesce((select m.name from mime_types m where m.id = n.mime), '')", true, "n.name", true};
      break;  // folders are all of one type
    case OrderBy::name:
      break;
  }
  return {"fold_name(n.name)", true, "n.name", false};
}

/// Where a page ended. Opaque to clients, and worth nothing to them: it holds only what they have been shown.
struct Mark {
  Kind kind = Kind::folder;
  std::string key;  // empty where the phase begins
  std::string tie;
  bool inside = false;
};

constexpr char kSeparator = '\x1f';

std::string signature(const ListQuery& q) {
  return fmt::format("1{}{}{}{}", static_cast<int>(q.order_by), q.reverse, q.folders, q.files);
}

std::string write_mark(const ListQuery& q, const Mark& m) {
  std::string plain = signature(q);
  for (const auto& part : {std::string(m.kind == Kind::folder ? "2" : "1"), m.key, m.tie}) {
    plain.push_back(kSeparator);
    plain += part;
  }
  return text::base64url(as_bytes(plain));
}

/// nullopt: not ours, or made for another order; the listing then starts at its beginning.
std::optional<Mark> read_mark(const ListQuery& q) {
  const auto plain = text::from_base64url(q.after);
  if (!plain) return std::nullopt;
  const auto parts = text::split(as_text(*plain), kSeparator);
  if (parts.size() != 4 || parts[0] != signature(q) || (parts[1] != "1" && parts[1] != "2"))
    return std::nullopt;
  Mark m;
  m.kind = parts[1] == "2" ? Kind::folder : Kind::file;
  m.key = parts[2];
  m.tie = parts[3];
  m.inside = true;
  const Ordering o = ordering(q.order_by, m.kind);
  const bool number_key = !o.key_is_text;
  if (number_key && (!text::signed_number(m.key) || !text::signed_number(m.tie))) return std::nullopt;
  if (!text::is_utf8(m.key) || !text::is_utf8(m.tie) || m.key.find('\0') != std::string::npos ||
      m.tie.find('\0') != std::string::npos)
    return std::nullopt;
  return m;
}

/// $1 folder, $2..$6 the gate, $7 limit, $8 and $9 the key to go on after.
std::string phase_sql(const Ordering& o, Kind kind, bool reverse, bool after) {
  const char* direction = reverse ? "desc" : "asc";
  // The folder's own rights hold for every child; only a child with grants of its own is asked about.
  std::string sql = fmt::format(
      "select {}, case when n.flags & 1 = 1 then (select g.rights from gate(n.id, $2, $3, $4, $5, $6) g) "
      "end, {}, {} "
      "from nodes n{} where n.parent_id = $1 and n.kind = {}",
      kNodeColumns, o.key, kFavoriteColumn, kNodeJoins, static_cast<int>(kind));
  if (after)
    sql += fmt::format(" and ({}, {}) {} ($8::{}, $9::{})", o.key, o.tie, reverse ? "<" : ">",
                       o.key_is_text ? "text collate \"C\"" : "bigint",
                       o.key_is_text ? "text collate \"C\"" : "bigint");
  sql += fmt::format(" order by {} {}, {} {} limit $7", o.key, direction, o.tie, direction);
  return sql;
}

/// Statements are few and named by what varies; their texts are made once.
db::Stmt phase_stmt(OrderBy by, Kind kind, bool reverse, bool after) {
  struct Text {
    std::string name, sql;
  };
  static std::mutex mutex;
  static std::map<int, Text> texts;
  const int at = ((static_cast<int>(by) * 3 + static_cast<int>(kind)) * 2 + reverse) * 2 + after;
  const std::lock_guard lock(mutex);
  auto& text = texts[at];
  if (text.name.empty()) {
    text.name = fmt::format("files.page.{}", at);
    text.sql = phase_sql(ordering(by, kind), kind, reverse, after);
  }
  return {text.name.c_str(), text.sql.c_str()};
}

constexpr db::Stmt kCountKind{
    "files.count_kind",
    "select count(*) from (select 1 from nodes where parent_id = $1 and kind = $2 limit $3) x"};

void require_sortable(db::Tx& tx, NodeId folder, Kind kind) {
  const auto rows =
      tx.exec(kCountKind, folder, static_cast<std::int16_t>(kind), Files::kSortedChildrenMax + 1);
  if (rows[0].i64(0) > Files::kSortedChildrenMax)
    throw Error(Errc::unprocessable, "too_many_to_sort",
                fmt::format("this order is offered for up to {} items only; order by name",
                            Files::kSortedChildrenMax));
}

constexpr db::Stmt kFavorites{
    "files.favorites_in",
    "select v.node_id from favorites v join nodes n on n.id = v.node_id"
    " where v.user_id = any ($2::bigint[]) and n.parent_id = $1 order by v.node_id limit 10000"};

/// What is shown of a folder beside what its etag tells: the rights, and the favourites on the page, or of
/// all pages that follow.
void add_version(db::Tx& tx, const Caller& caller, const Found& folder, const ListQuery& query, Page& page) {
  page.version = fmt::format("{}-{:x}", folder.node.etag, folder.node.rights);
  if (query.version_of_all && !page.next.empty()) {
    for (const auto row : tx.exec(kFavorites, folder.node.id, caller.subjects))
      page.version += fmt::format("-{:x}", row.i64(0));
    return;
  }
  for (const auto& node : page.items)
    if (node.is_favorite) page.version += fmt::format("-{:x}", node.id.value);
}

Page page_rows(db::Tx& tx, const Caller& caller, const Found& folder, const ListQuery& query) {
  Page out;
  Mark mark;
  if (!query.after.empty()) mark = read_mark(query).value_or(Mark{});
  const auto limit = static_cast<std::size_t>(query.limit);
  constexpr int kOwnRights = kNodeColumnCount;

  for (const Kind kind : {Kind::folder, Kind::file}) {
    if (kind == Kind::folder ? !query.folders || mark.kind == Kind::file : !query.files) continue;
    const bool after = mark.inside && mark.kind == kind;
    const Ordering order = ordering(query.order_by, kind);
    if (order.sorts) require_sortable(tx, folder.node.id, kind);
    db::Params params(folder.node.id);
    add_gate(params, caller);
    params.add(static_cast<std::int64_t>(limit + 1 - out.items.size()));
    if (after) {
      if (order.key_is_text)
        params.add(mark.key).add(mark.tie);
      else
        params.add(*text::signed_number(mark.key)).add(*text::signed_number(mark.tie));
    }
    for (const auto row : tx.exec(phase_stmt(query.order_by, kind, query.reverse, after), params)) {
      if (out.items.size() == limit) {  // the row too many only tells that there is more
        out.next = write_mark(query, mark);
        return out;
      }
      out.items.push_back(node_of(row));
      auto& node = out.items.back();
      node.rights = row.is_null(kOwnRights) ? folder.node.rights : row.i32(kOwnRights);
      node.is_favorite = row.boolean(kOwnRights + 2);
      mark = {kind, order.key_is_text ? row.str(kOwnRights + 1) : std::to_string(row.i64(kOwnRights + 1)),
              order.key_is_text ? node.name : std::to_string(node.id.value), true};
    }
  }
  return out;
}

}  // namespace

Page page(db::Tx& tx, const Caller& caller, const Found& folder, const ListQuery& query) {
  Page out = page_rows(tx, caller, folder, query);
  add_version(tx, caller, folder, query, out);
  return out;
}

}  // namespace welkin::files::store
