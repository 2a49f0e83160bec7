#include "welkin/calendars/mask.hpp"

#include <set>

#include "welkin/calendars/object.hpp"
#include "welkin/core/error.hpp"
#include "welkin/wire/ical.hpp"

namespace welkin::calendars {
namespace {

const std::set<std::string, std::less<>>& told() {
  static const std::set<std::string, std::less<>> names = {
      "UID",    "DTSTAMP", "DTSTART", "DTEND",         "DURATION", "DUE",    "RRULE", "RDATE",
      "EXDATE", "EXRULE",  "STATUS",  "RECURRENCE-ID", "SEQUENCE", "TRANSP", "CLASS"};
  return names;
}

void mask_component(wire::IcalComponent& component) {
  std::erase_if(component.properties, [](const auto& property) { return !told().contains(property.name); });
  component.components.clear();
  component.properties.push_back({"SUMMARY", {}, "Busy"});
}

}  // namespace

std::string masked(std::string_view data) {
  wire::IcalComponent calendar;
  try {
    calendar = wire::parse_ical(data);
  } catch (const Error&) {
    calendar.name = "VCALENDAR";  // of what cannot be read nothing is told
  }
  calendar.properties = {{"VERSION", {}, "2.0"}, {"PRODID", {}, "-//Welkin//Welkin//EN"}};
  std::erase_if(calendar.components, [](const auto& component) {
    return component.name != "VTIMEZONE" && !kind_named(component.name);
  });
  for (auto& component : calendar.components)
    if (component.name != "VTIMEZONE") mask_component(component);
  std::string out;
  wire::append_ical(out, calendar);
  return out;
}

}  // namespace welkin::calendars
