// Recurrence rules: instances are in order, never before DTSTART, and there is an end to every walk.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "calendars/recurrence.hpp"

using namespace welkin;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const auto read = calendars::parse_rule({reinterpret_cast<const char*>(data) + 4, size - 4});
  const auto* rule = std::get_if<calendars::Rule>(&read);
  if (!rule) return 0;
  std::uint32_t offset = 0;
  for (int i = 0; i < 4; ++i) offset = offset << 8 | data[i];
  const std::int64_t start = std::int64_t{offset} - 1'000'000'000;
  calendars::RuleIterator all(*rule, start, 5'000), later(*rule, start, 5'000);
  const std::int64_t from = start + 40'000'000;
  later.skip_to(from);
  std::int64_t before = INT64_MIN;
  std::optional<std::int64_t> first_later;
  while (const auto at = all.next(INT64_MAX)) {
    if (*at <= before || *at < start) std::abort();
    before = *at;
    if (*at >= from && !first_later) first_later = at;
  }
  const auto jumped = later.next(INT64_MAX);
  // Where both had steps enough they agree.
  if (first_later && !later.used_up() && jumped != first_later) std::abort();
  if (rule->count) calendars::last_of_counted(*rule, start);
  return 0;
}
