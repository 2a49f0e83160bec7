// When others are busy, as the outbox is asked (RFC 6638 §5).
#include <algorithm>

#include "calendars/itip.hpp"
#include "calendars/scheduling_store.hpp"
#include "welkin/calendars/scheduling.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

using wire::IcalComponent;
using wire::IcalProperty;

struct Question {
  IcalComponent request;  // the VFREEBUSY
  TimeRange range;
  std::string masked_uid;  // an event that does not count: the one being moved
  std::vector<const IcalProperty*> attendees;
};

[[noreturn]] void refuse(const char* why) { throw Error(Errc::invalid, "valid_scheduling_message", why); }

IcalComponent request_in(const IcalComponent& calendar) {
  if (!text::iequals(text::trim(calendar.value("METHOD")), "REQUEST")) refuse("The METHOD is REQUEST");
  const IcalComponent* found = nullptr;
  for (const auto& component : calendar.components) {
    if (component.name == "VTIMEZONE") continue;
    if (component.name != "VFREEBUSY" || found != nullptr) refuse("A request holds one VFREEBUSY");
    found = &component;
  }
  if (found == nullptr) refuse("A request holds one VFREEBUSY");
  return *found;
}

void read(Question& out, const IcalComponent& calendar) {
  out.request = request_in(calendar);
  const auto& request = out.request;
  const auto start = wire::parse_ical_time(request.value("DTSTART")),
             end = wire::parse_ical_time(request.value("DTEND"));
  if (!start || !end || !start->is_utc || !end->is_utc || start->local_seconds >= end->local_seconds)
    refuse("A request has a DTSTART and a later DTEND, both in UTC");
  constexpr std::int64_t kSpanMax = 400 * wire::kDaySeconds;
  if (end->local_seconds - start->local_seconds > kSpanMax) refuse("A request spans 400 days at most");
  if (request.property("ORGANIZER") == nullptr || request.value("UID").empty())
    refuse("A request has an ORGANIZER and a UID");
  out.range = {start->local_seconds, end->local_seconds};
  out.masked_uid = request.text("X-CALENDARSERVER-MASK-UID");
  std::set<std::string> seen;
  for (const auto& property : request.properties)
    if (property.name == "ATTENDEE" && seen.insert(itip::canonical_address(property.value)).second)
      out.attendees.push_back(&property);
  if (out.attendees.empty()) refuse("A request has an ATTENDEE");
  if (out.attendees.size() > Scheduling::kFreeBusyMax)
    throw Error(Errc::forbidden, "max_attendees_per_instance", "A request asks about 30 people at most");
}

/// Text of an element as we have written it.
std::string element_text(std::string_view element) {
  const auto from = element.find('>'), to = element.rfind("</");
  if (from == element.npos || to == element.npos || to < from) return "";
  element = element.substr(from + 1, to - from - 1);
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&#13;", '\r'}};
  std::string out;
  while (!element.empty()) {
    const auto known = std::find_if(std::begin(kEntities), std::end(kEntities),
                                    [&](const auto& entity) { return element.starts_with(entity.first); });
    const bool is_entity = known != std::end(kEntities);
    out += is_entity ? known->second : element.front();
    element.remove_prefix(is_entity ? known->first.size() : 1);
  }
  return out;
}

/// What cannot be read keeps nobody busy.
void add(BusyTimes& busy, const std::string& body, const Zone& floating) {
  try {
    busy.add(wire::parse_ical(body), floating);
  } catch (const Error&) {
    return;
  }
}

std::vector<BusyPeriod> periods_of(db::Tx& tx, const store::Person& who, const Question& question) {
  std::vector<std::string> own(who.addresses.begin(), who.addresses.end());
  BusyTimes busy(question.range, std::move(own));
  std::map<std::string, Zone> zones;
  std::map<std::int64_t, const Zone*> clocks;
  std::vector<std::int64_t> ids;
  for (const auto& key : store::busy_keys(tx, who.id, question.range.start, question.range.end)) {
    if (!question.masked_uid.empty() && key.uid == question.masked_uid) continue;
    auto zone = zones.find(key.zone);
    if (zone == zones.end()) zone = zones.emplace(key.zone, Zone::iana(key.zone).value_or(Zone())).first;
    clocks.emplace(key.id, &zone->second);
    ids.push_back(key.id);
  }
  // Some bodies at a time: they may be long.
  constexpr std::size_t kTogether = 32;
  for (std::size_t done = 0; done < ids.size(); done += kTogether) {
    const auto from = ids.begin() + static_cast<std::ptrdiff_t>(done);
    const auto to = ids.begin() + static_cast<std::ptrdiff_t>(std::min(done + kTogether, ids.size()));
    for (const auto& body : store::busy_bodies(tx, {from, to})) add(busy, body.data, *clocks.at(body.id));
  }
  if (const auto element = store::availability(tx, who.id); !element.empty())
    add(busy, element_text(element), Zone());
  return busy.periods();
}

std::string answer(const Question& question, const IcalProperty& attendee,
                   const std::vector<BusyPeriod>& periods, std::int64_t now) {
  auto calendar = free_busy_calendar(question.range, periods, now, "-//Welkin//Welkin//EN");
  calendar.properties.push_back({"METHOD", {}, "REPLY"});
  for (auto& component : calendar.components) {
    if (component.name != "VFREEBUSY") continue;
    component.set("UID", std::string(question.request.value("UID")));
    component.remove("ORGANIZER");
    component.properties.push_back(*question.request.property("ORGANIZER"));
    component.properties.push_back(attendee);
  }
  std::string out;
  wire::append_ical(out, calendar);
  return out;
}

}  // namespace

Task<std::vector<Scheduling::FreeBusyAnswer>> Scheduling::free_busy(Caller caller, std::string request) {
  if (!caller.user || caller.root_limit) throw Error(Errc::not_found, "not_found", "not found");
  Question question;
  read(question, wire::parse_ical(request));
  const auto organizer = itip::canonical_address(question.request.value("ORGANIZER"));
  const auto now = times::seconds(clock_.now());
  // Each on its own: nobody else waits while one with very many events is looked at.
  std::vector<FreeBusyAnswer> out;
  std::vector<std::string> addresses{organizer, "user:" + text::fold(caller.name)};
  for (const auto* attendee : question.attendees)
    addresses.push_back(itip::canonical_address(attendee->value));
  const auto people = co_await db_.read([&](db::Tx& tx) { return store::people(tx, addresses); });
  const auto person_at = [&](const std::string& address) {
    return std::find_if(people.begin(), people.end(),
                        [&](const auto& person) { return person.addresses.contains(address); });
  };
  const auto me = person_at(organizer);
  if (me == people.end() || me->id != caller.user)
    throw Error(Errc::forbidden, "valid_organizer", "The organizer of a request is whoever sends it");
  for (const auto* attendee : question.attendees) {
    const auto who = person_at(itip::canonical_address(attendee->value));
    if (who == people.end()) {
      out.push_back({attendee->value, "3.7;Invalid Calendar User", ""});
      continue;
    }
    const auto periods = co_await db_.read([&](db::Tx& tx) { return periods_of(tx, *who, question); });
    out.push_back({attendee->value, "2.0;Success", answer(question, *attendee, periods, now)});
  }
  co_return out;
}

}  // namespace welkin::calendars
