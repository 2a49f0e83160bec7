#include "people/session_store.hpp"

#include "people/names.hpp"

namespace welkin::people::store {
namespace {

constexpr std::size_t kAgentBytesMax = 300;
constexpr std::size_t kAddressBytesMax = 64;

constexpr db::Stmt kInsert{"people.insert_session", R"(
  insert into sessions (user_id, access_hash, refresh_hash, access_expires_at, refresh_expires_at, ends_at,
                        created_at, last_used_at, address, user_agent)
    values ($1, $2, $3, to_timestamp($4 / 1e6), to_timestamp($5 / 1e6), to_timestamp($6 / 1e6),
            to_timestamp($7 / 1e6), to_timestamp($7 / 1e6), $8, $9) returning id)"};
constexpr db::Stmt kDropOldest{"people.drop_oldest_sessions", R"(
  delete from sessions where id in (
    select id from sessions where user_id = $1 order by last_used_at desc, id desc offset $2))"};

constexpr db::Stmt kByRefresh{"people.session_by_refresh", R"(
  select s.id, s.user_id, s.refresh_expires_at, s.ends_at, u.is_disabled
    from sessions s join users u on u.id = s.user_id where s.refresh_hash = $1 for update of s)"};
constexpr db::Stmt kBySpent{"people.session_by_spent_token", R"(
  select s.id, s.user_id, s.refresh_expires_at, s.ends_at, u.is_disabled
    from spent_refresh_tokens t join sessions s on s.id = t.session_id join users u on u.id = s.user_id
   where t.hash = $1)"};
constexpr db::Stmt kSpend{"people.spend_refresh_token", R"(
  insert into spent_refresh_tokens (hash, session_id, spent_at) values ($1, $2, to_timestamp($3 / 1e6)))"};
constexpr db::Stmt kRotate{"people.rotate_session", R"(
  update sessions set access_hash = $2, refresh_hash = $3, access_expires_at = to_timestamp($4 / 1e6),
                      refresh_expires_at = to_timestamp($5 / 1e6), last_used_at = to_timestamp($6 / 1e6)
   where id = $1)"};

constexpr db::Stmt kOfUser{"people.sessions_of_user", R"(
  select id, user_agent, address, created_at, last_used_at, least(refresh_expires_at, ends_at) from sessions
   where user_id = $1 and refresh_expires_at > to_timestamp($2 / 1e6) and ends_at > to_timestamp($2 / 1e6)
   order by last_used_at desc, id desc)"};
constexpr db::Stmt kDelete{"people.delete_session", "delete from sessions where id = $1 and user_id = $2"};
constexpr db::Stmt kDeleteAll{"people.delete_sessions", "delete from sessions where user_id = $1"};

std::optional<RefreshRow> refresh_row(const db::Rows& rows) {
  if (rows.empty()) return std::nullopt;
  RefreshRow r;
  r.session = rows[0].id<SessionId>(0);
  r.user = rows[0].id<UserId>(1);
  r.refresh_expires = rows[0].timestamp(2);
  r.ends = rows[0].timestamp(3);
  r.is_disabled = rows[0].boolean(4);
  return r;
}

}  // namespace

SessionId insert_session(db::Tx& tx, UserId user, const TokenHashes& hashes, const TokenTimes& times,
                         const Origin& origin) {
  const auto made = tx.one(
      kInsert, user, hashes.access, hashes.refresh, times.access_expires, times.refresh_expires, times.ends,
      times.now, clean_line(origin.address, kAddressBytesMax), clean_line(origin.user_agent, kAgentBytesMax));
  tx.exec(kDropOldest, user, kSessionsMax);
  return made[0].id<SessionId>(0);
}

std::optional<RefreshRow> lock_by_refresh(db::Tx& tx, const Sha256& refresh) {
  return refresh_row(tx.exec(kByRefresh, refresh));
}

std::optional<RefreshRow> find_by_spent(db::Tx& tx, const Sha256& refresh) {
  return refresh_row(tx.exec(kBySpent, refresh));
}

void rotate(db::Tx& tx, SessionId session, const Sha256& spent, const TokenHashes& hashes,
            const TokenTimes& times) {
  tx.exec(kSpend, spent, session, times.now);
  tx.exec(kRotate, session, hashes.access, hashes.refresh, times.access_expires, times.refresh_expires,
          times.now);
}

std::vector<Session> sessions_of(db::Tx& tx, UserId user, Micros now) {
  std::vector<Session> all;
  for (const auto row : tx.exec(kOfUser, user, now)) {
    Session s;
    s.id = row.id<SessionId>(0);
    s.user_agent = row.str(1);
    s.address = row.str(2);
    s.created_at = row.timestamp(3);
    s.last_used_at = row.timestamp(4);
    s.expires_at = row.timestamp(5);
    all.push_back(std::move(s));
  }
  return all;
}

bool delete_session(db::Tx& tx, SessionId session, UserId user) {
  return tx.exec(kDelete, session, user).affected() > 0;
}

std::int64_t delete_sessions(db::Tx& tx, UserId user) { return tx.exec(kDeleteAll, user).affected(); }

}  // namespace welkin::people::store
