// What a message makes of the object it is about, in the calendar of whoever gets it (RFC 5546 §3).
#include <algorithm>
#include <array>

#include "calendars/itip.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars::itip {
namespace {

/// What stays the attendee's own when the organizer's data come.
constexpr std::array<std::string_view, 5> kKept = {"TRANSP", "CATEGORIES", "COLOR", "PERCENT-COMPLETE",
                                                   "COMPLETED"};

void keep_own(IcalComponent& onto, const IcalComponent& had) {
  std::erase_if(onto.components, [](const auto& below) { return below.name == "VALARM"; });
  for (const auto& below : had.components)
    if (below.name == "VALARM") onto.components.push_back(below);
  for (const auto name : kKept) {
    if (had.property(name) == nullptr) continue;
    onto.remove(name);
    for (const auto& property : had.properties)
      if (property.name == name) onto.properties.push_back(property);
  }
  for (const auto& property : had.properties)
    if (property.name.starts_with("X-") && onto.property(property.name) == nullptr)
      onto.properties.push_back(property);
}

/// Whether he comes is his own word: an organizer may ask again, and say nothing for him.
void keep_word(IcalComponent& component, const IcalComponent* before, const Addresses& own) {
  auto* me = own_attendee(component, own);
  if (me == nullptr || partstat_of(*me) == "NEEDS-ACTION") return;
  const auto* known = before == nullptr ? nullptr : own_attendee(*before, own);
  me->set_parameter("PARTSTAT", known == nullptr ? "NEEDS-ACTION" : partstat_of(*known));
}

bool declines(const IcalComponent& component, const Addresses& own) {
  const auto* me = own_attendee(component, own);
  return me != nullptr && partstat_of(*me) == "DECLINED";
}

/// Lines of EXDATE in his copy for instances he took out and has declined: they stay out.
void keep_out(IcalComponent& calendar, const Parts& had, const Addresses& own) {
  if (had.master == nullptr) return;
  const Parts parts(calendar);
  if (parts.master == nullptr) return;
  const auto known = exdates_of(*parts.master, parts.clocks);
  std::vector<IcalProperty> stay;
  std::set<std::string> slots;
  for (const auto& property : had.master->properties) {
    if (property.name != "EXDATE") continue;
    for (const auto value : wire::ical_list(property.value)) {
      IcalProperty one = property;
      one.value = text::trim(value);
      IcalProperty id = one;
      id.name = "RECURRENCE-ID";
      const auto slot = had.slot_of({had.master->name, {id}, {}});
      const auto* now = parts.at(slot);
      if (known.contains(slot) || now == nullptr || !declines(*now, own)) continue;
      stay.push_back(std::move(one));
      slots.insert(slot);
    }
  }
  std::vector<bool> goes;
  for (const auto& component : calendar.components)
    goes.push_back(is_item(component) && slots.contains(parts.slot_of(component)));
  std::vector<IcalComponent> left;
  for (std::size_t i = 0; i < goes.size(); ++i) {
    if (goes[i]) continue;
    left.push_back(std::move(calendar.components[i]));
    if (is_item(left.back()) && left.back().property("RECURRENCE-ID") == nullptr)
      for (const auto& property : stay) left.back().properties.push_back(property);
  }
  calendar.components = std::move(left);
}

}  // namespace

IcalComponent apply_request(const IcalComponent* copy, const IcalComponent& message, const Addresses& own) {
  IcalComponent out = message;
  out.remove("METHOD");
  if (copy == nullptr) {
    for (auto& component : out.components)
      if (is_item(component)) keep_word(component, nullptr, own);
    return out;
  }
  const Parts had(*copy);
  keep_out(out, had, own);
  {
    const Parts parts(message);
    for (auto& component : out.components) {
      if (!is_item(component)) continue;
      const auto* before = had.at(parts.slot_of(component));
      // A new override begins as the series is.
      if (before == nullptr) before = had.master;
      keep_word(component, before, own);
      if (before != nullptr) keep_own(component, *before);
      const auto* organizer = before == nullptr ? nullptr : before->property("ORGANIZER");
      if (auto* now = component.property("ORGANIZER"); now != nullptr && organizer != nullptr)
        now->set_parameter("SCHEDULE-STATUS", std::string(organizer->parameter_value("SCHEDULE-STATUS")));
    }
  }
  return out;
}

IcalComponent apply_cancel(const IcalComponent& copy, const IcalComponent& message) {
  IcalComponent out = copy;
  const Parts told(message), had(copy);
  const bool everything = told.master != nullptr;
  std::vector<IcalComponent> added;
  std::set<std::string> met;
  const Parts parts(copy);
  for (auto& component : out.components) {
    if (!is_item(component)) continue;
    const auto slot = parts.slot_of(component);
    const auto* told_of = told.at(slot);
    if (told_of == nullptr && !everything) continue;
    met.insert(slot);
    component.set("STATUS", "CANCELLED");
    if (told_of != nullptr && told_of->property("SEQUENCE") != nullptr)
      component.set("SEQUENCE", std::string(told_of->value("SEQUENCE")));
  }
  for (const auto& [slot, component] : told.overrides) {
    if (met.contains(slot) || had.master == nullptr || !had.has_instance(*component)) continue;
    auto made = instance_of(*had.master, *component->property("RECURRENCE-ID"), told.clocks);
    made.set("STATUS", "CANCELLED");
    added.push_back(std::move(made));
  }
  for (auto& one : added) out.components.push_back(std::move(one));
  return out;
}

std::optional<IcalComponent> apply_reply(const IcalComponent& object, const IcalComponent& message) {
  IcalComponent out = object;
  const Parts told(message), parts(object);
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < object.components.size(); ++i)
    if (is_item(object.components[i])) places.emplace(parts.slot_of(object.components[i]), i);
  bool any = false;
  const auto take = [&](const std::string& slot, const IcalComponent& answer) {
    const auto* said = answer.property("ATTENDEE");
    if (said == nullptr) return;
    const auto who = canonical_address(said->value);
    const auto place = places.find(slot);
    std::optional<IcalComponent> made;
    if (place == places.end()) {
      if (slot.empty() || parts.master == nullptr || !parts.has_instance(answer)) return;
      made = instance_of(*parts.master, *answer.property("RECURRENCE-ID"), told.clocks);
    }
    auto& component = made ? *made : out.components[place->second];
    auto* attendee = attendee_in(component, who);
    if (attendee == nullptr) return;
    any = true;
    attendee->set_parameter("PARTSTAT", partstat_of(*said));
    if (partstat_of(*said) != "NEEDS-ACTION") attendee->set_parameter("RSVP", "");
    attendee->set_parameter("SCHEDULE-STATUS", "2.0");
    if (made) out.components.push_back(std::move(*made));
  };
  if (told.master != nullptr) take("", *told.master);
  for (const auto& [slot, component] : told.overrides) take(slot, *component);
  if (!any) return std::nullopt;
  return out;
}

}  // namespace welkin::calendars::itip
