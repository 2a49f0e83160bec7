#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calendars/itip.hpp"
#include "welkin/collections/members.hpp"

namespace welkin::calendars::store {

using collections::CollectionId;

struct Person {
  UserId id;
  std::string name, email, display_name;
  itip::Addresses addresses;
};

/// Whose calendar it is, and what stands under a name in it.
struct Place {
  Person owner;
  CollectionId calendar;
  std::int16_t components = 0;
  std::optional<collections::Object> object;
};
/// nullopt: there is no such collection.
std::optional<Place> place(db::Tx& tx, CollectionId calendar, const std::string& name);

/// Those who have one of these canonical addresses.
std::vector<Person> people(db::Tx& tx, const std::vector<std::string>& addresses);

/// An object in somebody's own calendar.
struct Copy {
  UserId owner;
  CollectionId calendar;
  std::int16_t components = 0;
  std::string path;  // of the calendar
  collections::Object object;
};
/// Every object with this UID in calendars that these people own.
std::vector<Copy> copies(db::Tx& tx, const std::vector<std::int64_t>& owners, const std::string& uid);

/// Where new things go.
struct Mailbox {
  UserId owner;
  CollectionId inbox;  // 0: none
  struct Calendar {
    CollectionId id;
    std::int16_t components = 0;
    std::string path;
  };
  std::vector<Calendar> calendars;  // the default one first
};
std::vector<Mailbox> mailboxes(db::Tx& tx, const std::vector<std::int64_t>& owners);

/// @param tag  nullopt: it is no scheduling object
void set_tag(db::Tx& tx, CollectionId calendar, const std::string& name, const std::optional<db::Uuid>& tag);

/// Names of the scheduling objects of a calendar.
std::vector<std::string> scheduling_names(db::Tx& tx, CollectionId calendar);

std::string default_path(db::Tx& tx, UserId user);
bool is_default(db::Tx& tx, UserId user, CollectionId calendar);
/// False: it is not his, or takes no events.
bool set_default(db::Tx& tx, UserId user, const std::string& path);

/// What may keep somebody busy: events around a span, by the clock of their calendar.
struct BusyKey {
  std::int64_t id = 0;
  std::string zone;  // an IANA name, "" for none
  std::string uid;
};
std::vector<BusyKey> busy_keys(db::Tx& tx, UserId user, std::int64_t from, std::int64_t to);
/// Their bytes, in the order of the keys; those that are gone are left out.
struct BusyBody {
  std::int64_t id = 0;
  std::string data;
};
std::vector<BusyBody> busy_bodies(db::Tx& tx, const std::vector<std::int64_t>& ids);
/// The stored element of C:calendar-availability of his inbox, "" without.
std::string availability(db::Tx& tx, UserId user);

struct OldMessage {
  UserId owner;
  CollectionId inbox;
  std::string name;
};
/// Messages in inboxes that are 90 days old, in an order that several may lock in.
std::vector<OldMessage> old_messages(db::Tx& tx, std::int32_t many);

// --- mails on their way out

struct NewMail {
  UserId user;
  std::string uid, recipient, message;
  int days = 0;  // until nobody tries any more
};
void add_mail(db::Tx& tx, const NewMail& mail);
/// How many of the user's mails were made within a day.
std::int64_t mails_today(db::Tx& tx, UserId user);

struct DueMail {
  std::int64_t id = 0;
  UserId user;
  std::string uid, recipient, message;
  std::int32_t tries = 0;
  bool is_expired = false;
};
/// Takes the next one for a while: who dies with it leaves it to be tried again.
std::optional<DueMail> take_mail(db::Tx& tx, int lease_seconds);
void retry_mail(db::Tx& tx, std::int64_t id, int seconds, const std::string& reason);
void end_mail(db::Tx& tx, std::int64_t id, bool sent, const std::string& reason);
void forget_mails(db::Tx& tx);

}  // namespace welkin::calendars::store
