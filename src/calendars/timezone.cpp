#include "welkin/calendars/timezone.hpp"

#include <unicode/basictz.h>
#include <unicode/strenum.h>
#include <unicode/timezone.h>
#include <unicode/tztrans.h>
#include <unicode/ucal.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "calendars/timezone_table.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {
namespace {

constexpr std::int64_t kFirst = wire::days_from_civil(1800, 1, 1) * wire::kDaySeconds;
constexpr std::int64_t kLast = wire::days_from_civil(2500, 1, 1) * wire::kDaySeconds;
constexpr std::size_t kNamesMax = 256;

icu::UnicodeString wide(std::string_view s) {
  return icu::UnicodeString::fromUTF8({s.data(), static_cast<std::int32_t>(s.size())});
}

std::string narrow(const icu::UnicodeString& s) {
  std::string out;
  s.toUTF8String(out);
  return out;
}

/// ICU's own way to write the name, which it knows in this case only; "" when there is none.
std::string in_right_case(std::string_view name) {
  static const auto* const kAll = [] {
    auto* out = new std::map<std::string, std::string>;  // lives as long as the process
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<icu::StringEnumeration> ids(icu::TimeZone::createEnumeration(status));
    while (U_SUCCESS(status)) {
      const auto* id = ids->snext(status);
      if (!id) break;
      const auto found = narrow(*id);
      out->emplace(text::lower(found), found);
    }
    return out;
  }();
  const auto found = kAll->find(text::lower(name));
  return found == kAll->end() ? std::string() : found->second;
}

/// Every change of offset that ICU knows in the span we use.
std::vector<Transition> transitions_of(const icu::BasicTimeZone& zone, std::int64_t& first_offset) {
  UErrorCode status = U_ZERO_ERROR;
  std::int32_t raw = 0, dst = 0;
  zone.getOffset(static_cast<double>(kFirst) * 1000, false, raw, dst, status);
  first_offset = U_SUCCESS(status) ? (raw + dst) / 1000 : 0;
  std::vector<Transition> out;
  icu::TimeZoneTransition each;
  double at = static_cast<double>(kFirst) * 1000;
  while (zone.getNextTransition(at, false, each) && each.getTime() < static_cast<double>(kLast) * 1000) {
    at = each.getTime();
    const auto* to = each.getTo();
    out.push_back(
        {static_cast<std::int64_t>(at / 1000), 0, (to->getRawOffset() + to->getDSTSavings()) / 1000});
  }
  return out;
}

std::shared_ptr<const ZoneTable> icu_table(const std::string& name) {
  static std::shared_mutex mutex;
  static std::map<std::string, std::shared_ptr<const ZoneTable>> known;
  {
    const std::shared_lock lock(mutex);
    if (const auto found = known.find(name); found != known.end()) return found->second;
  }
  const std::unique_ptr<icu::TimeZone> zone(icu::TimeZone::createTimeZone(wide(name)));
  const auto* basic = dynamic_cast<const icu::BasicTimeZone*>(zone.get());
  if (!basic) return nullptr;
  std::int64_t first_offset = 0;
  auto transitions = transitions_of(*basic, first_offset);
  auto table = std::make_shared<const ZoneTable>(name, true, first_offset, std::move(transitions));
  const std::unique_lock lock(mutex);
  if (known.size() < kNamesMax * 4) known.emplace(name, table);  // there are not many more names than that
  return table;
}

/// "GMT+0100", "UTC-5", "+01:00": a clock that never changes.
std::shared_ptr<const ZoneTable> fixed_table(std::string_view tzid) {
  std::string_view rest = tzid;
  for (const std::string_view prefix : {"GMT", "UTC", "UT"})
    if (rest.size() >= prefix.size() && text::iequals(rest.substr(0, prefix.size()), prefix)) {
      rest.remove_prefix(prefix.size());
      break;
    }
  if (rest.size() < 2 || (rest[0] != '+' && rest[0] != '-')) return nullptr;
  std::string digits;
  for (const char c : rest.substr(1))
    if (c != ':') digits += c;
  if (digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos || digits.empty())
    return nullptr;
  if (digits.size() <= 2) digits = (digits.size() == 1 ? "0" : "") + digits + "00";
  if (digits.size() == 3) digits = "0" + digits;
  const auto offset = wire::parse_ical_offset(rest[0] + digits);
  if (!offset) return nullptr;
  return std::make_shared<const ZoneTable>(std::string(tzid), false, *offset, std::vector<Transition>{});
}

std::string windows_name(std::string_view tzid) {
  UErrorCode status = U_ZERO_ERROR;
  icu::UnicodeString id;
  icu::TimeZone::getIDForWindowsID(wide(tzid), nullptr, id, status);
  return U_FAILURE(status) ? std::string() : narrow(id);
}

std::string_view without_quotes(std::string_view name) {
  name = text::trim(name);
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  return name;
}

}  // namespace

Zone::Zone() {
  static const auto kUtc =
      std::make_shared<const ZoneTable>("UTC", true, std::int64_t{0}, std::vector<Transition>{});
  table_ = kUtc;
}

Zone::Zone(std::shared_ptr<const ZoneTable> table) : table_(std::move(table)) {}

std::optional<Zone> Zone::iana(std::string_view name) {
  name = without_quotes(name);
  if (name.empty() || name.size() > kNamesMax) return std::nullopt;
  const auto right = in_right_case(name);
  if (right.empty()) return std::nullopt;
  auto table = icu_table(right);
  if (!table) return std::nullopt;
  return Zone(std::move(table));
}

std::optional<Zone> Zone::named(std::string_view tzid) {
  tzid = without_quotes(tzid);
  if (tzid.empty() || tzid.size() > kNamesMax) return std::nullopt;
  if (auto found = iana(tzid)) return found;
  // "/example.org/20240101_1/Europe/Berlin", also with three words behind the prefix
  // ("America/Indiana/Knox").
  for (std::size_t slash = tzid.find('/'); slash != std::string_view::npos;
       slash = tzid.find('/', slash + 1)) {
    const auto rest = tzid.substr(slash + 1);
    if (rest.find('/') == std::string_view::npos && !text::iequals(rest, "UTC")) break;
    if (auto found = iana(rest)) return found;
  }
  if (const auto found = windows_name(tzid); !found.empty()) return iana(found);
  if (auto table = fixed_table(tzid)) return Zone(std::move(table));
  return std::nullopt;
}

std::optional<Zone> Zone::described(const wire::IcalComponent& vtimezone) {
  auto table = table_of(vtimezone);
  if (!table) return std::nullopt;
  return Zone(std::move(table));
}

std::optional<Zone> Zone::of(const wire::IcalComponent& vtimezone) {
  const auto tzid = vtimezone.text("TZID");
  if (auto known = iana(tzid)) return known;
  if (auto found = described(vtimezone)) return found;
  return named(tzid);
}

const std::string& Zone::name() const { return table_->name; }
bool Zone::is_iana() const { return table_->is_iana; }
std::int64_t Zone::to_utc(std::int64_t local_seconds) const { return table_->to_utc(local_seconds); }
std::int64_t Zone::to_local(std::int64_t utc_seconds) const { return table_->to_local(utc_seconds); }

}  // namespace welkin::calendars
