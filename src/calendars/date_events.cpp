#include <fmt/core.h>

#include <array>
#include <optional>

#include "welkin/calendars/birthdays.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical.hpp"
#include "welkin/wire/vcard_facts.hpp"

namespace welkin::calendars {
namespace {

struct DateKind {
  const char* property;
  const char* mark;  // before the name
};
constexpr std::array kDateKinds{DateKind{"BDAY", "\U0001F382"}, DateKind{"ANNIVERSARY", "\U0001F48D"}};

// A leap year, so that it holds every day there is.
constexpr int kYearOfUnknown = 1972, kYearMin = 1900, kLeapYearMin = 1904;
constexpr std::size_t kNameDigits = 32;

/// Of what lives as long as the card does under its name.
std::string stem(std::string_view book_uid, std::string_view card_name, const char* property) {
  std::string of(property);
  (((of += '\n') += book_uid) += '\n') += card_name;
  const auto digest = crypto::sha256(of);
  return text::hex(std::as_bytes(std::span(digest))).substr(0, kNameDigits);
}

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in(int year, int month) {
  constexpr std::array kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

/// Where the series begins. What lies before calendars of our time reach is not gone through year by year.
int first_year(const wire::CardDate& date) {
  if (!date.year) return kYearOfUnknown;
  if (*date.year >= kYearMin) return *date.year;
  return date.month == 2 && date.day == 29 ? kLeapYearMin : kYearMin;
}

std::string event_of(const wire::CardDate& date, const std::string& uid, const std::string& name,
                     const DateKind& kind) {
  const int year = first_year(date);
  int end_year = year, end_month = date.month, end_day = date.day + 1;
  if (end_day > days_in(year, date.month)) {
    end_day = 1;
    if (++end_month > 12) {
      end_month = 1;
      ++end_year;
    }
  }
  const bool is_leap_day = date.month == 2 && date.day == 29;
  std::string summary = std::string(kind.mark) + ' ' + name;
  if (date.year) summary += fmt::format(" ({})", *date.year);
  std::string out = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Welkin//Birthdays//EN\r\nBEGIN:VEVENT\r\n";
  wire::append_ical(out, {"UID", {}, uid});
  wire::append_ical(out, {"DTSTAMP", {}, "19700101T000000Z"});  // the same for ever
  const std::vector<wire::IcalParameter> day{{"VALUE", {"DATE"}}};
  wire::append_ical(out, {"DTSTART", day, fmt::format("{:04}{:02}{:02}", year, date.month, date.day)});
  wire::append_ical(out, {"DTEND", day, fmt::format("{:04}{:02}{:02}", end_year, end_month, end_day)});
  wire::append_ical(out, {"RRULE", {}, is_leap_day ? "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1" : "FREQ=YEARLY"});
  wire::append_ical(out, {"SUMMARY", {}, wire::ical_escape(summary)});
  wire::append_ical(out, {"TRANSP", {}, "TRANSPARENT"});
  out += "END:VEVENT\r\nEND:VCALENDAR\r\n";
  return out;
}

bool exists(const wire::CardDate& date) {
  return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
         date.day <= days_in(date.year.value_or(kYearOfUnknown), date.month) && date.year.value_or(1) >= 1 &&
         date.year.value_or(1) <= 9999;
}

}  // namespace

std::vector<std::string> date_event_names(std::string_view book_uid, std::string_view card_name) {
  std::vector<std::string> out;
  for (const auto& kind : kDateKinds) out.push_back(stem(book_uid, card_name, kind.property) + ".ics");
  return out;
}

std::vector<DateEvent> date_events(std::string_view book_uid, std::string_view card_name,
                                   std::string_view card) {
  wire::CardFacts facts;
  try {
    facts = wire::describe_card(wire::parse_card(card));
  } catch (const Error&) {
    return {};
  }
  const std::array<std::optional<wire::CardDate>, 2> dates{facts.birthday, facts.anniversary};
  std::vector<DateEvent> out;
  for (std::size_t i = 0; i < dates.size(); ++i) {
    if (!dates[i] || !exists(*dates[i])) continue;
    const auto uid = stem(book_uid, card_name, kDateKinds[i].property);
    out.push_back({uid + ".ics", event_of(*dates[i], uid, facts.display_name, kDateKinds[i])});
  }
  return out;
}

}  // namespace welkin::calendars
