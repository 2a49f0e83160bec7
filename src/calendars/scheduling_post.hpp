#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "calendars/itip.hpp"
#include "calendars/scheduling_store.hpp"
#include "welkin/core/config.hpp"

namespace welkin::calendars {

/// Carries the messages of one change inside its transaction: into the calendars and inboxes of those who
/// have an account, into the queue of mails for others. First everybody is met, then all that may be written
/// is locked in one order, then it is delivered.
class Post {
 public:
  /// @param sender  whose change it is; @param uid  of the object
  Post(db::Tx& tx, const Config& config, std::int64_t now, store::Person sender, std::string uid);

  /// Those who have these addresses, their copies of the object and their inboxes. Adds to who is met.
  void meet(const std::set<std::string>& addresses);
  /// Locks the collections of all who were met, and `also`; then looks at the copies again.
  void lock(collections::CollectionId also);

  /// @return the SCHEDULE-STATUS (RFC 6638 §3.2.9), "" when there is none to note
  std::string deliver(const itip::Message& message);

  /// Objects with this UID of those who were met, the sender among them.
  const std::vector<store::Copy>& copies() const { return copies_; }
  const store::Person* person_at(const std::string& address) const;

  static db::Uuid new_tag();

 private:
  std::string deliver_here(const store::Person& to, const itip::Message& message);
  std::string deliver_by_mail(const itip::Message& message);
  std::string take_invitation(const store::Person& to, const itip::Addresses& organizer,
                              const itip::Message& message);
  std::string take_reply(const store::Person& to, const itip::Message& message);
  void refresh_others(const store::Person& organizer, const wire::IcalComponent& object);
  void put_new(const store::Person& to, const wire::IcalComponent& object);
  void write(store::Copy& copy, const wire::IcalComponent& object, bool new_tag);
  void put_message(const store::Person& to, const itip::Message& message);
  store::Copy* copy_of(UserId owner);
  const store::Mailbox* mailbox_of(UserId owner) const;
  void look_again();

  db::Tx& tx_;
  const Config& config_;
  const std::int64_t now_;
  const store::Person sender_;
  const std::string uid_;
  std::map<std::int64_t, store::Person> met_;
  std::map<std::string, std::int64_t> by_address_;
  std::vector<store::Copy> copies_;
  std::vector<store::Mailbox> mailboxes_;
  std::optional<std::int64_t> mails_today_;
};

}  // namespace welkin::calendars
