// What the organizer's change means for those he has invited (RFC 6638 §3.2.1).
#include <algorithm>

#include "calendars/itip.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars::itip {
namespace {

constexpr std::string_view kProdid = "-//Welkin//Welkin//EN";

bool is_cancelled(const IcalComponent& component) { return upper(component.value("STATUS")) == "CANCELLED"; }

std::int64_t sequence_of(const IcalComponent& component) {
  return std::clamp<std::int64_t>(text::signed_number(text::trim(component.value("SEQUENCE"))).value_or(0), 0,
                                  INT32_MAX - 1);
}

/// What is between a client and its owner, and nobody else's business.
bool is_private(const IcalProperty& property) {
  static constexpr std::string_view kPrefixes[] = {"X-MOZ-", "X-LIC-", "X-APPLE-TRAVEL",
                                                   "X-APPLE-DEFAULT-ALARM"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return property.name.starts_with(prefix); });
}

void make_public(IcalComponent& component) {
  std::erase_if(component.components, [](const auto& below) { return below.name == "VALARM"; });
  std::erase_if(component.properties, is_private);
  strip_scheduling(component);
}

/// Those of a message that have something in common with what is compared: one text a component.
std::map<std::string, std::string> digest_of(const IcalComponent& view) {
  const Parts parts(view);
  std::map<std::string, std::string> out;
  const auto add = [&](const std::string& slot, const IcalComponent& component) {
    auto& text = out[slot];
    text = timing_of(component, parts.clocks) + '\n' + matter_of(component);
    for (const auto& date : exdates_of(component, parts.clocks)) text += "\nex=" + date;
  };
  if (parts.master != nullptr) add("", *parts.master);
  for (const auto& [slot, component] : parts.overrides) add(slot, *component);
  return out;
}

bool is_all_cancelled(const IcalComponent& view) {
  return std::all_of(view.components.begin(), view.components.end(),
                     [](const auto& component) { return !is_item(component) || is_cancelled(component); });
}

IcalComponent cancelled(IcalComponent view) {
  for (auto& component : view.components) {
    if (!is_item(component)) continue;
    component.set("STATUS", "CANCELLED");
    component.set("SEQUENCE", std::to_string(sequence_of(component) + 1));
  }
  return view;
}

/// Only the components in these slots.
IcalComponent only(const IcalComponent& view, const std::set<std::string>& slots) {
  const Parts parts(view);
  IcalComponent out{view.name, view.properties, {}};
  for (const auto& component : view.components)
    if (!is_item(component) || slots.contains(parts.slot_of(component))) out.components.push_back(component);
  return out;
}

/// Goes through an uploaded object and makes of it what will be kept.
class Keeper {
 public:
  Keeper(const IcalComponent* old, IcalComponent uploaded, const Addresses& own, bool merge)
      : own_(own), merge_(merge), stored_(std::move(uploaded)) {
    if (old != nullptr) old_.emplace(*old);
    for (auto& component : stored_.components)
      if (is_item(component)) clean(component);
    if (!old_) return;
    const Parts parts(stored_);
    std::vector<std::string> slots;
    for (const auto& component : stored_.components) slots.push_back(parts.slot_of(component));
    const bool kept_time = parts.master != nullptr && old_->master != nullptr &&
                           timing_of(*parts.master, parts.clocks) == timing_of(*old_->master, old_->clocks);
    auto answers = kept_time && merge_ ? answers_meanwhile(parts) : std::vector<IcalComponent>();
    // From here on `parts` is stale but for its clocks.
    for (std::size_t i = 0; i < stored_.components.size(); ++i)
      if (is_item(stored_.components[i])) keep(stored_.components[i], slots[i], parts.clocks);
    for (auto& answer : answers) stored_.components.push_back(std::move(answer));
  }

  IcalComponent stored() && { return std::move(stored_); }
  const std::set<std::string>& forced() const { return forced_; }

 private:
  /// The status is ours to say, and a wish to send is heard once.
  void clean(IcalComponent& component) {
    for (auto& property : component.properties) {
      if (property.name != "ATTENDEE" && property.name != "ORGANIZER") continue;
      property.set_parameter("SCHEDULE-STATUS", "");
      if (property.parameter("SCHEDULE-FORCE-SEND") == nullptr) continue;
      if (text::iequals(property.parameter_value("SCHEDULE-FORCE-SEND"), "REQUEST"))
        forced_.insert(canonical_address(property.value));
      property.set_parameter("SCHEDULE-FORCE-SEND", "");
    }
  }

  void keep(IcalComponent& component, const std::string& slot, const Clocks& clocks) {
    const auto* before = old_->at(slot);
    const bool is_new = before == nullptr;
    if (is_new) before = slot.empty() ? nullptr : old_->master;
    if (before == nullptr) return;
    const bool moved = is_new ? is_shifted(component, *before, clocks)
                              : timing_of(component, clocks) != timing_of(*before, old_->clocks) ||
                                    exdates_of(component, clocks) != exdates_of(*before, old_->clocks);
    for (auto& property : component.properties) {
      if (property.name != "ATTENDEE") continue;
      const auto address = canonical_address(property.value);
      const auto* known = attendee_in(*before, address);
      if (known != nullptr)
        property.set_parameter("SCHEDULE-STATUS", std::string(known->parameter_value("SCHEDULE-STATUS")));
      if (own_.contains(address) || !is_served(property)) continue;
      if (moved) {
        property.set_parameter("PARTSTAT", "NEEDS-ACTION");
        property.set_parameter("RSVP", "TRUE");
      } else if (merge_ && known != nullptr) {
        for (const auto* name : {"PARTSTAT", "RSVP"})
          property.set_parameter(name, std::string(known->parameter_value(name)));
      }
    }
    if (moved && !is_new && sequence_of(component) <= sequence_of(*before))
      component.set("SEQUENCE", std::to_string(sequence_of(*before) + 1));
  }

  /// Overrides that only hold somebody's answer to one instance, made after the client has read the object.
  std::vector<IcalComponent> answers_meanwhile(const Parts& parts) const {
    std::vector<IcalComponent> out;
    const auto gone = exdates_of(*parts.master, parts.clocks);
    for (const auto& [slot, override_] : old_->overrides) {
      if (parts.overrides.contains(slot) || gone.contains(slot)) continue;
      if (is_shifted(*override_, *old_->master, old_->clocks) ||
          matter_of(*override_) != matter_of(*old_->master))
        continue;
      const auto* id = override_->property("RECURRENCE-ID");
      auto made = instance_of(*parts.master, *id, old_->clocks);
      for (auto& property : made.properties)
        if (property.name == "ATTENDEE")
          if (const auto* known = attendee_in(*override_, canonical_address(property.value)))
            property.set_parameter("PARTSTAT", std::string(known->parameter_value("PARTSTAT")));
      out.push_back(std::move(made));
    }
    return out;
  }

  const Addresses& own_;
  const bool merge_;
  IcalComponent stored_;
  std::optional<Parts> old_;
  std::set<std::string> forced_;
};

void add(std::vector<Message>& messages, const std::string& to, Method method, const IcalComponent& view,
         std::int64_t now, bool is_refresh = false) {
  auto calendar = method == Method::cancel && !is_all_cancelled(view) ? cancelled(view) : view;
  messages.push_back({to, method, message_of(std::move(calendar), method, now), is_refresh});
}

/// What one attendee is told of the difference.
void compare(std::vector<Message>& messages, const std::string& to,
             const std::optional<IcalComponent>& before, const std::optional<IcalComponent>& after,
             bool forced, std::int64_t now) {
  if (!before && !after) return;
  if (!before) return add(messages, to, Method::request, *after, now);
  if (!after) {
    if (!is_all_cancelled(*before)) add(messages, to, Method::cancel, *before, now);
    return;
  }
  const auto old_digest = digest_of(*before), new_digest = digest_of(*after);
  if (is_all_cancelled(*after) && !is_all_cancelled(*before))
    return add(messages, to, Method::cancel, *after, now);
  // Instances that are not in the series he is told of any more.
  std::set<std::string> lost;
  if (!new_digest.contains(""))
    for (const auto& [slot, text] : old_digest)
      if (!new_digest.contains(slot)) lost.insert(slot);
  if (!lost.empty()) add(messages, to, Method::cancel, only(*before, lost), now);
  const bool is_more = std::any_of(new_digest.begin(), new_digest.end(), [&](const auto& one) {
    const auto known = old_digest.find(one.first);
    return known == old_digest.end() || known->second != one.second;
  });
  // An override that went back into its series is seen by what is missing.
  const bool is_less =
      lost.empty() && std::any_of(old_digest.begin(), old_digest.end(),
                                  [&](const auto& one) { return !new_digest.contains(one.first); });
  if (forced || is_more || is_less) {
    add(messages, to, Method::request, *after, now);
  } else if (!same_content(*before, *after)) {
    add(messages, to, Method::request, *after, now, true);
  }
}

}  // namespace

std::string_view name_of(Method method) {
  return method == Method::request ? "REQUEST" : method == Method::cancel ? "CANCEL" : "REPLY";
}

IcalComponent message_of(IcalComponent calendar, Method method, std::int64_t now) {
  calendar.remove("METHOD");
  calendar.set("PRODID", std::string(kProdid));
  calendar.set("VERSION", "2.0");
  calendar.properties.push_back({"METHOD", {}, std::string(name_of(method))});
  for (auto& component : calendar.components)
    if (is_item(component)) component.set("DTSTAMP", wire::format_ical_utc(now));
  return calendar;
}

std::optional<IcalComponent> view_of(const IcalComponent& calendar, const std::string& attendee) {
  const Parts parts(calendar);
  const auto is_invited = [&](const IcalComponent& component) {
    const auto* property = attendee_in(component, attendee);
    return property != nullptr && is_served(*property);
  };
  const bool to_series = parts.master != nullptr && is_invited(*parts.master);
  IcalComponent out{calendar.name, calendar.properties, {}};
  std::vector<IcalProperty> left_out;
  bool any = false;
  for (const auto& component : calendar.components) {
    if (!is_item(component)) {
      if (component.name == "VTIMEZONE") out.components.push_back(component);
      continue;
    }
    const auto* id = component.property("RECURRENCE-ID");
    if (!is_invited(component)) {
      if (id != nullptr && to_series) {
        left_out.push_back(*id);
        left_out.back().name = "EXDATE";
        left_out.back().set_parameter("RANGE", "");
      }
      continue;
    }
    any = true;
    out.components.push_back(component);
    make_public(out.components.back());
  }
  if (!any) return std::nullopt;
  for (auto& component : out.components)
    if (is_item(component) && component.property("RECURRENCE-ID") == nullptr)
      for (const auto& date : left_out) component.properties.push_back(date);
  return out;
}

OrganizerChange change_as_organizer(const IcalComponent* old, const IcalComponent& uploaded,
                                    const Addresses& own, bool merge, std::int64_t now) {
  Keeper keeper(old, uploaded, own, merge);
  const auto forced = keeper.forced();
  OrganizerChange out{std::move(keeper).stored(), {}};
  auto everybody = served_attendees(out.stored, own);
  if (old != nullptr) everybody.merge(served_attendees(*old, own));
  for (const auto& to : everybody) {
    const auto before = old == nullptr ? std::nullopt : view_of(*old, to);
    compare(out.messages, to, before, view_of(out.stored, to), forced.contains(to), now);
  }
  return out;
}

std::vector<Message> cancel_all(const IcalComponent& old, const Addresses& own, std::int64_t now) {
  std::vector<Message> out;
  for (const auto& to : served_attendees(old, own))
    compare(out, to, view_of(old, to), std::nullopt, false, now);
  return out;
}

}  // namespace welkin::calendars::itip
