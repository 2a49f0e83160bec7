#pragma once
#include <string>
#include <string_view>

namespace welkin::calendars {

/// What others are told of a confidential object (RFC 5545 §3.8.1.3): when it is, and that its owner is busy.
/// The same bytes always give the same bytes.
std::string masked(std::string_view data);

}  // namespace welkin::calendars
