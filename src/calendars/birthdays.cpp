#include "welkin/calendars/birthdays.hpp"

#include <algorithm>

#include "calendars/derived_store.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars {
namespace {

// Cards may hold photos, so few of them are in memory at once; of those a transaction takes a few times as
// many.
constexpr std::int32_t kCardsTogether = 32;
constexpr int kRoundsTogether = 8;

void require_owner(const Caller& caller) {
  if (!caller.user || caller.root_limit) throw Error(Errc::not_found, "not_found", "not found");
}

/// Writes what the cards say now. The calendar is made when there is something to write.
class Writer {
 public:
  Writer(db::Tx& tx, UserId user) : tx_(tx), user_(user), calendar_(store::open_birthdays(tx, user, false)) {}

  void card(const store::Source& book, const store::Card& card) {
    const auto events = card.is_gone ? std::vector<DateEvent>() : date_events(book.uid, card.name, card.data);
    if (!events.empty() && !calendar_) calendar_ = store::open_birthdays(tx_, user_, true);
    if (!calendar_) return;
    for (const auto& event : events) store::put_derived(tx_, calendar_, event.name, event.data);
    for (const auto& name : date_event_names(book.uid, card.name)) {
      const bool is_there = std::any_of(events.begin(), events.end(),
                                        [&](const DateEvent& event) { return event.name == name; });
      if (!is_there) store::drop_derived(tx_, calendar_, name);
    }
  }

  void gone(const store::Source& book) {
    if (calendar_)
      for (const auto& card : store::card_names(tx_, book.book))
        for (const auto& name : date_event_names(book.uid, card)) store::drop_derived(tx_, calendar_, name);
    store::forget_book(tx_, book);
  }

 private:
  db::Tx& tx_;
  UserId user_;
  collections::CollectionId calendar_;
};

/// @return true: there may be more
bool catch_up_some(db::Tx& tx, UserId user) {
  Writer writer(tx,
                user);  // first, because it takes the lock: what is read below nobody else reads meanwhile
  auto books = store::changed_books(tx, user);
  if (books.empty()) return false;
  auto& book = books.front();
  if (book.is_gone) {
    writer.gone(book);
    return true;
  }
  for (int round = 0; round < kRoundsTogether; ++round) {
    const auto cards = store::changed_cards(tx, book, kCardsTogether);
    for (const auto& card : cards) {
      writer.card(book, card);
      book.read_to = card.seq;
    }
    // Numbers follow commit order, so nothing up to the book's own was still on its way.
    if (cards.size() < static_cast<std::size_t>(kCardsTogether)) {
      book.read_to = std::max(book.read_to, book.seq);
      break;
    }
  }
  store::set_read_to(tx, book, book.read_to);
  return true;
}

}  // namespace

Task<> Birthdays::catch_up(Caller caller) {
  if (!caller.user || caller.root_limit) co_return;
  const auto is_behind =
      co_await db_.read([&](db::Tx& tx) { return !store::changed_books(tx, caller.user).empty(); });
  if (!is_behind) co_return;
  while (co_await db_.write([&](db::Tx& tx) { return catch_up_some(tx, caller.user); })) {
  }
}

bool Birthdays::catch_up_turn() {
  const auto user = db_.read_now([](db::Tx& tx) { return store::user_with_changed_books(tx); });
  if (!user) return false;
  db_.write_now([&](db::Tx& tx) { return catch_up_some(tx, user); });
  return true;
}

Task<bool> Birthdays::is_enabled(Caller caller) {
  require_owner(caller);
  co_return co_await db_.read([&](db::Tx& tx) { return store::birthdays_enabled(tx, caller.user); });
}

Task<> Birthdays::set_enabled(Caller caller, bool enabled) {
  require_owner(caller);
  constexpr auto kChanges = rights::kCreate | rights::kDelete;
  if ((caller.rights_mask & kChanges) != kChanges)
    throw Error(Errc::forbidden, "forbidden", "you may not do this here");
  co_await db_.write([&](db::Tx& tx) { store::switch_birthdays(tx, caller.user, enabled); });
  if (enabled) co_await catch_up(caller);
}

}  // namespace welkin::calendars
