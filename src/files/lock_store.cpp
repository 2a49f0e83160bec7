#include "files/lock_store.hpp"

#include <algorithm>

#include "files/node_store.hpp"
#include "files/refusals.hpp"

namespace welkin::files::store {
namespace {

#define WELKIN_LOCK_COLUMNS                                                                             \
  "l.token, l.node_id, l.owner_id, (select u.name from users u where u.id = l.owner_id), l.exclusive, " \
  "l.depth_infinity, l.seconds, l.expires_at, l.owner_xml, "                                            \
  "(select n.kind = 2 from nodes n where n.id = l.node_id), l.app, "

// How far up a lock sits is told only to who may see that folder.
constexpr db::Stmt kCovering{
    "files.covering_locks",
    "select " WELKIN_LOCK_COLUMNS
    "case when l.node_id = $1 or (gate(l.node_id, $2, $3, $4, $5, $6)).rights & 1 = 1"
    "  then array_position(g.chain, l.node_id) - 1 else 0 end, '{}'::text[]"
    " from gate($1, $2, $3, $4, $5, $6) g join locks l on l.node_id = any (g.chain)"
    " where g.live and g.rights & 1 = 1 and l.expires_at > now() and (l.depth_infinity or l.node_id = $1)"
    " order by l.created_at, l.token"};

constexpr db::Stmt kOn{"files.locks_on", "select " WELKIN_LOCK_COLUMNS
                                         "0, '{}'::text[] from locks l where l.node_id = any ($1::bigint[])"
                                         " and l.expires_at > now() order by l.created_at, l.token"};

// $7 the membership of the parent counts too, $8 so does what is below, $9 tokens, $10 a new name below $1
constexpr db::Stmt kBlocking{
    "files.blocking_locks",
    "select " WELKIN_LOCK_COLUMNS
    "case when (gate(l.node_id, $2, $3, $4, $5, $6)).rights & 1 = 1"
    "  then coalesce(array_position(g.chain, l.node_id) - 1, 0) else 0 end,"
    " coalesce(way_down($1, l.node_id), '{}')"
    " from gate($1, $2, $3, $4, $5, $6) g join locks l on l.drive_id = g.drive"
    " where g.live and l.expires_at > now()"
    "   and (l.node_id = $1 or l.depth_infinity and l.node_id = any (g.chain)"
    "        or $7 and l.node_id = g.chain[2] or $8 and way_down($1, l.node_id) is not null)"
    "   and not (l.token = any ($9) and (l.owner_id is null or l.owner_id = any ($2)))"
    "   and not (l.app = 2 and l.owner_id = any ($2))"
    " order by l.created_at, l.token limit 100"};

constexpr db::Stmt kIsLocked{
    "files.is_locked",
    "select coalesce((select is_locked(g.chain, case when not $7 then $1 end, case when $7 then $1 end, "
    "g.drive,"
    "  $2, $8, false) from gate($1, $2, $3, $4, $5, $6) g"
    "  where exists (select from locks l where l.drive_id = g.drive and l.expires_at > now())), false)"};

constexpr db::Stmt kLockNode{
    "files.lock_node",
    "select token, above, below from lock_node($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
    "$15, $16)"};
constexpr db::Stmt kByToken{"files.locks_by_token", "select " WELKIN_LOCK_COLUMNS
                                                    "0, '{}'::text[] from locks l"
                                                    " where l.token = any ($1)"};
constexpr db::Stmt kRefresh{
    "files.refresh_lock",
    "update locks l set seconds = coalesce($8, l.seconds),"
    "  expires_at = now() + make_interval(secs => coalesce($8, l.seconds))"
    " from gate($1, $2, $3, $4, $5, $6) g"
    " where l.token = $7 and l.expires_at > now() and l.owner_id = any ($2) and g.live and g.rights & 12 <> 0"
    "   and (l.node_id = $1 or l.depth_infinity and l.node_id = any (g.chain))"};
constexpr db::Stmt kDelete{"files.delete_lock", "select end_lock($1)"};
constexpr db::Stmt kMarkBorn{"files.mark_born",
                             "insert into born_by_lock (node_id, etag_seq) values ($1, $2)"};
constexpr db::Stmt kExpire{
    "files.expire_locks",
    "select end_lock(token) from (select token from locks where expires_at <= now() limit 1000) gone"};
constexpr db::Stmt kPutAway{"files.put_away_unwritten", "select put_away_unwritten($1, 50)"};

// Column `app`.
constexpr std::int16_t kAppWebdav = 1, kAppByHand = 2;

Lock lock_of(const Caller& caller, const db::Row& row) {
  Lock lock;
  lock.token = row.uuid(0);
  row.id_into(1, lock.root);
  row.id_into(2, lock.owner);
  lock.owner_name = row.opt_str(3).value_or("");
  lock.mine = lock.owner && lock.owner == caller.user;
  lock.exclusive = row.boolean(4);
  lock.infinite = row.boolean(5);
  lock.seconds = static_cast<std::uint32_t>(row.i64(6));
  lock.expires_at = row.timestamp(7);
  lock.owner_xml = row.opt_str(8).value_or("");
  lock.on_folder = row.boolean(9);
  lock.levels_up = static_cast<std::size_t>(std::max<std::int64_t>(0, row.i64(11)));
  lock.names_below = row.text_array(12);
  lock.by_hand = row.i64(10) == kAppByHand;
  return lock;
}

std::vector<Lock> locks_of(const Caller& caller, const db::Rows& rows) {
  std::vector<Lock> locks;
  for (const auto row : rows) locks.push_back(lock_of(caller, row));
  return locks;
}

}  // namespace

const db::Stmt kAnyInDrive{"files.any_lock_in_drive",
                           "select exists (select from locks l join nodes n on n.drive_id = l.drive_id"
                           " where n.id = $1 and l.expires_at > now())"};

std::vector<Lock> covering_locks(db::Tx& tx, const Caller& caller, NodeId node) {
  return locks_of(caller, tx.exec(kCovering, find_params(caller, node)));
}

std::vector<Lock> locks_on(db::Tx& tx, const Caller& caller, const std::vector<NodeId>& nodes) {
  std::vector<std::int64_t> ids;
  for (const NodeId node : nodes) ids.push_back(node.value);
  return locks_of(caller, tx.exec(kOn, ids));
}

std::vector<Lock> blocking_locks(db::Tx& tx, const Caller& caller, const Locks::Touch& touch,
                                 const std::vector<db::Uuid>& tokens) {
  auto params = find_params(caller, touch.node);
  params.add(touch.membership).add(touch.deep).add(tokens);
  return locks_of(caller, tx.exec(kBlocking, params));
}

bool is_locked(db::Tx& tx, const Caller& caller, NodeId node, bool is_folder_of_new,
               const std::vector<db::Uuid>& tokens) {
  auto params = find_params(caller, node);
  params.add(is_folder_of_new).add(tokens);
  return tx.one(kIsLocked, params)[0].boolean(0);
}

std::vector<Lock> insert_lock(db::Tx& tx, const Caller& caller, NodeId node, std::int32_t right,
                              const db::Uuid& token, const LockRequest& request) {
  db::Params params(node, caller.user);
  add_gate(params, caller)
      .add(right)
      .add(token)
      .add(request.infinite)
      .add(request.exclusive)
      .add(static_cast<std::int32_t>(request.seconds))
      .add(request.by_hand ? kAppByHand : kAppWebdav)
      .add(request.owner_xml)
      .add(Locks::kPerNodeMax)
      .add(Locks::kPerUserMax);
  db::Rows against;
  try {
    against = tx.exec(kLockNode, params);
  } catch (const db::SqlError& e) {
    rethrow(e, "");
  }
  if (against.empty()) return {};
  std::vector<db::Uuid> tokens;
  for (const auto row : against) tokens.push_back(row.uuid(0));
  auto locks = locks_of(caller, tx.exec(kByToken, tokens));
  for (auto& lock : locks) {
    for (const auto row : against) {
      if (row.uuid(0) != lock.token) continue;
      lock.levels_up = static_cast<std::size_t>(std::max<std::int64_t>(0, row.opt_i64(1).value_or(0)));
      lock.names_below = row.text_array(2);
    }
  }
  return locks;
}

bool refresh_lock(db::Tx& tx, const Caller& caller, NodeId node, const db::Uuid& token,
                  std::optional<std::uint32_t> seconds) {
  auto params = find_params(caller, node);
  params.add(token);
  params.add(seconds ? std::optional<std::int32_t>(static_cast<std::int32_t>(*seconds)) : std::nullopt);
  return tx.exec(kRefresh, params).affected() == 1;
}

void delete_lock(db::Tx& tx, const db::Uuid& token) { tx.exec(kDelete, token); }

void mark_born(db::Tx& tx, NodeId node, std::int64_t seq) { tx.exec(kMarkBorn, node, seq); }

bool expire_locks(db::Tx& tx) { return tx.exec(kExpire).size() == 1000; }

bool put_away_unwritten(db::Tx& tx, std::uint32_t older_than_seconds) {
  return tx.one(kPutAway, static_cast<std::int32_t>(older_than_seconds))[0].boolean(0);
}

}  // namespace welkin::files::store
