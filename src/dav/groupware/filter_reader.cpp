#include "dav/groupware/filter_reader.hpp"

#include "dav/groupware/filter_text.hpp"
#include "dav/groupware/live.hpp"
#include "dav/groupware/refusal.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::dav::groupware {
namespace {

[[noreturn]] void refuse(const char* why) { throw Error(Errc::invalid, "bad_report", why); }

std::string name_of(const wire::XmlElement& filter) {
  const auto* name = filter.attribute("", "name");
  if (name == nullptr || name->empty()) forbid("C:valid-filter");
  return upper_name(*name);
}

bool is_any_of(const wire::XmlElement& filter) {
  const auto* test = filter.attribute("", "test");
  if (test == nullptr || *test == "allof") return false;
  if (*test != "anyof") forbid("C:valid-filter");
  return true;
}

/// "20260105T100000Z"
std::int64_t read_time(const std::string& value, bool both) {
  const auto time = wire::parse_ical_time(value);
  if (!time || time->is_date || !time->is_utc) {
    if (both) refuse("Times of a range are in UTC");
    forbid("C:valid-filter");
  }
  return time->local_seconds;
}

calendars::TextMatch read_match(const wire::XmlElement& element) {
  return {read_matcher(element, text::Collation::ascii_casemap, "C:", "C:valid-filter"),
          says_yes(element, "negate-condition")};
}

calendars::ParamFilter read_param(const wire::XmlElement& element) {
  calendars::ParamFilter out;
  out.name = name_of(element);
  if (element.children.size() > 1) forbid("C:valid-filter");
  for (const auto& child : element.children) {
    if (child.is(kCaldav, "is-not-defined")) {
      out.is_not_defined = true;
    } else if (child.is(kCaldav, "text-match")) {
      out.match = read_match(child);
    } else {
      forbid("C:supported-filter");
    }
  }
  return out;
}

calendars::PropFilter read_prop(const wire::XmlElement& element) {
  calendars::PropFilter out;
  out.name = name_of(element);
  out.any_of = is_any_of(element);
  for (const auto& child : element.children) {
    if (child.is(kCaldav, "is-not-defined")) {
      out.is_not_defined = true;
    } else if (child.is(kCaldav, "time-range")) {
      out.range = read_range(child, false);
    } else if (child.is(kCaldav, "text-match")) {
      out.matches.push_back(read_match(child));
    } else if (child.is(kCaldav, "param-filter")) {
      out.parameters.push_back(read_param(child));
    } else {
      forbid("C:supported-filter");
    }
  }
  return out;
}

calendars::CompFilter read_comp(const wire::XmlElement& element) {
  calendars::CompFilter out;
  out.name = name_of(element);
  out.any_of = is_any_of(element);
  for (const auto& child : element.children) {
    if (child.is(kCaldav, "is-not-defined")) {
      out.is_not_defined = true;
    } else if (child.is(kCaldav, "time-range")) {
      out.range = read_range(child, false);
    } else if (child.is(kCaldav, "prop-filter")) {
      out.properties.push_back(read_prop(child));
    } else if (child.is(kCaldav, "comp-filter")) {
      out.components.push_back(read_comp(child));
    } else {
      forbid("C:supported-filter");
    }
  }
  return out;
}

calendars::CompSelection read_selection(const wire::XmlElement& comp) {
  calendars::CompSelection out;
  out.name = name_of(comp);
  for (const auto& child : comp.children) {
    if (child.is(kCaldav, "allprop")) out.all_properties = true;
    if (child.is(kCaldav, "allcomp")) out.all_components = true;
    if (child.is(kCaldav, "comp")) out.components.push_back(read_selection(child));
    if (!child.is(kCaldav, "prop")) continue;
    out.properties.push_back({name_of(child), says_yes(child, "novalue")});
  }
  return out;
}

}  // namespace

calendars::TimeRange read_range(const wire::XmlElement& element, bool both) {
  const auto* start = element.attribute("", "start");
  const auto* end = element.attribute("", "end");
  if (start == nullptr && end == nullptr) refuse("A range has a start or an end");
  if (both && (start == nullptr || end == nullptr)) refuse("This range has a start and an end");
  calendars::TimeRange range;
  if (start != nullptr) range.start = read_time(*start, both);
  if (end != nullptr) range.end = read_time(*end, both);
  if (both && range.start >= range.end) refuse("A range ends after its start");
  return range;
}

calendars::CompFilter read_filter(const wire::XmlElement& query) {
  const auto* filter = query.child(kCaldav, "filter");
  if (filter == nullptr) refuse("A calendar-query has a filter");
  if (filter->children.size() != 1 || !filter->children[0].is(kCaldav, "comp-filter"))
    forbid("C:valid-filter");
  auto out = read_comp(filter->children[0]);
  calendars::check_filter(out);
  return out;
}

calendars::DataRequest read_calendar_data(const wire::XmlElement& element) {
  const auto* type = element.attribute("", "content-type");
  const auto* version = element.attribute("", "version");
  if ((type != nullptr && !text::iequals(*type, "text/calendar")) ||
      (version != nullptr && *version != "2.0"))
    forbid("C:supported-calendar-data");
  calendars::DataRequest out;
  for (const auto& child : element.children) {
    if (child.is(kCaldav, "comp")) out.selection = read_selection(child);
    if (child.is(kCaldav, "expand")) out.expand = read_range(child, true);
    if (child.is(kCaldav, "limit-recurrence-set")) out.limit_recurrences = read_range(child, true);
    if (child.is(kCaldav, "limit-freebusy-set")) out.limit_free_busy = read_range(child, true);
  }
  if (out.expand && out.limit_recurrences) refuse("A series is expanded or limited, not both");
  return out;
}

std::optional<calendars::Zone> zone_in(std::string_view icalendar) {
  try {
    const auto calendar = wire::parse_ical(icalendar);
    if (calendar.components.size() != 1 || calendar.components[0].name != "VTIMEZONE") return std::nullopt;
    return calendars::Zone::of(calendar.components[0]);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Task<calendars::Zone> floating_zone(const Services& services, const Caller& caller,
                                    const collections::Collection& calendar, const wire::XmlElement* body) {
  if (body != nullptr) {
    if (const auto* id = body->child(kCaldav, "timezone-id")) {
      const auto zone = calendars::Zone::iana(id->trimmed());
      if (!zone) forbid("C:valid-timezone");
      co_return *zone;
    }
    if (const auto* described = body->child(kCaldav, "timezone")) {
      const auto zone = zone_in(described->text);
      if (!zone) forbid("C:valid-calendar-data");
      co_return *zone;
    }
  }
  const std::string ns(kCaldav);
  const auto stored = co_await services.collections.properties(
      caller, {calendar.id}, {{ns, "calendar-timezone-id"}, {ns, "calendar-timezone"}});
  if (const auto zone =
          calendars::Zone::iana(text::trim(stored_text(stored, kCaldav, "calendar-timezone-id"))))
    co_return *zone;
  co_return zone_in(stored_text(stored, kCaldav, "calendar-timezone")).value_or(calendars::Zone());
}

}  // namespace welkin::dav::groupware
