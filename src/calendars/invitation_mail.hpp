#pragma once
#include "calendars/itip.hpp"
#include "calendars/scheduling_store.hpp"
#include "welkin/core/config.hpp"

namespace welkin::calendars {

/// A scheduling message as a mail (RFC 6047), ready for the relay.
/// @param calendar  whose addresses a stranger can read: no paths of ours
std::string write_invitation(const Config& config, const store::Person& sender, const std::string& recipient,
                             const wire::IcalComponent& calendar, itip::Method method, std::int64_t now);

}  // namespace welkin::calendars
