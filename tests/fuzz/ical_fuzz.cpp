// iCalendar from hostile hands: read, written and read again it is the same, and nothing that is asked of it
// crashes, hangs or throws anything but welkin::Error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "welkin/calendars/expand.hpp"
#include "welkin/calendars/filter.hpp"
#include "welkin/calendars/freebusy.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/core/error.hpp"

using namespace welkin;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

template <class F>
bool is_done(F f) {
  try {
    f();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void ask(const wire::IcalComponent& calendar) {
  static const auto kBerlin = *calendars::Zone::iana("Europe/Berlin");
  constexpr calendars::TimeRange kMonth{1'772'323'200, 1'775'001'600};
  const bool is_object = is_done([&] { calendars::check_object(calendar); });
  const auto facts = calendars::describe_object(calendar);
  if (is_object) check(!facts.uid.empty());

  const std::string kind(calendars::name_of(facts.kind));
  calendars::CompFilter in_kind{kind, false, false, kMonth}, alarm{"VALARM", false, false, kMonth};
  calendars::CompFilter with_alarm{kind};
  with_alarm.components.push_back(alarm);
  for (const auto& each : {in_kind, with_alarm}) {
    calendars::CompFilter whole{"VCALENDAR"};
    whole.components.push_back(each);
    const bool found = calendars::passes(whole, calendar, kBerlin);
    // What passes is in the span that the index keeps. Values that no calendar takes may do what they like.
    if (found && is_object && each.range)
      check(facts.span && facts.span->last > kMonth.start && facts.span->first < kMonth.end);
  }
  is_done([&] { calendars::expand_object(calendar, kMonth, kBerlin, 100); });
  is_done([&] { calendars::instances_of(calendar, {}, calendars::Zone(), 100); });
  is_done([&] {
    calendars::DataRequest request;
    request.limit_recurrences = kMonth;
    request.limit_free_busy = kMonth;
    calendars::render_object(calendar, request, kBerlin);
  });
  calendars::BusyTimes busy(kMonth, {"mailto:a@b"});
  busy.add(calendar, kBerlin);
  std::int64_t at = kMonth.start;
  for (const auto& each : busy.periods()) {
    check(each.start >= at && each.start < each.end && each.end <= kMonth.end);
    at = each.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<wire::IcalComponent> all;
  if (!is_done([&] { all = wire::parse_icals(text); })) return 0;
  for (const auto& each : all) {
    std::string written;
    wire::append_ical(written, each);
    check(wire::parse_ical(written) == each);
    ask(each);
  }
  calendars::split_objects(all, +[] { return std::string("made"); });
  return 0;
}
