// What an event costs where it is looked at: read and described on PUT, expanded and filtered in reports. The
// libical arms do less: they read, or walk one rule, and no more.
#include <benchmark/benchmark.h>
#include <libical/ical.h>

#include "welkin/calendars/expand.hpp"
#include "welkin/calendars/filter.hpp"
#include "welkin/calendars/object.hpp"
#include "welkin/wire/ical_value.hpp"
#include "welkin/wire/vcard.hpp"
#include "welkin/wire/vcard_facts.hpp"

namespace {

using namespace welkin;

std::string event_text(int number, bool recurring) {
  std::string out = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\nBEGIN:VEVENT\r\nUID:event-" +
                    std::to_string(number) +
                    "@example.org\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Europe/Berlin:2025" +
                    (number % 2 ? "0113" : "0616") + "T093000\r\nDTEND;TZID=Europe/Berlin:2025" +
                    (number % 2 ? "0113" : "0616") + "T103000\r\n";
  if (recurring) out += "RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR\r\nEXDATE;TZID=Europe/Berlin:20260316T093000\r\n";
  out += "SUMMARY:Planning of the quarter " + std::to_string(number) +
         "\r\nLOCATION:Room 3\\, second floor\r\nDESCRIPTION:" + std::string(200, 'd') +
         "\r\n "
         "more\r\nORGANIZER;CN=Alice:mailto:alice@example.org\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:alice@"
         "example.org\r\n"
         "ATTENDEE;RSVP=TRUE:mailto:bob@example.org\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-"
         "PT15M\r\nEND:VALARM\r\n"
         "END:VEVENT\r\nEND:VCALENDAR\r\n";
  return out;
}

std::int64_t at(std::string_view text) { return wire::parse_ical_time(text)->local_seconds; }

void BM_ReadAndDescribe(benchmark::State& state) {
  const auto text = event_text(1, true);
  for (auto _ : state) {
    const auto calendar = wire::parse_ical(text);
    calendars::check_object(calendar);
    benchmark::DoNotOptimize(calendars::describe_object(calendar));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(BM_ReadAndDescribe)->Unit(benchmark::kMicrosecond);

void BM_ReadOnly(benchmark::State& state) {
  const auto text = event_text(1, true);
  for (auto _ : state) benchmark::DoNotOptimize(wire::parse_ical(text));
}
BENCHMARK(BM_ReadOnly)->Unit(benchmark::kMicrosecond);

void BM_ReadOnlyLibical(benchmark::State& state) {
  const auto text = event_text(1, true);
  for (auto _ : state) icalcomponent_free(icalparser_parse_string(text.c_str()));
}
BENCHMARK(BM_ReadOnlyLibical)->Unit(benchmark::kMicrosecond);

/// A rule begun a year before, three times a week: 157 instances.
void BM_ExpandYear(benchmark::State& state) {
  const auto calendar = wire::parse_ical(event_text(1, true));
  const auto berlin = *calendars::Zone::iana("Europe/Berlin");
  const calendars::TimeRange year{at("20260101T000000Z"), at("20270101T000000Z")};
  std::size_t instances = 0;
  for (auto _ : state) instances = calendars::instances_of(calendar, year, berlin).size();
  state.counters["instances"] = static_cast<double>(instances);
}
BENCHMARK(BM_ExpandYear)->Unit(benchmark::kMicrosecond);

void BM_ExpandYearLibical(benchmark::State& state) {
  auto* calendar = icalparser_parse_string(event_text(1, true).c_str());
  auto* event = icalcomponent_get_first_component(calendar, ICAL_VEVENT_COMPONENT);
  const auto from = icaltime_from_string("20260101T000000Z"), to = icaltime_from_string("20270101T000000Z");
  std::size_t instances = 0;
  for (auto _ : state) {
    instances = 0;
    icalcomponent_foreach_recurrence(
        event, from, to,
        [](icalcomponent*, icaltime_span*, void* count) { ++*static_cast<std::size_t*>(count); }, &instances);
  }
  state.counters["instances"] = static_cast<double>(instances);
  icalcomponent_free(calendar);
}
BENCHMARK(BM_ExpandYearLibical)->Unit(benchmark::kMicrosecond);

/// A month's report over a thousand stored events, one in five recurring, read from their bytes.
void BM_FilterThousand(benchmark::State& state) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(event_text(i, i % 5 == 0));
  calendars::CompFilter event{"VEVENT"}, whole{"VCALENDAR"};
  event.range = calendars::TimeRange{at("20260301T000000Z"), at("20260401T000000Z")};
  whole.components.push_back(event);
  std::size_t found = 0;
  for (auto _ : state) {
    found = 0;
    for (const auto& text : texts)
      found += calendars::passes(whole, wire::parse_ical(text), calendars::Zone());
  }
  state.counters["found"] = static_cast<double>(found);
}
BENCHMARK(BM_FilterThousand)->Unit(benchmark::kMillisecond);

void BM_ReadAndDescribeCard(benchmark::State& state) {
  const std::string text =
      "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:1\r\nN:Doe;Jane;;;\r\nFN:Jane "
      "Doe\r\nORG:Example;Lab\r\nEMAIL;TYPE=WORK:jane@example.org\r\n"
      "EMAIL;TYPE=HOME:jd@example.net\r\nTEL;TYPE=CELL:+49 170 1234567\r\nADR;TYPE=HOME:;;Street "
      "1;Town;;12345;DE\r\n"
      "BDAY:1980-02-29\r\nNOTE:" +
      std::string(100, 'n') + "\r\nEND:VCARD\r\n";
  for (auto _ : state) benchmark::DoNotOptimize(wire::describe_card(wire::parse_card(text)));
}
BENCHMARK(BM_ReadAndDescribeCard)->Unit(benchmark::kMicrosecond);

/// One line of 8 MiB: linear, whatever stands on it.
void BM_OneLongLine(benchmark::State& state) {
  const std::string text = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nATTACH;ENCODING=BASE64:" +
                           std::string(static_cast<std::size_t>(state.range(0)) << 20, 'A') +
                           "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
  for (auto _ : state) benchmark::DoNotOptimize(wire::parse_ical(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(BM_OneLongLine)->Arg(2)->Arg(8)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
