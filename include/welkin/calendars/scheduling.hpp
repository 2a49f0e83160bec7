#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/calendars/filter.hpp"
#include "welkin/calendars/freebusy.hpp"
#include "welkin/collections/collections.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/config.hpp"

namespace welkin::calendars {

/// Invitations (RFC 6638): writing an object that has an organizer and attendees tells those it concerns, in
/// the transaction that writes it. Accounts here get it in their calendars and inboxes, others by mail where
/// a relay is named. Whose event it is, is decided by the owner of the calendar, whoever of those he shares
/// it with writes.
class Scheduling {
 public:
  static constexpr std::size_t kRecipientsMax = 600;  // of one object, over all of its instances
  static constexpr std::size_t kFreeBusyMax = 30;     // attendees of one free-busy request

  Scheduling(db::Db& db, const Config& config, const Clock& clock)
      : db_(db), config_(config), clock_(clock) {}

  /// Without it nothing here is offered, and objects are only kept.
  bool is_on() const { return config_.scheduling; }

  /// What a client has seen of an object that it writes.
  struct Seen {
    std::optional<db::Uuid> tag;  // If-Schedule-Tag-Match: has to be the object's
    bool is_whole = false;        // If-Match: nothing came meanwhile; else answers that came are merged
  };
  struct Stored {
    collections::Objects::Written written;
    std::string data;             // "" when it is what was sent
    collections::Etag etag{};     // of what is stored
    std::optional<db::Uuid> tag;  // of a scheduling object
  };
  /// As Objects::put. @throws Error as there, and forbidden `same_organizer_in_all_components`,
  /// `allowed_organizer_scheduling_object_change`, `allowed_attendee_scheduling_object_change`,
  /// `max_attendees_per_instance`, `unique_scheduling_object_resource`
  Task<Stored> put(Caller caller, collections::Collection calendar, collections::Objects::NewObject object,
                   Seen seen);
  /// As Objects::remove; what was organized is cancelled, what was invited to is declined.
  /// @param tells  false: an attendee leaves without a word (Schedule-Reply: F)
  Task<> remove(Caller caller, collections::Collection calendar, std::string name, collections::Expect expect,
                std::optional<db::Uuid> tag, bool tells);
  /// As Objects::transfer; nobody is told, a new tag is made. @throws Error as there, and forbidden
  /// `unique_scheduling_object_resource` (a second one of the same owner),
  /// `allowed_organizer_scheduling_object_change`: it may not leave its owner
  Task<collections::Objects::Written> transfer(Caller caller, collections::Objects::Transfer what);
  /// As Collections::remove; what is in it and still to come is cancelled or declined.
  /// @throws Error forbidden `default_calendar_needed`
  Task<> remove_calendar(Caller caller, collections::CollectionId id, std::string state);

  /// Where invitations go: a path in the caller's home; "" when he has no calendar.
  Task<std::string> default_calendar(Caller caller);
  /// @throws Error forbidden `valid_schedule_default_calendar_url`: not his own, or takes no events
  Task<> set_default_calendar(Caller caller, std::string path);

  /// A VFREEBUSY request as it came (RFC 6638 §5).
  struct FreeBusyAnswer {
    std::string recipient;  // as asked
    std::string status;     // "2.0;Success"
    std::string calendar;   // "" without success
  };
  /// @throws Error forbidden `valid_calendar_data`, `valid_organizer`, `max_attendees_per_instance`, invalid
  /// `valid_scheduling_message`
  Task<std::vector<FreeBusyAnswer>> free_busy(Caller caller, std::string request);

 private:
  db::Db& db_;
  const Config& config_;
  const Clock& clock_;
};

}  // namespace welkin::calendars
