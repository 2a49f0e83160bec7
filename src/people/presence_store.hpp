#pragma once
#include <optional>
#include <vector>

#include "welkin/db/db.hpp"
#include "welkin/people/presence.hpp"

/// Rows of `user_statuses`.
namespace welkin::people::store {

/// What counts at `now`: messages that have run out are gone, and nobody is online who was not heard of since
/// `heard_after`, unless he says so himself.
std::optional<Presence> presence(db::Tx& tx, UserId user, Micros now, Micros heard_after);
std::vector<std::pair<UserId, Presence>> presences(db::Tx& tx, const std::vector<std::int64_t>& users,
                                                   Micros now, Micros heard_after);
void set_state(db::Tx& tx, UserId user, const std::string& state, bool is_chosen, Micros now);
void set_message(db::Tx& tx, UserId user, const Presence& said, Micros now);

}  // namespace welkin::people::store
