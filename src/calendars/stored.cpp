#include "welkin/calendars/stored.hpp"

#include "welkin/calendars/object.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {

static_assert(kEvent == collections::component::kEvent && kTodo == collections::component::kTodo &&
              kJournal == collections::component::kJournal);

namespace {

/// The strictest of all components: an override may be private where its series is not.
int class_flag(const wire::IcalComponent& calendar) {
  using namespace collections::object_flags;
  int flag = 0;
  for (const auto& component : calendar.components) {
    const auto value = text::trim(component.value("CLASS"));
    if (value.empty() || text::iequals(value, "PUBLIC")) continue;
    if (!text::iequals(value, "CONFIDENTIAL")) return kPrivate;  // what is unknown is private
    flag = kConfidential;
  }
  return flag;
}

}  // namespace

collections::Facts facts_of(std::string_view data, std::int16_t components) {
  const auto calendar = wire::parse_ical(data);
  ObjectRules rules;
  rules.kinds = components;
  check_object(calendar, rules);
  return facts_of(calendar);
}

collections::Facts facts_of(const wire::IcalComponent& calendar) {
  const auto described = describe_object(calendar);
  collections::Facts facts;
  facts.uid = described.uid;
  facts.component = described.kind;
  using namespace collections::object_flags;
  facts.flags =
      static_cast<std::int16_t>((described.recurring ? kRecurs : 0) | (described.has_alarm ? kHasAlarms : 0) |
                                class_flag(calendar));
  if (described.span) {
    facts.first = described.span->first;
    facts.last = described.span->last;
  }
  facts.title = described.summary;
  facts.search = described.search;
  return facts;
}

}  // namespace welkin::calendars
