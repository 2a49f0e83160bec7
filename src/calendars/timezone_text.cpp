#include <unicode/unistr.h>
#include <unicode/vtzone.h>

#include <memory>

#include "welkin/calendars/timezone.hpp"
#include "welkin/core/error.hpp"
#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

std::optional<wire::IcalComponent> vtimezone_of(std::string_view iana_name, std::int64_t from) {
  const auto zone = Zone::iana(iana_name);
  if (!zone) return std::nullopt;
  const std::unique_ptr<icu::VTimeZone> rules(icu::VTimeZone::createVTimeZoneByID(
      icu::UnicodeString::fromUTF8({zone->name().data(), static_cast<std::int32_t>(zone->name().size())})));
  if (!rules) return std::nullopt;
  icu::UnicodeString written;
  UErrorCode status = U_ZERO_ERROR;
  rules->write(static_cast<UDate>(from) * 1000, written, status);
  if (U_FAILURE(status)) return std::nullopt;
  std::string text = "BEGIN:VCALENDAR\r\n";
  written.toUTF8String(text);
  text += "\r\nEND:VCALENDAR\r\n";
  try {
    auto calendar = wire::parse_ical(text);
    if (calendar.components.size() != 1) return std::nullopt;
    auto out = std::move(calendar.components.front());
    out.remove("X-TZINFO");
    out.remove("LAST-MODIFIED");
    out.set("TZID", zone->name());
    return out;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace welkin::calendars
