#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/wire/ical.hpp"

namespace welkin::wire {

/// A content line of iCalendar or vCard, unfolded (RFC 5545 §3.1, RFC 6350 §3.3).
struct ContentLine {
  std::string group;  // as written; "" without, and always without has_groups
  std::string name;   // upper case
  std::vector<IcalParameter> parameters;
  std::string_view value;  // into the line
};

struct LineRules {
  std::size_t parameters_max;
  bool has_groups = false;  // "item1.EMAIL:" (RFC 6350 §3.3)
  bool has_carets = true;   // RFC 6868; vCard 2.1 and 3.0 have no such escapes
};

/// Fills `out`. Returns why the line cannot be read; nullptr: it could.
const char* read_content_line(std::string_view line, const LineRules& rules, ContentLine& out);

}  // namespace welkin::wire
