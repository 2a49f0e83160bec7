#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::wire {

/// A parameter of a content line (RFC 5545 §3.2). Values are without their quotes and with the ^ escapes of
/// RFC 6868 undone. A parameter without "=" has no values.
struct IcalParameter {
  std::string name;  // upper case
  std::vector<std::string> values;

  bool operator==(const IcalParameter&) const = default;
};

/// A content line (RFC 5545 §3.1), unfolded.
struct IcalProperty {
  std::string name;  // upper case
  std::vector<IcalParameter> parameters;
  std::string value;  // as on the wire: escapes are kept, ical_unescape undoes them

  /// nullptr when there is none. `called` in upper case.
  const IcalParameter* parameter(std::string_view called) const;
  /// Its first value, "" when there is none.
  std::string_view parameter_value(std::string_view called) const;
  /// Replaces the parameter, or adds it behind the others; "" removes it.
  void set_parameter(std::string_view called, std::string value_text);

  bool operator==(const IcalProperty&) const = default;
};

/// A component: VCALENDAR, VEVENT, VALARM and the like. Everything stands in its order.
struct IcalComponent {
  std::string name;  // upper case
  std::vector<IcalProperty> properties;
  std::vector<IcalComponent> components;

  /// The first such property; nullptr when there is none. `called` in upper case.
  const IcalProperty* property(std::string_view called) const;
  IcalProperty* property(std::string_view called);
  /// Its value as on the wire, "" when there is none.
  std::string_view value(std::string_view called) const;
  /// Its value with the escapes of TEXT undone, "" when there is none.
  std::string text(std::string_view called) const;
  std::size_t count(std::string_view called) const;
  /// Removes every such property.
  void remove(std::string_view called);
  /// Replaces the first such property, its parameters too, or adds one; further ones go.
  void set(std::string_view called, std::string value_on_the_wire);

  bool operator==(const IcalComponent&) const = default;
};

/// What a body may cost. ATTACH, IMAGE and PHOTO are only bounded by `bytes_max`.
struct IcalLimits {
  std::size_t bytes_max = std::size_t{10} << 20;
  std::size_t line_bytes_max = std::size_t{1} << 20;  // unfolded
  std::size_t lines_max = 20'000;                     // unfolded
  std::size_t depth_max = 8;
  std::size_t parameters_max = 256;  // of one line
};

/// Reads untrusted iCalendar text (RFC 5545 §3.1): UTF-8, lines ended by CRLF, LF or CR, folded anywhere,
/// names in any case, empty lines passed over, a byte order mark passed over. Nothing but the form is judged.
/// Takes time linear in the size.
///
/// @return the one VCALENDAR of the text
/// @throws Error forbidden `valid_calendar_data` (not UTF-8, control characters or others XML cannot say,
/// BEGIN and END that are no pairs, a line without ":", anything but one VCALENDAR, a limit of lines, depth
/// or parameters passed), `max_resource_size` (more than bytes_max)
IcalComponent parse_ical(std::string_view text, const IcalLimits& limits = {});

/// As parse_ical, for files of any number of VCALENDARs, in their order. Empty text is no error.
std::vector<IcalComponent> parse_icals(std::string_view text, const IcalLimits& limits = {});

enum class LineEnd : bool { crlf, lf };

/// Appends the component, folded at 75 octets and never inside a code point (RFC 5545 §3.1), parameter values
/// quoted and escaped (RFC 6868) where they need it.
void append_ical(std::string& out, const IcalComponent& component, LineEnd end = LineEnd::crlf);
/// One content line of it.
void append_ical(std::string& out, const IcalProperty& property, LineEnd end = LineEnd::crlf);

/// TEXT (RFC 5545 §3.3.11): "\n", "\;", "\," and "\\" undone; other backslashes stay.
std::string ical_unescape(std::string_view value);
std::string ical_escape(std::string_view text);
/// The values of a list (CATEGORIES, EXDATE), split at the commas that are not escaped; escapes are kept.
std::vector<std::string_view> ical_list(std::string_view value);

}  // namespace welkin::wire
