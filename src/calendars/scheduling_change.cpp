#include "calendars/scheduling_change.hpp"

#include <algorithm>

#include "welkin/calendars/object.hpp"
#include "welkin/calendars/stored.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars {
namespace {

using collections::Objects;
using itip::Role;
using wire::IcalComponent;
namespace members = collections::members;

constexpr db::Stmt kSavepoint{"scheduling.change_savepoint", "savepoint change"};
constexpr db::Stmt kBack{"scheduling.change_back", "rollback to savepoint change"};

constexpr std::size_t kDeliveredMax = std::size_t{32} << 20;  // bytes of one change, over all attendees

std::set<std::string> addresses_in(const IcalComponent& object) {
  std::set<std::string> out;
  for (const auto& component : object.components)
    for (const auto& property : component.properties)
      if (property.name == "ATTENDEE" || property.name == "ORGANIZER")
        out.insert(itip::canonical_address(property.value));
  return out;
}

std::string uid_of(const IcalComponent& object) {
  for (const auto& component : object.components)
    if (itip::is_item(component)) return component.text("UID");
  return "";
}

void require_tag(const store::Place& place, const std::optional<db::Uuid>& tag) {
  if (tag && (!place.object || place.object->schedule_tag != tag))
    throw Error(Errc::precondition_failed, "precondition_failed", "The object was changed by its organizer");
}

[[noreturn]] void refuse_organizer() {
  throw Error(Errc::forbidden, "allowed_organizer_scheduling_object_change",
              "The organizer of an object stays, and it stays with him");
}

[[noreturn]] void refuse_attendee() {
  throw Error(Errc::forbidden, "allowed_attendee_scheduling_object_change",
              "Who is invited cannot make it an object of his own");
}

}  // namespace

Change::Before Change::before(collections::CollectionId calendar, const std::string& name) const {
  auto found = store::place(tx_, calendar, name);
  if (!found) throw Error(Errc::not_found, "not_found", "not found");
  Before out;
  out.place = *std::move(found);
  if (out.place.object) {
    out.object = itip::read_stored(out.place.object->data);
    if (out.object) out.role = itip::role_of(*out.object, out.place.owner.addresses);
  }
  return out;
}

void Change::meet_all(Post& post, const Before& was, const IcalComponent* uploaded) const {
  auto addresses = uploaded == nullptr ? std::set<std::string>() : addresses_in(*uploaded);
  if (was.object) addresses.merge(addresses_in(*was.object));
  if (addresses.size() > Scheduling::kRecipientsMax)
    throw Error(Errc::forbidden, "max_attendees_per_instance", "There are too many attendees");
  post.meet(addresses);
  // Those whom only the organizer knows of are told of an answer, too.
  std::set<std::string> more;
  for (const auto& copy : post.copies())
    if (const auto object = itip::read_stored(copy.object.data); object && copy.owner != was.place.owner.id)
      more.merge(addresses_in(*object));
  std::erase_if(more, [&](const auto& address) { return addresses.contains(address); });
  if (!more.empty() && more.size() <= Scheduling::kRecipientsMax) post.meet(more);
}

/// Everybody is met and locked; what is given back is what stands there then.
Change::Before Change::meet_and_lock(Post& post, Before was, const std::string& name,
                                     const IcalComponent* uploaded) const {
  // Once more when it was changed before we had it: others may be concerned by then. Now it lies still.
  for (int turn = 0; turn < 2; ++turn) {
    meet_all(post, was, uploaded);
    post.lock(was.place.calendar);
    auto now = before(was.place.calendar, name);
    const bool lay_still = now.place.object.has_value() == was.place.object.has_value() &&
                           (!now.place.object || now.place.object->etag == was.place.object->etag);
    was = std::move(now);
    if (lay_still) break;
  }
  return was;
}

void Change::require_only_one(const Post& post, const store::Place& place, const std::string& name) {
  for (const auto& copy : post.copies()) {
    if (copy.owner != place.owner.id || (copy.calendar == place.calendar && copy.object.name == name))
      continue;
    const auto object = itip::read_stored(copy.object.data);
    if (object && itip::role_of(*object, place.owner.addresses) != Role::none)
      throw Error(Errc::forbidden, "unique_scheduling_object_resource",
                  "Another calendar of the same owner has this object already");
  }
}

IcalComponent Change::change_of(Post& post, const Before& was, const IcalComponent& uploaded, Role role,
                                bool merge) const {
  const auto& own = was.place.owner.addresses;
  if (role == Role::attendee && was.role == Role::organizer) refuse_organizer();
  if (role != Role::attendee && was.role == Role::attendee) refuse_attendee();
  if (was.role == Role::organizer && role == Role::none) {
    const auto organizer = itip::organizer_of(uploaded);
    if (!organizer.empty() && !own.contains(organizer)) refuse_organizer();
  }
  auto stored = uploaded;
  std::vector<itip::Message> messages;
  if (role == Role::attendee) {
    auto change = itip::change_as_attendee(was.role == role ? &*was.object : nullptr, uploaded, own, now_);
    stored = std::move(change.stored);
    if (change.reply) messages.push_back(*std::move(change.reply));
  } else if (role == Role::organizer) {
    auto change =
        itip::change_as_organizer(was.role == role ? &*was.object : nullptr, uploaded, own, merge, now_);
    stored = std::move(change.stored);
    messages = std::move(change.messages);
  } else {
    messages = itip::cancel_all(*was.object, own, now_);
  }
  for (const auto& message : messages)
    if (const auto status = post.deliver(message); !status.empty())
      itip::set_status(stored, message.to, status);
  return stored;
}

Scheduling::Stored Change::put(collections::CollectionId calendar, const Objects::NewObject& object,
                               const IcalComponent& uploaded, const Scheduling::Seen& seen) {
  // Most objects concern nobody else: those are written as ever.
  if (itip::organizer_of(uploaded).empty()) members::lock(tx_, {calendar});
  auto was = before(calendar, object.name);
  auto role = itip::role_of(uploaded, was.place.owner.addresses);
  require_tag(was.place, seen.tag);
  if (role != Role::none) itip::require_one_organizer(uploaded);
  Scheduling::Stored out;
  if (role == Role::none && was.role == Role::none && itip::organizer_of(uploaded).empty()) {
    out.written = members::put(tx_, caller_, calendar, object);
    out.etag = collections::etag_of(object.data);
    if (was.place.object && was.place.object->schedule_tag) store::set_tag(tx_, calendar, object.name, {});
    return out;
  }
  // Everybody gets all of it, twice.
  if (role == Role::organizer &&
      itip::served_attendees(uploaded, was.place.owner.addresses).size() * object.data.size() > kDeliveredMax)
    throw Error(Errc::forbidden, "max_resource_size", "The object is too large for so many attendees");
  Post post(tx_, config_, now_, was.place.owner, uid_of(uploaded));
  was = meet_and_lock(post, std::move(was), object.name, &uploaded);
  require_tag(was.place, seen.tag);
  if (role != Role::none) require_only_one(post, was.place, object.name);
  auto put = object;
  tx_.exec(kSavepoint);
  if (role != Role::none || was.role != Role::none) {
    const auto stored = change_of(post, was, uploaded, role, !seen.is_whole);
    if (!itip::same_content(stored, uploaded)) {
      put.data.clear();
      wire::append_ical(put.data, stored);
      put.facts = facts_of(put.data, was.place.components);
      out.data = put.data;
    }
  }
  out.etag = collections::etag_of(put.data);
  out.written = members::put(tx_, caller_, calendar, put);
  if (out.written.verdict != Objects::Written::Verdict::done) {
    // Nobody has heard of anything.
    tx_.exec(kBack);
    return out;
  }
  if (role != Role::none) out.tag = Post::new_tag();
  if (out.tag || (was.place.object && was.place.object->schedule_tag))
    store::set_tag(tx_, calendar, object.name, out.tag);
  return out;
}

void Change::tell_end(Post& post, const Before& was, bool tells) const {
  const auto& own = was.place.owner.addresses;
  if (was.role == Role::organizer) {
    for (const auto& message : itip::cancel_all(*was.object, own, now_)) post.deliver(message);
  } else if (was.role == Role::attendee && tells) {
    if (const auto reply = itip::decline(*was.object, own, now_)) post.deliver(*reply);
  }
}

void Change::remove(collections::CollectionId calendar, const std::string& name,
                    const collections::Expect& expect, const std::optional<db::Uuid>& tag, bool tells) {
  auto was = before(calendar, name);
  if (was.role == Role::none) {
    members::lock(tx_, {calendar});
    was = before(calendar, name);
  }
  if (was.role != Role::none) {
    Post post(tx_, config_, now_, was.place.owner, uid_of(*was.object));
    was = meet_and_lock(post, std::move(was), name, nullptr);
    if (was.object) tell_end(post, was, tells);
  }
  require_tag(was.place, tag);
  members::remove(tx_, caller_, calendar, name, expect);
}

Objects::Written Change::transfer(const Objects::Transfer& what) {
  const auto was = before(what.from, what.name);
  const auto to = store::place(tx_, what.to, what.to_name);
  if (!to) throw Error(Errc::not_found, "not_found", "not found");
  const bool same_owner = to->owner.id == was.place.owner.id;
  if (was.role != Role::none && same_owner && what.copy)
    throw Error(Errc::forbidden, "unique_scheduling_object_resource",
                "Another calendar of the same owner has this object already");
  if (was.role != Role::none && !same_owner && !what.copy) {
    if (was.role == Role::organizer) refuse_organizer();
    refuse_attendee();
  }
  const auto done = members::transfer(tx_, caller_, what);
  const bool is_scheduling = was.object && itip::role_of(*was.object, to->owner.addresses) != Role::none;
  if (done.verdict == Objects::Written::Verdict::done)
    store::set_tag(tx_, what.to, what.to_name, is_scheduling ? std::optional(Post::new_tag()) : std::nullopt);
  return done;
}

void Change::remove_calendar(collections::CollectionId id, const std::string& state, bool keeps_default) {
  const auto place = store::place(tx_, id, "");
  const bool is_own = place && place->owner.id == caller_.user;
  if (is_own && keeps_default && store::is_default(tx_, caller_.user, id))
    throw Error(Errc::forbidden, "default_calendar_needed", "Invitations go to this calendar");
  if (is_own && keeps_default) {
    for (const auto& name : store::scheduling_names(tx_, id)) {
      auto was = before(id, name);
      if (was.role == Role::none) continue;
      const auto span = describe_object(*was.object).span;
      if (span && span->last < now_) continue;  // what is over needs no word
      Post post(tx_, config_, now_, was.place.owner, uid_of(*was.object));
      was = meet_and_lock(post, std::move(was), name, nullptr);
      if (was.object) tell_end(post, was, true);
    }
  }
  members::remove_collection(tx_, caller_, id, state);
}

}  // namespace welkin::calendars
