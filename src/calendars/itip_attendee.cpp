// What somebody who is invited may change in his copy, and what of it the organizer is told (RFC 6638
// §3.2.2).
#include <algorithm>
#include <array>

#include "calendars/itip.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars::itip {
namespace {

[[noreturn]] void refuse(const char* why) {
  throw Error(Errc::forbidden, "allowed_attendee_scheduling_object_change", why);
}

bool is_cancelled(const IcalComponent& component) { return upper(component.value("STATUS")) == "CANCELLED"; }

/// What is his own in his copy.
bool is_his(const IcalComponent& of, const IcalProperty& property) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "TRANSP", "PERCENT-COMPLETE", "COMPLETED", "CATEGORIES",
      "COLOR",  "COMMENT",          "DTSTAMP",   "LAST-MODIFIED"};
  if (property.name.starts_with("X-") || property.name == "CREATED") return true;
  if (of.name == "VTODO" && property.name == "STATUS") return true;
  return std::find(kNames.begin(), kNames.end(), property.name) != kNames.end();
}

std::set<std::string> attendees_of(const IcalComponent& component) {
  std::set<std::string> out;
  for (const auto& property : component.properties)
    if (property.name == "ATTENDEE") out.insert(canonical_address(property.value));
  return out;
}

void set_partstat(IcalComponent& component, const Addresses& own, const std::string& partstat) {
  auto* me = own_attendee(component, own);
  if (me == nullptr) return;
  me->set_parameter("PARTSTAT", partstat);
  if (partstat != "NEEDS-ACTION") me->set_parameter("RSVP", "");
}

/// Puts what is his from his client's component upon the organizer's. Times, texts and the other attendees
/// stay as they were, however the client spells them.
void overlay(IcalComponent& onto, const IcalComponent& from, const Addresses& own) {
  std::erase_if(onto.properties, [&](const auto& property) { return is_his(onto, property); });
  for (const auto& property : from.properties)
    if (is_his(onto, property)) onto.properties.push_back(property);
  std::erase_if(onto.components, [](const auto& below) { return below.name == "VALARM"; });
  for (const auto& below : from.components)
    if (below.name == "VALARM") onto.components.push_back(below);
  auto* mine = own_attendee(onto, own);
  const auto* wished = own_attendee(from, own);
  if (mine != nullptr && wished != nullptr) {
    const auto value = mine->value;
    *mine = *wished;
    mine->value = value;
    for (const auto* name : {"SCHEDULE-STATUS", "SCHEDULE-FORCE-SEND"}) mine->set_parameter(name, "");
  }
  auto* organizer = onto.property("ORGANIZER");
  const auto* said = from.property("ORGANIZER");
  if (organizer != nullptr && said != nullptr)
    organizer->set_parameter("SCHEDULE-AGENT", std::string(said->parameter_value("SCHEDULE-AGENT")));
}

/// The organizer's part of a component is as he has it.
void require_same(const IcalComponent& wished, const Clocks& clocks, const IcalComponent& is,
                  const Clocks& is_clocks, bool is_instance, const Addresses& own) {
  if (is_instance ? is_shifted(wished, is, clocks) : timing_of(wished, clocks) != timing_of(is, is_clocks))
    refuse("When it is, is for the organizer to say");
  for (const auto* name : {"SUMMARY", "LOCATION"})
    if (text::trim(wished.text(name)) != text::trim(is.text(name)))
      refuse("What it is about and where, is for the organizer to say");
  if (wished.name == "VEVENT" && upper(wished.value("STATUS")) != upper(is.value("STATUS")) &&
      !(is_cancelled(wished) && !is_cancelled(is)))
    refuse("Whether it takes place, is for the organizer to say");
  if (attendees_of(wished) != attendees_of(is)) refuse("Who is invited, is for the organizer to say");
  if (own_attendee(wished, own) == nullptr && own_attendee(is, own) != nullptr)
    refuse("Who is invited, is for the organizer to say");
}

class Change {
 public:
  Change(const IcalComponent& old, const IcalComponent& uploaded, const Addresses& own)
      : own_(own), old_(old), wished_(uploaded), stored_{old.name, uploaded.properties, {}} {
    if (organizer_of(uploaded) != organizer_of(old)) refuse("The organizer of an object stays");
    if ((wished_.master == nullptr) != (old_.master == nullptr))
      refuse("A series stays one, an instance too");
    for (const auto& component : uploaded.components)
      if (!is_item(component)) stored_.components.push_back(component);
    if (old_.master != nullptr) take_master();
    for (const auto& [slot, override_] : wished_.overrides) take_override(slot, *override_);
    for (const auto& [slot, override_] : old_.overrides)
      if (!wished_.overrides.contains(slot)) leave_override(slot, *override_);
    for (const auto& slot : dropped_)
      if (!told_.contains(slot)) decline_instance(slot);
  }

  IcalComponent stored() && { return std::move(stored_); }
  std::vector<IcalComponent> answers() && { return std::move(answers_); }

 private:
  void take_master() {
    require_same(*wished_.master, wished_.clocks, *old_.master, old_.clocks, false, own_);
    const auto before = exdates_of(*old_.master, old_.clocks),
               now = exdates_of(*wished_.master, wished_.clocks);
    if (!std::includes(now.begin(), now.end(), before.begin(), before.end()))
      refuse("Which instances there are, is for the organizer to say");
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::inserter(dropped_, dropped_.end()));
    auto kept = *old_.master;
    if (!dropped_.empty()) {
      kept.remove("EXDATE");
      for (const auto& property : wished_.master->properties)
        if (property.name == "EXDATE") kept.properties.push_back(property);
    }
    overlay(kept, *wished_.master, own_);
    answer(kept, *old_.master);
    stored_.components.push_back(std::move(kept));
  }

  void take_override(const std::string& slot, const IcalComponent& override_) {
    const auto* before = old_.at(slot);
    const bool is_new = before == nullptr;
    if (is_new) before = old_.master;
    if (before == nullptr || (is_new && !old_.has_instance(override_)))
      refuse("Which instances there are, is for the organizer to say");
    if (is_new) {
      require_same(override_, wished_.clocks, *before, old_.clocks, true, own_);
    } else {
      require_same(override_, wished_.clocks, *before, old_.clocks, false, own_);
    }
    auto kept = is_new ? instance_of(*before, *override_.property("RECURRENCE-ID"), wished_.clocks) : *before;
    overlay(kept, override_, own_);
    // An instance he takes out of his calendar: some clients say it so.
    if (is_cancelled(override_) && !is_cancelled(*before)) {
      set_partstat(kept, own_, "DECLINED");
      kept.set("STATUS", "CANCELLED");
    }
    answer(kept, *before);
    stored_.components.push_back(std::move(kept));
    told_.insert(slot);
  }

  /// He has an override no more: it was dropped with EXDATE, or its client never keeps them.
  void leave_override(const std::string& slot, const IcalComponent& before) {
    if (!dropped_.contains(slot)) {
      stored_.components.push_back(before);
      return;
    }
    told_.insert(slot);
    const auto* me = own_attendee(before, own_);
    if (me == nullptr || partstat_of(*me) == "DECLINED" || is_cancelled(before)) return;
    auto gone = before;
    set_partstat(gone, own_, "DECLINED");
    answers_.push_back(std::move(gone));
  }

  void decline_instance(const std::string& slot) {
    for (const auto& property : wished_.master->properties) {
      if (property.name != "EXDATE") continue;
      for (const auto value : wire::ical_list(property.value)) {
        IcalProperty id = property;
        id.name = "RECURRENCE-ID";
        id.value = text::trim(value);
        IcalComponent probe{old_.master->name, {id}, {}};
        if (wished_.slot_of(probe) != slot || !old_.has_instance(probe)) continue;
        auto gone = instance_of(*old_.master, id, wished_.clocks);
        set_partstat(gone, own_, "DECLINED");
        answers_.push_back(std::move(gone));
        return;
      }
    }
  }

  void answer(const IcalComponent& now, const IcalComponent& before) {
    const auto *me = own_attendee(now, own_), *was = own_attendee(before, own_);
    if (me == nullptr) return;
    const bool changed = was == nullptr || partstat_of(*me) != partstat_of(*was) ||
                         now.text("COMMENT") != before.text("COMMENT");
    if (changed) answers_.push_back(now);
  }

  const Addresses& own_;
  Parts old_, wished_;
  IcalComponent stored_;
  std::set<std::string> dropped_;  // slots he takes out with EXDATE
  std::set<std::string> told_;
  std::vector<IcalComponent> answers_;
};

/// Of an answer only what the organizer needs goes out (RFC 5546 §3.2.3).
IcalComponent answer_of(const IcalComponent& component, const Addresses& own) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "UID",     "SEQUENCE", "DTSTART", "DTEND",  "DURATION",         "DUE",      "RECURRENCE-ID",
      "SUMMARY", "LOCATION", "COMMENT", "STATUS", "PERCENT-COMPLETE", "COMPLETED"};
  IcalComponent out{component.name, {}, {}};
  for (const auto& property : component.properties) {
    const bool is_own = property.name == "ATTENDEE" && own.contains(canonical_address(property.value));
    if (is_own || property.name == "ORGANIZER" ||
        std::find(kNames.begin(), kNames.end(), property.name) != kNames.end())
      out.properties.push_back(property);
  }
  if (out.name != "VTODO") out.remove("STATUS");
  strip_scheduling(out);
  out.properties.push_back({"REQUEST-STATUS", {}, "2.0;Success"});
  return out;
}

/// nullopt: the organizer is not served, or there is nothing to say.
std::optional<Message> reply_of(const IcalComponent& object, const std::vector<IcalComponent>& answers,
                                const Addresses& own, std::int64_t now) {
  if (answers.empty()) return std::nullopt;
  const auto* organizer = answers.front().property("ORGANIZER");
  if (organizer == nullptr || !is_served(*organizer)) return std::nullopt;
  IcalComponent calendar{"VCALENDAR", {}, {}};
  for (const auto& component : object.components)
    if (component.name == "VTIMEZONE") calendar.components.push_back(component);
  for (const auto& answer : answers) calendar.components.push_back(answer_of(answer, own));
  return Message{canonical_address(organizer->value), Method::reply,
                 message_of(std::move(calendar), Method::reply, now), false};
}

bool takes_force(IcalComponent& component) {
  bool forced = false;
  for (auto& property : component.properties) {
    if (property.name != "ATTENDEE" && property.name != "ORGANIZER") continue;
    property.set_parameter("SCHEDULE-STATUS", "");
    forced = forced || (property.name == "ORGANIZER" &&
                        text::iequals(property.parameter_value("SCHEDULE-FORCE-SEND"), "REPLY"));
    property.set_parameter("SCHEDULE-FORCE-SEND", "");
  }
  return forced;
}

}  // namespace

AttendeeChange change_as_attendee(const IcalComponent* old, const IcalComponent& uploaded,
                                  const Addresses& own, std::int64_t now) {
  auto wished = uploaded;
  bool forced = false;
  for (auto& component : wished.components)
    if (is_item(component)) forced = takes_force(component) || forced;
  AttendeeChange out;
  std::vector<IcalComponent> answers;
  if (old == nullptr) {
    // An invitation that came another way, and was answered there or here.
    out.stored = std::move(wished);
    for (const auto& component : out.stored.components)
      if (const auto* me = is_item(component) ? own_attendee(component, own) : nullptr)
        if (partstat_of(*me) != "NEEDS-ACTION" && !is_cancelled(component)) answers.push_back(component);
  } else {
    Change change(*old, wished, own);
    answers = std::move(change).answers();
    out.stored = std::move(change).stored();
  }
  if (forced && answers.empty())
    for (const auto& component : out.stored.components)
      if (is_item(component) && own_attendee(component, own) != nullptr) answers.push_back(component);
  out.reply = reply_of(out.stored, answers, own, now);
  return out;
}

std::optional<Message> decline(const IcalComponent& old, const Addresses& own, std::int64_t now) {
  std::vector<IcalComponent> answers;
  for (const auto& component : old.components) {
    const auto* me = is_item(component) ? own_attendee(component, own) : nullptr;
    if (me == nullptr || partstat_of(*me) == "DECLINED" || is_cancelled(component)) continue;
    answers.push_back(component);
    set_partstat(answers.back(), own, "DECLINED");
  }
  return reply_of(old, answers, own, now);
}

}  // namespace welkin::calendars::itip
