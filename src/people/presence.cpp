#include "welkin/people/presence.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "people/presence_store.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::people {
namespace {

constexpr std::array<std::string_view, 6> kStates = {"online", "away", "dnd", "busy", "invisible", "offline"};
constexpr std::size_t kMessageCharactersMax = 80;
constexpr std::size_t kIconBytesMax = 64;  // a family of four with skin tones is 41

std::size_t characters(std::string_view s) {
  return static_cast<std::size_t>(std::count_if(
      s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool has_controls(std::string_view s) {
  return std::any_of(s.begin(), s.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Not which emoji there are, which changes every year, but that it is no word: nothing of ASCII but a
/// keycap's digit.
bool may_be_emoji(std::string_view s) {
  constexpr std::string_view keycap = "\xE2\x83\xA3";
  if (s.size() > kIconBytesMax || !text::is_utf8(s)) return false;
  if (s.ends_with(keycap)) s.remove_prefix(1);
  return std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace

Task<std::optional<Presence>> Presences::of(UserId user) {
  const auto now = clock_.now();
  co_return co_await db_.read([&](db::Tx& tx) { return store::presence(tx, user, now, now - kHeardFor); });
}

Task<std::vector<std::pair<Person, Presence>>> Presences::of_others(Directory directory, Caller caller) {
  const auto now = clock_.now();
  std::map<UserId, Person> people;
  std::vector<std::int64_t> ids;
  for (auto& person : co_await directory.visible(caller)) {
    if (person.id == caller.user || ids.size() >= static_cast<std::size_t>(kShownMax)) continue;
    ids.push_back(person.id.value);
    people.emplace(person.id, std::move(person));
  }
  std::vector<std::pair<Person, Presence>> out;
  const auto found =
      co_await db_.read([&](db::Tx& tx) { return store::presences(tx, ids, now, now - kHeardFor); });
  for (const auto& [user, presence] : found) out.emplace_back(people.at(user), presence);
  co_return out;
}

Task<> Presences::choose(UserId user, std::string state) {
  if (std::find(kStates.begin(), kStates.end(), state) == kStates.end())
    throw Error(Errc::invalid, "bad_state", "Invalid status type");
  const auto now = clock_.now();
  co_await db_.write([&](db::Tx& tx) { store::set_state(tx, user, state, true, now); });
}

Task<> Presences::heard(UserId user, std::string state) {
  if (state != "online" && state != "away")
    throw Error(Errc::invalid, "bad_state", "A program says online or away only");
  const auto now = clock_.now();
  co_await db_.write([&](db::Tx& tx) { store::set_state(tx, user, state, false, now); });
}

Task<> Presences::say(UserId user, std::string message_id, std::string icon, std::string message,
                      std::optional<Micros> clear_at) {
  const auto now = clock_.now();
  if (!may_be_emoji(icon)) throw Error(Errc::invalid, "bad_icon", "The icon is not one emoji");
  if (!text::is_utf8(message) || has_controls(message) || characters(message) > kMessageCharactersMax)
    throw Error(Errc::invalid, "bad_message", "The message is longer than 80 characters, or not plain text");
  if (clear_at && *clear_at <= now)
    throw Error(Errc::invalid, "bad_time", "The time to clear the message is in the past");
  Presence said;
  said.message_id = std::move(message_id);
  said.icon = std::move(icon);
  said.message = std::move(message);
  said.clear_at = clear_at;
  co_await db_.write([&](db::Tx& tx) { store::set_message(tx, user, said, now); });
}

Task<> Presences::say_nothing(UserId user) {
  const auto now = clock_.now();
  co_await db_.write([&](db::Tx& tx) { store::set_message(tx, user, {}, now); });
}

}  // namespace welkin::people
