#include "files/archive_store.hpp"

#include "files/node_store.hpp"

namespace welkin::files::store {
namespace {

constexpr db::Stmt kLeaves{"files.archive_leaves", R"(
  select u.at, n.id, n.kind, n.name, n.size, coalesce(f.changed_at, n.mtime), n.content_id, c.crc32
    from unnest($1::bigint[]) with ordinality u (id, at)
    cross join lateral (select x.id, x.kind, x.name, x.size, x.mtime, x.content_id from nodes x
                         where x.parent_id = u.id offset 0) n
    left join lateral (select y.crc32 from contents y where y.id = n.content_id offset 0) c on true
    left join lateral (select z.changed_at from folders z where z.node_id = n.id and n.kind = 2 offset 0) f on true
   limit $2)"};

// In a database with one huge folder the planner takes every folder for a huge one, and reads all nodes for
// each.
constexpr db::Stmt kIndexesOnly{"files.indexes_only", "select set_config('enable_seqscan', 'off', true)"};

constexpr db::Stmt kCrc32{"files.content_crc32", "select crc32 from contents where id = $1"};

// As for a new request: the account and what the caller proved himself by are still good, and he still reads.
constexpr db::Stmt kStillReads{"files.still_reads", R"(
    select rights from gate($1, $2, $3, $4, $5, $6)
     where ($7 = 0 or exists (select from users u where u.id = $7 and not u.is_disabled))
       and ($8 = 0 or exists (select from sessions s where s.id = $8 and s.ends_at > now()))
       and ($9 = 0 or exists (select from app_passwords a where a.id = $9 and a.revoked_at is null
                                 and (a.expires_at is null or a.expires_at > now()))))"};

}  // namespace

void read_by_index_only(db::Tx& tx) { tx.exec(kIndexesOnly); }

std::vector<Leaf> leaves(db::Tx& tx, const std::vector<std::int64_t>& folders, std::int64_t limit) {
  const auto rows = tx.exec(kLeaves, folders, limit);
  std::vector<Leaf> out;
  out.reserve(static_cast<std::size_t>(rows.size()));
  for (const auto row : rows) {
    Leaf leaf;
    leaf.at = static_cast<std::size_t>(row.i64(0) - 1);
    leaf.id = row.id<NodeId>(1);
    leaf.kind = row.i64(2) == static_cast<int>(Kind::folder) ? Kind::folder : Kind::file;
    leaf.name = row.str(3);
    leaf.modified_at = row.i64(5);
    if (leaf.kind == Kind::file) {
      leaf.size_bytes = static_cast<std::uint64_t>(row.i64(4));
      leaf.content = row.id<ContentId>(6);
      leaf.crc32 = static_cast<std::uint32_t>(row.i32(7));
    }
    out.push_back(std::move(leaf));
  }
  return out;
}

std::uint32_t crc32_of(db::Tx& tx, ContentId content) {
  return static_cast<std::uint32_t>(tx.one(kCrc32, content)[0].i32(0));
}

bool may_still_read(db::Tx& tx, const Caller& caller, NodeId node) {
  auto params = find_params(caller, node);
  params.add(caller.user).add(caller.session).add(caller.app_password);
  const auto rows = tx.exec(kStillReads, params);
  return !rows.empty() && !rows[0].is_null(0) && (rows[0].i32(0) & rights::kRead) != 0;
}

}  // namespace welkin::files::store
