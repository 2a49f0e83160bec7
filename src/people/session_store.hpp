#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/db/db.hpp"
#include "welkin/people/people.hpp"

/// Rows of `sessions` and `spent_refresh_tokens`. Only hashes of tokens come here.
namespace welkin::people::store {

struct TokenHashes {
  Sha256 access, refresh;
};
struct TokenTimes {
  Micros now = 0, access_expires = 0, refresh_expires = 0, ends = 0;
};

/// At most kSessionsMax sessions of a user are kept; the longest unused ones go.
inline constexpr std::int64_t kSessionsMax = 100;
SessionId insert_session(db::Tx& tx, UserId user, const TokenHashes& hashes, const TokenTimes& times,
                         const Origin& origin);

struct RefreshRow {
  SessionId session;
  UserId user;
  Micros refresh_expires = 0, ends = 0;
  bool is_disabled = false;
};
/// The session this refresh token belongs to now, locked. nullopt: not the current token of any.
std::optional<RefreshRow> lock_by_refresh(db::Tx& tx, const Sha256& refresh);
/// The session that once had this token.
std::optional<RefreshRow> find_by_spent(db::Tx& tx, const Sha256& refresh);
/// Replaces the tokens; the old refresh token is noted as spent.
void rotate(db::Tx& tx, SessionId session, const Sha256& spent, const TokenHashes& hashes,
            const TokenTimes& times);

/// Those that still live, last used first.
std::vector<Session> sessions_of(db::Tx& tx, UserId user, Micros now);
/// @return false: no such session of this user
bool delete_session(db::Tx& tx, SessionId session, UserId user);
std::int64_t delete_sessions(db::Tx& tx, UserId user);

}  // namespace welkin::people::store
