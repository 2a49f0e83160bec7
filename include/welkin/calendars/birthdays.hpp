#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "welkin/collections/collections.hpp"

namespace welkin::calendars {

/// One day of every year, as it stands in the calendar of birthdays.
struct DateEvent {
  std::string name;  // "….ics": of the book, the card and what the day is
  std::string data;
};

/// The names under which a card's days stand, whether it has them or not. Pure.
std::vector<std::string> date_event_names(std::string_view book_uid, std::string_view card_name);

/// BDAY and ANNIVERSARY of a card as yearly events of a day, made of nothing but the card, so that the same
/// card always gives the same bytes. Days without a year, texts and cards that cannot be read: `--0620` is a
/// day, `---20` and `circa 1800` are none. The 29th of February is the last day of February. Pure.
/// @param card  the bytes of a vCard
std::vector<DateEvent> date_events(std::string_view book_uid, std::string_view card_name,
                                   std::string_view card);

/// The calendar of a user's birthdays: made of his own address books, in his home, written by the server
/// alone. It comes with the first birthday. How far each book was read is kept with what was made of it, so
/// after any crash the rest is read; whoever reads the calendar calls `catch_up` first and sees every change
/// that was answered before.
class Birthdays {
 public:
  explicit Birthdays(db::Db& db) : db_(db) {}

  /// Costs one indexed statement when no book has changed.
  Task<> catch_up(Caller caller);
  /// The same of users whose books have changed and who have not looked. For the scheduler.
  /// @return true: more is waiting
  bool catch_up_turn();

  Task<bool> is_enabled(Caller caller);
  /// Off: the calendar goes; on: it is made anew. @throws Error not_found, forbidden
  Task<> set_enabled(Caller caller, bool enabled);

 private:
  db::Db& db_;
};

}  // namespace welkin::calendars
