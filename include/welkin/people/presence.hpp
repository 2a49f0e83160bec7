#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/task.hpp"
#include "welkin/people/directory.hpp"

namespace welkin::people {

/// Whether somebody is there, and what he says he is doing.
struct Presence {
  std::string state;       // online, away, dnd, busy, invisible, offline: as it counts now
  bool is_chosen = false;  // by himself, not by what his programs say
  std::string message_id;  // of a message that all know; "": his own words
  std::string icon, message;
  std::optional<Micros> clear_at;  // of the message
};

class Presences {
 public:
  /// What nobody has chosen counts for so long after a program was heard of.
  static constexpr Micros kHeardFor = Micros{600} * 1'000'000;
  static constexpr std::int32_t kShownMax = 500;

  Presences(db::Db& db, const Clock& clock) : db_(db), clock_(clock) {}

  /// nullopt: he has never said anything.
  Task<std::optional<Presence>> of(UserId user);
  /// Those the caller may look through who have said anything, himself not among them.
  Task<std::vector<std::pair<Person, Presence>>> of_others(Directory directory, Caller caller);

  /// @throws Error invalid `bad_state`
  Task<> choose(UserId user, std::string state);
  /// What a program says of its user, unless he has chosen himself. @throws Error invalid `bad_state` for
  /// what is neither online nor away
  Task<> heard(UserId user, std::string state);
  /// @param icon  one emoji, or "". @param message  at most 80 characters. @param clear_at  in the future
  /// @throws Error invalid `bad_icon`, `bad_message`, `bad_time`
  Task<> say(UserId user, std::string message_id, std::string icon, std::string message,
             std::optional<Micros> clear_at);
  Task<> say_nothing(UserId user);

 private:
  db::Db& db_;
  const Clock& clock_;
};

}  // namespace welkin::people
