#include "dav/groupware/update.hpp"

#include <algorithm>

#include "dav/groupware/filter_reader.hpp"
#include "welkin/calendars/subscriptions.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::dav::groupware {
namespace {

constexpr std::string_view kXml = "http://www.w3.org/XML/1998/namespace";
constexpr std::string_view kProtected = "<d:cannot-modify-protected-property/>";

struct Verdict {
  int status = 200;
  std::string_view condition = {};
};

/// RFC 7953: what of the week somebody can be reached in.
bool is_availability(std::string_view icalendar) {
  try {
    const auto calendar = wire::parse_ical(icalendar);
    return std::any_of(calendar.components.begin(), calendar.components.end(),
                       [](const auto& component) { return component.name == "VAVAILABILITY"; });
  } catch (const Error&) {
    return false;
  }
}

Verdict judge_value(const wire::XmlElement& property) {
  if (property.is(kCaldav, "calendar-timezone") && !zone_in(property.text))
    return {403, "<C:valid-calendar-data/>"};
  if (property.is(kCaldav, "calendar-timezone-id") && !calendars::Zone::iana(property.trimmed()))
    return {403, "<C:valid-timezone/>"};
  if (property.name == "calendar-availability" && !is_availability(property.text))
    return {403, "<C:valid-calendar-data/>"};
  if (property.is(kCaldav, "schedule-calendar-transp")) {
    const bool known = property.children.size() == 1 && (property.children[0].is(kCaldav, "opaque") ||
                                                         property.children[0].is(kCaldav, "transparent"));
    if (!known) return {409, {}};
  }
  if (property.is(kServer, "source") && property.child(kDav, "href") == nullptr) return {409, {}};
  if (property.is(kApple, "refreshrate") && !wire::parse_ical_duration(property.trimmed())) return {409, {}};
  if (property.is(kApple, "calendar-order") && !property.trimmed().empty() &&
      !text::signed_number(property.trimmed()))
    return {409, {}};
  return {};
}

/// nullopt: components that we do not keep.
std::optional<std::int16_t> read_components(const wire::XmlElement& set) {
  using namespace collections::component;
  std::int16_t out = 0;
  for (const auto& comp : set.children) {
    const auto* name = comp.is(kCaldav, "comp") ? comp.attribute("", "name") : nullptr;
    if (name == nullptr) continue;
    const auto bit = text::iequals(*name, "VEVENT")     ? kEvent
                     : text::iequals(*name, "VTODO")    ? kTodo
                     : text::iequals(*name, "VJOURNAL") ? kJournal
                                                        : std::int16_t{0};
    if (bit == 0) return std::nullopt;
    out = static_cast<std::int16_t>(out | bit);
  }
  if (out == 0) return std::nullopt;
  return out;
}

unsigned read_type(const wire::XmlElement& type, bool& subscribed) {
  bool folder = false, calendar = false, book = false, other = false;
  subscribed = false;
  for (const auto& child : type.children) {
    if (child.is(kDav, "collection")) {
      folder = true;
    } else if (child.is(kCaldav, "calendar")) {
      calendar = true;
    } else if (child.is(kCarddav, "addressbook")) {
      book = true;
    } else if (child.is(kServer, "subscribed")) {
      subscribed = true;
    } else {
      other = true;
    }
  }
  if (subscribed && book) return kNothing;
  calendar = calendar || subscribed;
  if (!folder || other || calendar == book) return kNothing;
  return calendar ? kCalendar : kBook;
}

class Reader {
 public:
  Reader(Update& update, Kind kind, bool making) : update_(update), kind_(kind), making_(making) {}

  void property(wire::XmlElement element, bool is_set, const std::string* language) {
    if (is_set && language != nullptr && element.attribute(kXml, "lang") == nullptr)
      element.attributes.push_back({std::string(kXml), "lang", *language});
    const auto verdict = judge(element, is_set);
    auto known = std::find_if(update_.named.begin(), update_.named.end(), [&](const auto& one) {
      return one.name == element.name && one.ns == element.ns;
    });
    if (known == update_.named.end())
      known = update_.named.insert(known, {element.ns, element.name, 200, {}});
    if (verdict.status == 200) return;
    known->status = verdict.status;
    known->condition = verdict.condition;
    update_.fails = true;
  }

 private:
  Verdict judge(const wire::XmlElement& element, bool is_set) {
    if (making_ && is_set && element.is(kDav, "resourcetype")) {
      update_.type = read_type(element, update_.subscribed);
      const bool fits = *update_.type == kind_;
      return fits ? Verdict{} : Verdict{403, "<d:valid-resourcetype/>"};
    }
    if (making_ && is_set && element.is(kCaldav, "supported-calendar-component-set") && kind_ == kCalendar) {
      update_.components = read_components(element);
      return update_.components ? Verdict{} : Verdict{403, "<C:supported-calendar-component/>"};
    }
    const auto* live = find_live(element.ns, element.name);
    const bool is_ours = live != nullptr && (live->kinds & kind_) != 0;
    if (live != nullptr && live->is_protected) return {403, kProtected};
    if ((kind_ & (kHome | kCollection | kInbox)) == 0) return {403, kProtected};
    if (kind_ == kInbox && element.is(kCaldav, "schedule-default-calendar-URL")) {
      const auto* href = is_set ? element.child(kDav, "href") : nullptr;
      if (href == nullptr) return {403, "<C:valid-schedule-default-calendar-URL/>"};
      update_.default_calendar = std::string(href->trimmed());
      return {};
    }
    const bool is_inbox_value = kind_ == kInbox && element.name == "calendar-availability";
    if (is_set && (is_ours || is_inbox_value)) {
      if (const auto verdict = judge_value(element); verdict.status != 200) return verdict;
    }
    return keep(element, is_set);
  }

  Verdict keep(const wire::XmlElement& element, bool is_set) {
    std::optional<std::string> value;
    if (is_set) {
      wire::append_xml(value.emplace(), element);
      if (value->size() > static_cast<std::size_t>(collections::Collections::kPropertyBytesMax))
        return {507, {}};
    }
    update_.changes.push_back({element.ns, element.name, std::move(value)});
    return {};
  }

  Update& update_;
  Kind kind_;
  bool making_;
};

const std::string* language_of(const wire::XmlElement& element, const std::string* inherited) {
  const auto* own = element.attribute(kXml, "lang");
  return own != nullptr ? own : inherited;
}

void read_instructions(const wire::XmlElement& root, Reader& reader, bool making) {
  const auto* language = language_of(root, nullptr);
  for (const auto& instruction : root.children) {
    const bool is_set = instruction.is(kDav, "set");
    if (!is_set && (making || !instruction.is(kDav, "remove"))) continue;
    const auto* inside = language_of(instruction, language);
    for (const auto& prop : instruction.children) {
      if (!prop.is(kDav, "prop")) continue;
      for (const auto& property : prop.children) reader.property(property, is_set, language_of(prop, inside));
    }
  }
}

void let_others_fall(Update& update) {
  for (auto& one : update.named)
    if (one.status == 200) one.status = 424;
}

/// A zone is said as its name or as its rules. Who sets one sets the other, so that they never differ: the
/// name of the rules when they have a known one, no rules for a name.
void keep_zones_equal(Update& update) {
  const collections::PropertyChange *rules = nullptr, *name = nullptr;
  for (const auto& change : update.changes) {
    if (change.ns != kCaldav) continue;
    if (change.name == "calendar-timezone") rules = &change;
    if (change.name == "calendar-timezone-id") name = &change;
  }
  if ((rules == nullptr) == (name == nullptr)) return;
  const std::string other = rules != nullptr ? "calendar-timezone-id" : "calendar-timezone";
  collections::PropertyChange change{std::string(kCaldav), other, std::nullopt};
  if (rules != nullptr && rules->value) {
    const auto zone = zone_in(wire::parse_xml(*rules->value).text);
    if (zone && zone->is_iana()) {
      wire::XmlElement element;
      element.ns = kCaldav;
      element.name = other;
      element.text = zone->name();
      wire::append_xml(change.value.emplace(), element);
    }
  }
  update.changes.push_back(std::move(change));
}

}  // namespace

void Update::fail(std::string_view name, int status, std::string_view condition) {
  fails = true;
  for (auto& one : named) {
    if (one.name != name) continue;
    one.status = status;
    one.condition = condition;
  }
  let_others_fall(*this);
}

void Update::fail_last(int status, std::string_view condition) {
  fails = true;
  if (named.empty()) return;
  named.back().status = status;
  named.back().condition = condition;
  let_others_fall(*this);
}

void Update::fail_one(std::string_view ns, std::string_view name, int status, std::string_view condition) {
  fails = true;
  let_others_fall(*this);
  for (auto& one : named) {
    if (one.name != name || one.ns != ns) continue;
    one.status = status;
    one.condition = condition;
  }
}

namespace {

const collections::PropertyChange* last_of(const Update& update, std::string_view ns, std::string_view name) {
  const collections::PropertyChange* found = nullptr;
  for (const auto& change : update.changes)
    if (change.name == name && change.ns == ns) found = &change;
  return found;
}

}  // namespace

std::optional<std::string> Update::source() const {
  const auto* change = last_of(*this, kServer, "source");
  if (change == nullptr || !change->value) return std::nullopt;
  const auto element = wire::parse_xml(*change->value);
  const auto* href = element.child(kDav, "href");
  return href == nullptr ? std::string() : std::string(href->trimmed());
}

std::optional<std::int32_t> Update::refresh_seconds() const {
  const auto* change = last_of(*this, kApple, "refreshrate");
  if (change == nullptr || !change->value) return std::nullopt;
  const auto length = wire::parse_ical_duration(wire::parse_xml(*change->value).trimmed());
  if (!length) return std::nullopt;
  using Subscriptions = calendars::Subscriptions;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(length->days * wire::kDaySeconds + length->seconds, Subscriptions::kRefreshMin,
                               Subscriptions::kRefreshMax));
}

void Update::write(wire::Multistatus& out) const {
  std::vector<bool> told(named.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (told[i]) continue;
    out.begin_propstat();
    for (auto j = i; j < named.size(); ++j) {
      if (named[j].status != named[i].status || named[j].condition != named[i].condition) continue;
      told[j] = true;
      wire::append_empty_element(out.out(), named[j].ns, named[j].name, kNamespaces);
    }
    out.end_propstat(named[i].status, named[i].condition);
  }
}

Update read_update(const wire::XmlElement& root, Kind kind) {
  Update update;
  Reader reader(update, kind, false);
  read_instructions(root, reader, false);
  if (update.named.empty())
    throw Error(Errc::invalid, "bad_propertyupdate", "The body holds no property to set or remove");
  if (update.fails) let_others_fall(update);
  if (kind == kCalendar) keep_zones_equal(update);
  return update;
}

Update read_making(const wire::XmlElement& root, Kind kind) {
  Update update;
  Reader reader(update, kind, true);
  read_instructions(root, reader, true);
  if (update.fails) let_others_fall(update);
  if (kind == kCalendar) keep_zones_equal(update);
  return update;
}

}  // namespace welkin::dav::groupware
