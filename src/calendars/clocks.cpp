#include "calendars/series.hpp"

namespace welkin::calendars {
namespace {

constexpr int kDescribedMax = 10;  // zones of its own that an object may make us work out

}  // namespace

Clocks::Clocks(const wire::IcalComponent& calendar, const Zone& floating)
    : calendar_(calendar), floating_(floating) {}

const Zone* Clocks::zone_of(const std::string& tzid) const {
  if (const auto known = zones_.find(tzid); known != zones_.end())
    return known->second ? &*known->second : nullptr;
  auto zone = Zone::iana(tzid);
  if (!zone && described_++ < kDescribedMax) {
    for (const auto& component : calendar_.components)
      if (component.name == "VTIMEZONE" && component.text("TZID") == tzid) {
        zone = Zone::described(component);
        break;
      }
  }
  if (!zone) zone = Zone::named(tzid);
  const auto& kept = zones_.emplace(tzid, std::move(zone)).first->second;
  return kept ? &*kept : nullptr;  // a name nobody knows: floating
}

Stamp Clocks::at(const Stamp& like, std::int64_t local_seconds) const {
  Stamp out = like;
  out.time.local_seconds = local_seconds;
  out.utc = out.zone          ? out.zone->to_utc(local_seconds)
            : out.time.is_utc ? local_seconds
                              : floating_.to_utc(local_seconds);
  return out;
}

std::optional<Stamp> Clocks::stamp(const wire::IcalProperty& property, std::string_view value) const {
  const auto time = wire::parse_ical_time(value);
  if (!time) return std::nullopt;
  Stamp out{*time, nullptr, 0};
  if (!time->is_date && !time->is_utc)
    if (const auto tzid = property.parameter_value("TZID"); !tzid.empty())
      out.zone = zone_of(std::string(tzid));
  return at(out, time->local_seconds);
}

std::optional<Stamp> Clocks::stamp(const wire::IcalComponent& component, std::string_view called) const {
  const auto* property = component.property(called);
  return property ? stamp(*property, property->value) : std::nullopt;
}

}  // namespace welkin::calendars
