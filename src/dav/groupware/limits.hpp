#pragma once
#include <cstddef>

namespace welkin::dav::groupware {

/// What properties announce and writes keep to.
inline constexpr std::size_t kObjectBytesMax = std::size_t{10} << 20;
inline constexpr int kInstancesMax = 10'000;
inline constexpr int kAttendeesMax = 300;
inline constexpr std::size_t kHrefsMax = 5000;  // of one multiget

}  // namespace welkin::dav::groupware
