#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace welkin::wire {
struct IcalComponent;
}

namespace welkin::calendars {

struct ZoneTable;

/// The clock of a place: local time to UTC and back. Cheap to copy; may be used by many threads.
class Zone {
 public:
  /// UTC.
  Zone();

  /// The zone of a TZID, tried in this order: IANA names and their links in any case, such a name behind
  /// prefixes
  /// ("/example.org/x/Europe/Berlin"), Windows names ("W. Europe Standard Time"), fixed offsets ("GMT+0100",
  /// "UTC-5").
  static std::optional<Zone> named(std::string_view tzid);
  /// An IANA name or link, in any case, and nothing else (RFC 7809: `calendar-timezone-id`).
  static std::optional<Zone> iana(std::string_view name);
  /// The rules of a VTIMEZONE (RFC 5545 §3.6.5). nullopt: it has no usable observance.
  static std::optional<Zone> described(const wire::IcalComponent& vtimezone);
  /// What a VTIMEZONE means: the known zone of its TZID, else its rules. Embedded copies of known zones are
  /// often old or cut short, so ours win.
  static std::optional<Zone> of(const wire::IcalComponent& vtimezone);

  /// The IANA name, the TZID of a described zone, or "UTC".
  const std::string& name() const;
  bool is_iana() const;

  /// RFC 5545 §3.3.5: a local time that occurs twice is the first of the two; one that does not occur is read
  /// with the offset before the gap.
  std::int64_t to_utc(std::int64_t local_seconds) const;
  std::int64_t to_local(std::int64_t utc_seconds) const;

 private:
  explicit Zone(std::shared_ptr<const ZoneTable> table);
  std::shared_ptr<const ZoneTable> table_;
};

/// A VTIMEZONE of an IANA name, true from `from` on, for readers that know no names. nullopt: there is no such
/// zone.
/// @param from  seconds
std::optional<wire::IcalComponent> vtimezone_of(std::string_view iana_name, std::int64_t from);

}  // namespace welkin::calendars
