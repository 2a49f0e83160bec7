#pragma once
#include <set>
#include <string>
#include <string_view>

#include "welkin/wire/ical.hpp"

namespace welkin::dav::groupware {

/// Makes one file of many objects: each time zone once, no wrappers of their own.
class CalendarJoiner {
 public:
  void begin(std::string& out, const std::string& name) {
    out += "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Welkin//Welkin//EN\r\nCALSCALE:GREGORIAN\r\n";
    wire::append_ical(out, {"X-WR-CALNAME", {}, wire::ical_escape(name)});
  }
  /// @param change  called with each component before it is written
  template <class F>
  void add(std::string& out, std::string_view data, const F& change) {
    for (auto& component : wire::parse_ical(data).components) {
      if (component.name == "VTIMEZONE" && !zones_.insert(std::string(component.value("TZID"))).second)
        continue;
      change(component);
      wire::append_ical(out, component);
    }
  }
  void add(std::string& out, std::string_view data) {
    add(out, data, [](wire::IcalComponent&) {});
  }

 private:
  std::set<std::string> zones_;
};

}  // namespace welkin::dav::groupware
