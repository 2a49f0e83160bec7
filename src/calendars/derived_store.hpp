#pragma once
#include "welkin/collections/collections.hpp"

/// Members that the server makes, and what is kept of how they were made.
namespace welkin::calendars::store {

/// @return false: it stood there just so
bool put_derived(db::Tx& tx, collections::CollectionId calendar, const std::string& name,
                 const std::string& data);
bool drop_derived(db::Tx& tx, collections::CollectionId calendar, const std::string& name);

/// An address book that has changed since it was read, or is gone since.
struct Source {
  collections::CollectionId book;
  std::string uid;
  std::int64_t read_to = 0, seq = 0;
  bool is_gone = false;
};
/// Of a user who wants the calendar; at most a few, the longest known first.
std::vector<Source> changed_books(db::Tx& tx, UserId user);
/// A user who has such books; 0: nobody.
UserId user_with_changed_books(db::Tx& tx);

struct Card {
  std::string name;
  std::int64_t seq = 0;
  bool is_gone = false;
  std::string data;
};
std::vector<Card> changed_cards(db::Tx& tx, const Source& source, std::int32_t limit);
/// Names of the cards that were ever in the book.
std::vector<std::string> card_names(db::Tx& tx, collections::CollectionId book);
void set_read_to(db::Tx& tx, const Source& source, std::int64_t seq);
void forget_book(db::Tx& tx, const Source& source);

/// The calendar, under its user's lock; 0: there is none, or he does not want it. @param make  when missing
collections::CollectionId open_birthdays(db::Tx& tx, UserId user, bool make);
bool birthdays_enabled(db::Tx& tx, UserId user);
void switch_birthdays(db::Tx& tx, UserId user, bool enabled);

}  // namespace welkin::calendars::store
