#include "people/presence_store.hpp"

// $1 users, $2 now, $3 heard after
#define WELKIN_PRESENCE                                                                                     \
  "select user_id, case when is_chosen or seen_at > to_timestamp($3 / 1e6) then state else 'offline' end, " \
  "is_chosen, "                                                                                             \
  "case when live then message_id else '' end, case when live then icon else '' end, "                      \
  "case when live then message else '' end, case when live then clear_at end "                              \
  "from user_statuses, lateral (select clear_at is null or clear_at > to_timestamp($2 / 1e6) live) l "

namespace welkin::people::store {
namespace {

constexpr db::Stmt kPresences{"people.presences", WELKIN_PRESENCE "where user_id = any($1)"};
constexpr db::Stmt kSetState{"people.set_state", R"(
  insert into user_statuses as s (user_id, state, is_chosen, seen_at) values ($1, $2, $3, to_timestamp($4 / 1e6))
  on conflict (user_id) do update set
    state = case when s.is_chosen and not excluded.is_chosen then s.state else excluded.state end,
    is_chosen = s.is_chosen or excluded.is_chosen, seen_at = excluded.seen_at)"};
constexpr db::Stmt kSetMessage{"people.set_message", R"(
  insert into user_statuses (user_id, message_id, icon, message, clear_at, seen_at)
  values ($1, $2, $3, $4, to_timestamp($5::bigint / 1e6), to_timestamp($6 / 1e6))
  on conflict (user_id) do update set message_id = excluded.message_id, icon = excluded.icon,
    message = excluded.message, clear_at = excluded.clear_at, seen_at = excluded.seen_at)"};

Presence read(const db::Row& row) {
  Presence p;
  p.state = row.str(1);
  p.is_chosen = row.boolean(2);
  p.message_id = row.str(3);
  p.icon = row.str(4);
  p.message = row.str(5);
  p.clear_at = row.opt_timestamp(6);
  return p;
}

}  // namespace

std::vector<std::pair<UserId, Presence>> presences(db::Tx& tx, const std::vector<std::int64_t>& users,
                                                   Micros now, Micros heard_after) {
  std::vector<std::pair<UserId, Presence>> out;
  for (const auto row : tx.exec(kPresences, users, now, heard_after))
    out.emplace_back(row.id<UserId>(0), read(row));
  return out;
}

std::optional<Presence> presence(db::Tx& tx, UserId user, Micros now, Micros heard_after) {
  auto found = presences(tx, {user.value}, now, heard_after);
  if (found.empty()) return std::nullopt;
  return std::move(found.front().second);
}

void set_state(db::Tx& tx, UserId user, const std::string& state, bool is_chosen, Micros now) {
  tx.exec(kSetState, user, state, is_chosen, now);
}

void set_message(db::Tx& tx, UserId user, const Presence& said, Micros now) {
  tx.exec(kSetMessage, user, said.message_id, said.icon, said.message, said.clear_at, now);
}

}  // namespace welkin::people::store
