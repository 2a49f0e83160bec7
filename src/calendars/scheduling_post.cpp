#include "calendars/scheduling_post.hpp"

#include <algorithm>

#include "calendars/invitation_mail.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/calendars/stored.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/mail/message.hpp"

namespace welkin::calendars {
namespace {

using collections::Objects;
using wire::IcalComponent;
namespace members = collections::members;

constexpr db::Stmt kSavepoint{"scheduling.savepoint", "savepoint delivery"};
constexpr db::Stmt kRelease{"scheduling.release", "release savepoint delivery"};
constexpr db::Stmt kBack{"scheduling.back", "rollback to savepoint delivery"};

constexpr std::size_t kRefreshMax =
    50;  // attendees; of larger meetings answers are seen by the organizer alone
constexpr int kMailDays = 3;

// RFC 6638 §3.2.9, and §8.1 of RFC 5546.
constexpr const char *kPending = "1.0", *kDelivered = "1.2", *kUnknown = "3.7", *kNoAuthority = "3.8",
                     *kFailed = "5.1", *kNoMethod = "5.2";

std::string random_name() {
  std::array<std::byte, 16> bytes{};
  crypto::random_bytes(bytes);
  return text::hex(bytes) + ".ics";
}

/// Some clients look for an event under its UID; where that makes no name to quarrel about, it is one.
std::string name_for(const std::string& uid) {
  const bool is_plain = !uid.empty() && uid.size() <= 200 && std::all_of(uid.begin(), uid.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return is_plain ? uid + ".ics" : random_name();
}

std::int16_t kind_bit(const IcalComponent& object) {
  for (const auto& component : object.components)
    if (const auto kind = itip::is_item(component) ? kind_named(component.name) : std::nullopt) return *kind;
  return kEvent;
}

const store::Mailbox::Calendar* calendar_for(const store::Mailbox& box, std::int16_t kind) {
  for (const auto& calendar : box.calendars)
    if ((calendar.components & kind) != 0) return &calendar;
  return nullptr;
}

bool is_over(const IcalComponent& calendar, std::int64_t now) {
  const auto span = describe_object(calendar).span;
  return span && span->last < now;
}

bool declines_all(const IcalComponent& calendar, const itip::Addresses& own) {
  return std::all_of(calendar.components.begin(), calendar.components.end(), [&](const auto& component) {
    const auto* me = itip::is_item(component) ? itip::own_attendee(component, own) : nullptr;
    return me == nullptr || itip::partstat_of(*me) == "DECLINED";
  });
}

bool leaves_it_to_us(const IcalComponent& copy) {
  return std::all_of(copy.components.begin(), copy.components.end(), [](const auto& component) {
    const auto* organizer = itip::is_item(component) ? component.property("ORGANIZER") : nullptr;
    return organizer == nullptr || itip::is_served(*organizer);
  });
}

std::string written(const IcalComponent& object) {
  std::string out;
  wire::append_ical(out, object);
  return out;
}

}  // namespace

Post::Post(db::Tx& tx, const Config& config, std::int64_t now, store::Person sender, std::string uid)
    : tx_(tx), config_(config), now_(now), sender_(std::move(sender)), uid_(std::move(uid)) {
  met_.emplace(sender_.id.value, sender_);
}

db::Uuid Post::new_tag() {
  db::Uuid out;
  crypto::random_bytes(std::as_writable_bytes(std::span(out)));
  return out;
}

void Post::meet(const std::set<std::string>& addresses) {
  for (auto& person : store::people(tx_, {addresses.begin(), addresses.end()})) {
    for (const auto& address : person.addresses) by_address_.emplace(address, person.id.value);
    met_.emplace(person.id.value, std::move(person));
  }
  look_again();
}

void Post::look_again() {
  std::vector<std::int64_t> ids;
  for (const auto& [id, person] : met_) ids.push_back(id);
  copies_ = store::copies(tx_, ids, uid_);
  mailboxes_ = store::mailboxes(tx_, ids);
}

void Post::lock(collections::CollectionId also) {
  std::set<std::int64_t> held;
  // Once more when somebody moved his copy before we had it; what is found then lies still.
  for (int turn = 0; turn < 3; ++turn) {
    std::set<std::int64_t> wanted{also.value};
    for (const auto& copy : copies_) wanted.insert(copy.calendar.value);
    for (const auto& box : mailboxes_) {
      if (box.owner == sender_.id) continue;
      if (box.inbox) wanted.insert(box.inbox.value);
      if (copy_of(box.owner) != nullptr) continue;
      for (const auto kind : {kEvent, kTodo, kJournal})
        if (const auto* calendar = calendar_for(box, kind)) wanted.insert(calendar->id.value);
    }
    if (std::includes(held.begin(), held.end(), wanted.begin(), wanted.end())) return;
    std::vector<collections::CollectionId> ids;
    for (const auto id : wanted) ids.push_back(collections::CollectionId{id});
    members::lock(tx_, std::move(ids));
    held.merge(wanted);
    look_again();
  }
}

const store::Person* Post::person_at(const std::string& address) const {
  const auto id = by_address_.find(address);
  if (id == by_address_.end()) return nullptr;
  const auto found = met_.find(id->second);
  return found == met_.end() ? nullptr : &found->second;
}

store::Copy* Post::copy_of(UserId owner) {
  for (auto& copy : copies_)
    if (copy.owner == owner) return &copy;
  return nullptr;
}

const store::Mailbox* Post::mailbox_of(UserId owner) const {
  for (const auto& box : mailboxes_)
    if (box.owner == owner) return &box;
  return nullptr;
}

std::string Post::deliver(const itip::Message& message) {
  if (const auto* to = person_at(message.to)) return deliver_here(*to, message);
  return message.is_refresh ? std::string() : deliver_by_mail(message);
}

std::string Post::deliver_here(const store::Person& to, const itip::Message& message) {
  tx_.exec(kSavepoint);
  try {
    auto status = message.method == itip::Method::reply ? take_reply(to, message)
                                                        : take_invitation(to, sender_.addresses, message);
    tx_.exec(kRelease);
    return status;
  } catch (const Error&) {
    // His calendar does not take it (it may be full): that is for the sender to see, not to fail by.
    tx_.exec(kBack);
    tx_.exec(kRelease);
    return message.is_refresh ? "" : kFailed;
  }
}

std::string Post::take_invitation(const store::Person& to, const itip::Addresses& organizer,
                                  const itip::Message& message) {
  auto* copy = copy_of(to.id);
  std::optional<IcalComponent> had;
  if (copy != nullptr) {
    had = wire::parse_ical(copy->object.data);
    // An object of that UID that is not this organizer's is not his to write into.
    if (itip::role_of(*had, to.addresses) != itip::Role::attendee ||
        !organizer.contains(itip::organizer_of(*had)))
      return message.is_refresh ? "" : kNoAuthority;
  }
  const auto* before = had ? &*had : nullptr;
  if (message.is_refresh) {
    if (before == nullptr || !leaves_it_to_us(*before)) return "";
    const auto next = itip::apply_request(before, message.calendar, to.addresses);
    if (!itip::same_content(*before, next)) write(*copy, next, false);
    return "";
  }
  if (before == nullptr &&
      (message.method == itip::Method::cancel || declines_all(message.calendar, to.addresses)))
    return kDelivered;
  if (before == nullptr) {
    put_new(to, itip::apply_request(nullptr, message.calendar, to.addresses));
  } else if (leaves_it_to_us(*before)) {
    write(*copy,
          message.method == itip::Method::cancel
              ? itip::apply_cancel(*before, message.calendar)
              : itip::apply_request(before, message.calendar, to.addresses),
          true);
  }
  put_message(to, message);
  return kDelivered;
}

std::string Post::take_reply(const store::Person& to, const itip::Message& message) {
  auto* copy = copy_of(to.id);
  if (copy == nullptr) return kFailed;
  const auto object = wire::parse_ical(copy->object.data);
  if (itip::role_of(object, to.addresses) != itip::Role::organizer) return kNoAuthority;
  const auto next = itip::apply_reply(object, message.calendar);
  if (!next) return kNoAuthority;
  write(*copy, *next, false);
  put_message(to, message);
  refresh_others(to, *next);
  return kDelivered;
}

void Post::refresh_others(const store::Person& organizer, const IcalComponent& object) {
  const auto attendees = itip::served_attendees(object, organizer.addresses);
  if (attendees.size() > kRefreshMax) return;
  for (const auto& address : attendees) {
    const auto* to = person_at(address);
    if (to == nullptr || to->id == sender_.id) continue;
    auto view = itip::view_of(object, address);
    if (!view) continue;
    itip::Message message{address, itip::Method::request,
                          itip::message_of(*std::move(view), itip::Method::request, now_), true};
    take_invitation(*to, organizer.addresses, message);
  }
}

void Post::write(store::Copy& copy, const IcalComponent& object, bool new_tag) {
  Objects::NewObject put;
  put.name = copy.object.name;
  put.data = written(object);
  put.facts = facts_of(put.data, collections::component::kAll);
  const auto done = members::put(tx_, members::owner(copy.owner), copy.calendar, put);
  if (done.verdict != Objects::Written::Verdict::done)
    throw Error(Errc::conflict, "not_delivered", "The copy could not be written");
  if (new_tag) store::set_tag(tx_, copy.calendar, copy.object.name, Post::new_tag());
  copy.object.data = put.data;
}

void Post::put_new(const store::Person& to, const IcalComponent& object) {
  const auto* box = mailbox_of(to.id);
  if (box == nullptr) return;
  const auto* calendar = calendar_for(*box, kind_bit(object));
  if (calendar == nullptr) return;
  Objects::NewObject put;
  put.name = name_for(uid_);
  if (members::find(tx_, calendar->id, put.name)) put.name = random_name();
  put.data = written(object);
  put.facts = facts_of(put.data, collections::component::kAll);
  put.expect.kind = collections::Expect::Kind::must_be_new;
  const auto done = members::put(tx_, members::owner(to.id), calendar->id, put);
  if (done.verdict != Objects::Written::Verdict::done)
    throw Error(Errc::conflict, "not_delivered", "The calendar did not take it");
  store::set_tag(tx_, calendar->id, put.name, Post::new_tag());
  store::Copy copy{to.id, calendar->id, calendar->components, calendar->path, {}};
  copy.object.name = put.name;
  copy.object.data = put.data;
  copies_.push_back(std::move(copy));
}

void Post::put_message(const store::Person& to, const itip::Message& message) {
  const auto* box = mailbox_of(to.id);
  if (box == nullptr || !box->inbox) return;
  Objects::NewObject put;
  put.name = random_name();
  put.data = written(message.calendar);
  put.facts = facts_of(message.calendar);
  put.facts.uid = put.name;  // there may be several of one UID
  members::put(tx_, members::owner(to.id), box->inbox, put);
}

std::string Post::deliver_by_mail(const itip::Message& message) {
  constexpr std::string_view kMailto = "mailto:";
  if (!message.to.starts_with(kMailto)) return kUnknown;
  const auto recipient = message.to.substr(kMailto.size());
  if (!mail::is_address(recipient)) return kUnknown;
  if (config_.mail_host.empty() || sender_.email.empty()) return kNoMethod;
  if (is_over(message.calendar, now_)) return "";
  if (!mails_today_) mails_today_ = store::mails_today(tx_, sender_.id);
  if (++*mails_today_ > static_cast<std::int64_t>(config_.mail_per_day_max)) return kFailed;
  auto calendar = message.calendar;
  for (auto& component : calendar.components) {
    for (auto& property : component.properties) {
      if (property.name != "ATTENDEE" && property.name != "ORGANIZER") continue;
      const auto address = itip::canonical_address(property.value);
      const auto* person = sender_.addresses.contains(address) ? &sender_ : person_at(address);
      if (address.starts_with("user:") && person != nullptr && !person->email.empty())
        property.value = "mailto:" + person->email;
    }
  }
  store::add_mail(tx_,
                  {sender_.id, uid_, recipient,
                   write_invitation(config_, sender_, recipient, calendar, message.method, now_), kMailDays});
  return kPending;
}

}  // namespace welkin::calendars
