#pragma once
#include "welkin/calendars/expand.hpp"

namespace welkin::calendars {

/// What of a component was asked for (RFC 4791 §9.6.1). A selection that names nothing asks for everything,
/// as in the example of §7.8.1.
wire::IcalComponent select(const wire::IcalComponent& component, const CompSelection& selection);

}  // namespace welkin::calendars
