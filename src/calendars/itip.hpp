#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calendars/series.hpp"
#include "welkin/wire/ical.hpp"

/// Scheduling as a matter of text: what a change of an object means for those who are invited (RFC 6638, RFC
/// 5546). No clock, no database; whom a message reaches, and how, is for `scheduling_*`.
namespace welkin::calendars::itip {

using wire::IcalComponent;
using wire::IcalProperty;

/// A calendar user address so that equal ones are equal: "mailto:bob@example.org" folded, "user:bob" for the
/// path of a principal of ours; others folded as they are.
std::string canonical_address(std::string_view address);
/// All addresses of one person, canonical.
using Addresses = std::set<std::string, std::less<>>;
/// Those of a person of ours.
Addresses addresses_of(std::string_view user_name, std::string_view email);

/// What the owner of a calendar is to an object in it (RFC 6638 §3.1): who is neither has no scheduling.
enum class Role : std::uint8_t { none, organizer, attendee };
Role role_of(const IcalComponent& calendar, const Addresses& own);
/// Of the first component that has one, canonical; "" without.
std::string organizer_of(const IcalComponent& calendar);
/// Whether its SCHEDULE-AGENT leaves the messages to us (§7.1).
bool is_served(const IcalProperty& attendee_or_organizer);
/// Attendees of all components that are served, canonical, without `own`.
std::set<std::string> served_attendees(const IcalComponent& calendar, const Addresses& own);
/// @throws Error forbidden `same_organizer_in_all_components`
void require_one_organizer(const IcalComponent& calendar);

/// What is kept, as far as it can be read; whoever wrote it may have been let write more than we read now.
std::optional<IcalComponent> read_stored(std::string_view data);
/// "VEVENT" and its kin: no zone, nothing inside.
bool is_item(const IcalComponent& component);
/// "NEEDS-ACTION" when it is not said.
std::string partstat_of(const IcalProperty& attendee);
const IcalProperty* attendee_in(const IcalComponent& component, const std::string& canonical);
IcalProperty* attendee_in(IcalComponent& component, const std::string& canonical);
const IcalProperty* own_attendee(const IcalComponent& component, const Addresses& own);
IcalProperty* own_attendee(IcalComponent& component, const Addresses& own);

/// The components of an object by what they stand for. Refers into it.
class Parts {
 public:
  explicit Parts(const IcalComponent& calendar);

  const IcalComponent* master = nullptr;
  std::map<std::string, const IcalComponent*> overrides;  // by slot
  Clocks clocks;

  /// Master for "". nullptr: none.
  const IcalComponent* at(const std::string& slot) const;
  /// Which instance a component is: "" for a master, else its RECURRENCE-ID as an instant.
  std::string slot_of(const IcalComponent& component) const;
  /// Whether the master's series has that instance.
  bool has_instance(const IcalComponent& override_) const;

 private:
  const IcalComponent& calendar_;
};

/// When it is, and how it recurs: equal exactly when an attendee has to think again. Without EXDATE.
std::string timing_of(const IcalComponent& component, const Clocks& clocks);
/// EXDATE as instants.
std::set<std::string> exdates_of(const IcalComponent& component, const Clocks& clocks);
/// What it is about, beside its time: a change is worth a message.
std::string matter_of(const IcalComponent& component);
/// An override that is not where its series has it, or does not take as long.
bool is_shifted(const IcalComponent& override_, const IcalComponent& master, const Clocks& clocks);
/// Whether they say the same in any order.
bool same_content(const IcalComponent& a, const IcalComponent& b);

/// An instance of a series as an override that changes nothing. @param slot  its RECURRENCE-ID
IcalComponent instance_of(const IcalComponent& master, const IcalProperty& slot, const Clocks& clocks);

enum class Method : std::uint8_t { request, cancel, reply };
std::string_view name_of(Method method);

struct Message {
  std::string to;  // canonical
  Method method = Method::request;
  IcalComponent calendar;  // with METHOD
  /// Nobody needs to be told, only copies of ours shall not fall behind.
  bool is_refresh = false;
};

/// What of an object one attendee is told: the instances that include him. nullopt: none does.
std::optional<IcalComponent> view_of(const IcalComponent& calendar, const std::string& attendee);

struct OrganizerChange {
  IcalComponent stored;
  std::vector<Message> messages;
};
/// @param old  what was there and had the organizer's role; nullptr: nothing
/// @param merge  the client may not have seen the answers that came meanwhile: they stay
/// @param now  seconds, DTSTAMP of messages
OrganizerChange change_as_organizer(const IcalComponent* old, const IcalComponent& uploaded,
                                    const Addresses& own, bool merge, std::int64_t now);
/// It is gone for everybody.
std::vector<Message> cancel_all(const IcalComponent& old, const Addresses& own, std::int64_t now);

struct AttendeeChange {
  IcalComponent stored;
  std::optional<Message> reply;
};
/// @param old  what was there and had the attendee's role; nullptr: nothing
/// @throws Error forbidden `allowed_attendee_scheduling_object_change` (RFC 6638 §3.2.2.1)
AttendeeChange change_as_attendee(const IcalComponent* old, const IcalComponent& uploaded,
                                  const Addresses& own, std::int64_t now);
/// DECLINED, unless that is known or it was cancelled.
std::optional<Message> decline(const IcalComponent& old, const Addresses& own, std::int64_t now);

/// What an attendee's copy becomes by a REQUEST. @param copy  nullptr: he has none
IcalComponent apply_request(const IcalComponent* copy, const IcalComponent& message, const Addresses& own);
IcalComponent apply_cancel(const IcalComponent& copy, const IcalComponent& message);
/// nullopt: the one who replies is not invited to what he replies to.
std::optional<IcalComponent> apply_reply(const IcalComponent& object, const IcalComponent& message);

/// SCHEDULE-STATUS (§7.3) of an attendee, or of the organizer, in all components.
void set_status(IcalComponent& calendar, const std::string& canonical, const std::string& status);
/// Parameters that are between a client and its server only.
void strip_scheduling(IcalComponent& component);

// Shared by the roles.
IcalComponent message_of(IcalComponent calendar, Method method, std::int64_t now);
std::string upper(std::string_view text);

}  // namespace welkin::calendars::itip
