#include <algorithm>
#include <set>

#include "calendars/event_times.hpp"
#include "calendars/lead.hpp"
#include "calendars/object_text.hpp"
#include "calendars/series.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_edit.hpp"

namespace welkin::calendars {
namespace {

using wire::IcalComponent;
using wire::IcalProperty;

constexpr std::int64_t kAlarmMinutesMax = 525'600;

[[noreturn]] void bad(const std::string& field, const std::string& why) {
  throw Error(Errc::invalid, "bad_field", "The field '" + field + "' " + why);
}

/// What is written into a line as it is must not end it.
void require_plain(const std::string& field, std::string_view value) {
  for (const char c : value)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) bad(field, "must not hold control characters");
}

bool is_absent(const std::optional<std::string>& value) { return !value || value->empty(); }

std::string upper_text(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

/// One of the words, in upper case.
std::string word_of(const std::string& field, const std::string& value,
                    std::initializer_list<std::string_view> words) {
  auto out = upper_text(value);
  if (std::find(words.begin(), words.end(), out) == words.end()) bad(field, "must be one of those it can be");
  return out;
}

/// Does an edit to one component of a text.
class Editing {
 public:
  Editing(ObjectText& text, std::size_t at, const EventEdit& edit, std::int64_t now)
      : editor_(text.editor),
        text_(text),
        at_(at),
        component_(*text.component_of(at)),
        edit_(edit),
        now_(now) {}

  void run(bool is_new = false) {
    texts();
    times();
    words();
    numbers();
    if (edit_.categories) categories();
    if (edit_.alarms) alarms();
    if (!has_changed_) return;
    const auto stamp = wire::format_ical_utc(now_);
    editor_.set(at_, {"DTSTAMP", {}, stamp});
    editor_.set(at_, {"LAST-MODIFIED", {}, stamp});
    if (moves_ && !is_new) {
      const auto had = text::signed_number(text::trim(component_.value("SEQUENCE"))).value_or(0);
      editor_.set(at_, {"SEQUENCE", {}, std::to_string(std::max<std::int64_t>(had, 0) + 1)});
    }
  }

 private:
  bool is_event() const { return component_.name == "VEVENT"; }
  bool is_todo() const { return component_.name == "VTODO"; }

  void set(const IcalProperty& property) {
    const auto* had = component_.property(property.name);
    if (had != nullptr && *had == property && component_.count(property.name) == 1) return;
    has_changed_ = true;
    editor_.set(at_, property);
  }
  void drop(const std::string& name) {
    if (component_.property(name) == nullptr) return;
    has_changed_ = true;
    editor_.remove_all(at_, name);
  }
  /// A TEXT; one that says the same stays, with its parameters and folds.
  void text(const EventEdit::Text& change, const std::string& name) {
    if (!change) return;
    if (is_absent(*change)) return drop(name);
    if (component_.property(name) != nullptr && component_.text(name) == **change) return;
    set({name, {}, wire::ical_escape(**change)});
  }
  void plain(const EventEdit::Text& change, const std::string& field, const std::string& name) {
    if (!change) return;
    if (is_absent(*change)) return drop(name);
    require_plain(field, **change);
    if (component_.value(name) != **change) set({name, {}, **change});
  }

  void texts() {
    text(edit_.summary, "SUMMARY");
    text(edit_.description, "DESCRIPTION");
    text(edit_.location, "LOCATION");
    plain(edit_.url, "url", "URL");
    if (!edit_.rrule) return;
    if (component_.property("RECURRENCE-ID") != nullptr && !is_absent(*edit_.rrule))
      bad("rrule", "is for the series, not for one instance");
    const bool had_change = std::exchange(has_changed_, false);
    plain(edit_.rrule, "rrule", "RRULE");
    moves_ = moves_ || has_changed_;
    has_changed_ = has_changed_ || had_change;
  }

  std::string zone_for(const char* name) const {
    if (edit_.timezone) {
      if (is_absent(*edit_.timezone)) return {};
      if (text::iequals(**edit_.timezone, "UTC")) return "UTC";
      const auto zone = Zone::iana(**edit_.timezone);
      if (!zone) bad("timezone", "is no time zone that is known");
      return zone->name();
    }
    const auto* had = component_.property(name);
    if (had == nullptr) had = component_.property("DTSTART");
    return had == nullptr ? std::string() : timezone_of(*had);
  }

  void time(const EventEdit::Text& change, const std::string& field, const char* name) {
    if (!change) return;
    if (is_absent(*change)) return drop(name);
    const auto property = time_property(name, **change, zone_for(name));
    if (!property) bad(field, "must be a day, a time of a day, or an instant");
    set(*property);
    changed_.set(std::string(name), property->value);
    changed_.property(name)->parameters = property->parameters;
    text_.add_zone(*property);
  }

  void times() {
    const bool any = edit_.start || edit_.end || edit_.due;
    if (edit_.timezone && !any) bad("timezone", "goes with a start, an end or a due time");
    if (edit_.end && !is_event()) bad("end", "is for events; to-dos have 'due'");
    if (edit_.due && !is_todo()) bad("due", "is for to-dos");
    if (edit_.completed && !is_todo()) bad("completed", "is for to-dos");
    if (edit_.start && is_event() && is_absent(*edit_.start)) bad("start", "cannot be missing from an event");
    if (edit_.completed && !is_absent(*edit_.completed)) {
      const auto property = time_property("COMPLETED", **edit_.completed, "UTC");
      if (!property || property->parameter("VALUE") != nullptr) bad("completed", "must be an instant");
      set(*property);
    } else if (edit_.completed) {
      drop("COMPLETED");
    }
    if (!any) return;
    changed_ = component_;
    const bool had_change = std::exchange(has_changed_, false);
    time(edit_.start, "start", "DTSTART");
    const char* end_name = is_todo() ? "DUE" : "DTEND";
    const auto& end = is_todo() ? edit_.due : edit_.end;
    if (end) {
      drop("DURATION");
      changed_.remove("DURATION");
      if (is_absent(*end)) changed_.remove(end_name);
      time(end, is_todo() ? "due" : "end", end_name);
    }
    moves_ = moves_ || has_changed_;
    has_changed_ = has_changed_ || had_change;
    require_order(end_name);
  }

  /// What other programs would stumble over we do not make; what they have made stays.
  void require_order(const char* end_name) const {
    const auto start = wire::parse_ical_time(changed_.value("DTSTART"));
    const auto end = wire::parse_ical_time(changed_.value(end_name));
    if (!start || !end) return;
    const char* const field = is_todo() ? "due" : "end";
    if (start->is_date != end->is_date)
      bad(field, "must be a day where the start is one, and a time where it is one");
    const IcalComponent calendar{"VCALENDAR", {}, {changed_}};
    const Clocks clocks(calendar, Zone());
    const auto from = clocks.stamp(calendar.components[0], "DTSTART"),
               to = clocks.stamp(calendar.components[0], end_name);
    if (from && to && to->utc < from->utc) bad(field, "lies before the start");
  }

  void words() {
    if (edit_.status) {
      if (is_absent(*edit_.status)) {
        drop("STATUS");
      } else if (is_event()) {
        set({"STATUS", {}, word_of("status", **edit_.status, {"TENTATIVE", "CONFIRMED", "CANCELLED"})});
      } else if (is_todo()) {
        set({"STATUS",
             {},
             word_of("status", **edit_.status, {"NEEDS-ACTION", "COMPLETED", "IN-PROCESS", "CANCELLED"})});
      } else {
        set({"STATUS", {}, word_of("status", **edit_.status, {"DRAFT", "FINAL", "CANCELLED"})});
      }
    }
    if (edit_.classification) {
      if (is_absent(*edit_.classification))
        drop("CLASS");
      else
        set({"CLASS",
             {},
             word_of("classification", **edit_.classification, {"PUBLIC", "PRIVATE", "CONFIDENTIAL"})});
    }
    if (!edit_.is_transparent) return;
    if (!is_event()) bad("transparent", "is for events");
    const bool is_now = text::iequals(text::trim(component_.value("TRANSP")), "TRANSPARENT");
    if (is_now != *edit_.is_transparent)
      set({"TRANSP", {}, *edit_.is_transparent ? "TRANSPARENT" : "OPAQUE"});
  }

  void number(const std::optional<std::optional<std::int64_t>>& change, const std::string& field,
              const std::string& name, std::int64_t last) {
    if (!change) return;
    if (!*change) return drop(name);
    if (**change < 0 || **change > last) bad(field, "must be a number from 0 to " + std::to_string(last));
    set({name, {}, std::to_string(**change)});
  }
  void numbers() {
    number(edit_.priority, "priority", "PRIORITY", 9);
    if (edit_.percent && !is_todo()) bad("percent_complete", "is for to-dos");
    number(edit_.percent, "percent_complete", "PERCENT-COMPLETE", 100);
  }

  void categories() {
    if (categories_of(component_) == *edit_.categories) return;
    if (edit_.categories->empty()) return drop("CATEGORIES");
    std::string all;
    for (const auto& word : *edit_.categories) (all += all.empty() ? "" : ",") += wire::ical_escape(word);
    set({"CATEGORIES", {}, all});
  }

  void alarms() {
    auto wanted = *edit_.alarms;
    auto had = alarms_of(component_);
    for (const auto minutes : wanted)
      if (minutes < -kAlarmMinutesMax || minutes > kAlarmMinutesMax)
        bad("alarms", "must be minutes within a year of the start");
    if (wanted.size() > 32) bad("alarms", "are too many");
    std::sort(wanted.begin(), wanted.end());
    std::sort(had.begin(), had.end());
    if (wanted == had) return;
    has_changed_ = true;
    text_.remove_alarms(at_);
    for (const auto minutes : wanted) {
      IcalComponent alarm{"VALARM", {}, {}};
      alarm.set("ACTION", "DISPLAY");
      alarm.set("TRIGGER", (minutes >= 0 ? "-PT" : "PT") + std::to_string(std::abs(minutes)) + 'M');
      alarm.set("DESCRIPTION", edit_.summary && *edit_.summary ? wire::ical_escape(**edit_.summary)
                                                               : std::string(component_.value("SUMMARY")));
      editor_.add_component(at_, alarm);
    }
  }

  wire::LineEditor& editor_;
  ObjectText& text_;
  std::size_t at_;
  const IcalComponent& component_;
  const EventEdit& edit_;
  std::int64_t now_;
  IcalComponent changed_;  // the component with the times it will have
  bool has_changed_ = false, moves_ = false;
};

/// An instance as an override that says what its series says (RFC 5545 §3.8.4.4).
IcalComponent override_of(const Occurrence& each) {
  IcalComponent out = *each.component;
  for (const auto* name : {"RRULE", "RDATE", "EXDATE", "EXRULE"}) out.remove(name);
  const auto* start = each.component->property("DTSTART");
  const auto put = [&](const std::string& name, const Stamp& stamp) {
    out.set(name, wire::format_ical_time(stamp.time));
    auto& made = *out.property(name);
    if (stamp.time.is_date) made.set_parameter("VALUE", "DATE");
    if (stamp.zone != nullptr && start != nullptr && start->parameter("TZID") != nullptr)
      made.set_parameter("TZID", std::string(start->parameter_value("TZID")));
  };
  put("RECURRENCE-ID", *each.slot);
  if (each.start) put("DTSTART", *each.start);
  const auto* end_name = out.name == "VTODO" ? "DUE" : "DTEND";
  if (each.end && out.property(end_name) != nullptr) put(end_name, *each.end);
  return out;
}

std::string shown_slot(const Stamp& stamp) {
  if (!stamp.zone && !stamp.time.is_utc) return wire::format_ical_time(stamp.time);
  return wire::format_ical_utc(stamp.utc);
}

/// The instance that has this RECURRENCE-ID, as instances_of tells it.
Occurrence require_instance(const Series& series, std::string_view recurrence_id) {
  std::optional<Occurrence> found;
  const auto wanted = wire::parse_ical_time(recurrence_id);
  if (wanted) {
    // A day to both sides for zones; overrides come whatever the range is.
    const auto first = wanted->local_seconds - 2 * wire::kDaySeconds,
               last = wanted->local_seconds + 3 * wire::kDaySeconds;
    series.walk(first, last, 10'000, [&](const Occurrence& each) {
      if (each.slot && shown_slot(*each.slot) == recurrence_id) found = each;
      return !found;
    });
  }
  if (!found) throw Error(Errc::not_found, "no_such_instance", "The series has no such instance");
  return *found;
}

}  // namespace

std::string edit_event(std::string_view data, const EventEdit& edit, std::int64_t now) {
  ObjectText text(data);
  Editing(text, text.lead(), edit, now).run();
  return text.editor.text();
}

std::string make_event(Kind kind, std::string_view uid, const EventEdit& edit, std::int64_t now) {
  if (kind == kEvent && (!edit.start || is_absent(*edit.start)))
    throw Error(Errc::unprocessable, "missing_field", "The field 'start' is missing");
  IcalComponent calendar{"VCALENDAR", {}, {}};
  calendar.set("VERSION", "2.0");
  calendar.set("PRODID", "-//Welkin//Welkin//EN");
  auto& made = calendar.components.emplace_back();
  made.name = name_of(kind);
  made.set("UID", wire::ical_escape(uid));
  const auto stamp = wire::format_ical_utc(now);
  made.set("DTSTAMP", stamp);
  made.set("CREATED", stamp);
  std::string written;
  wire::append_ical(written, calendar);
  ObjectText text(written);
  Editing(text, text.lead(), edit, now).run(true);
  return text.editor.text();
}

std::string edit_instance(std::string_view data, std::string_view recurrence_id, const EventEdit& edit,
                          std::int64_t now) {
  ObjectText text(data);
  const Series series(text.calendar, Zone());
  const auto instance = require_instance(series, recurrence_id);
  if (!instance.is_override) {
    text.editor.add_component(0, override_of(instance));
    ObjectText with(text.editor.text());
    Editing(with, with.last(), edit, now).run();
    return with.editor.text();
  }
  Editing(text, text.place_of(*instance.component), edit, now).run();
  return text.editor.text();
}

std::string remove_instance(std::string_view data, std::string_view recurrence_id, std::int64_t now) {
  ObjectText text(data);
  const Series series(text.calendar, Zone());
  const auto instance = require_instance(series, recurrence_id);
  const auto* lead = lead_of(text.calendar);
  if (instance.is_override) text.editor.remove_component(text.place_of(*instance.component));
  if (lead != nullptr && lead->property("RECURRENCE-ID") == nullptr) {
    IcalProperty exdate{"EXDATE", {}, wire::format_ical_time(instance.slot->time)};
    if (instance.slot->time.is_date) exdate.set_parameter("VALUE", "DATE");
    const auto* like =
        instance.is_override ? instance.component->property("RECURRENCE-ID") : lead->property("DTSTART");
    if (instance.slot->zone != nullptr && like != nullptr && like->parameter("TZID") != nullptr)
      exdate.set_parameter("TZID", std::string(like->parameter_value("TZID")));
    const auto at = text.lead();
    text.editor.add(at, exdate);
    text.editor.set(at, {"DTSTAMP", {}, wire::format_ical_utc(now)});
    text.editor.set(at, {"LAST-MODIFIED", {}, wire::format_ical_utc(now)});
  }
  return text.editor.text();
}

}  // namespace welkin::calendars
