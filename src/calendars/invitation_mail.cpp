#include "calendars/invitation_mail.hpp"

#include "welkin/core/crypto.hpp"
#include "welkin/mail/message.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::calendars {
namespace {

using wire::IcalComponent;

/// "2026-09-07 08:00 (Europe/Berlin)".
std::string when(const IcalComponent& component, std::string_view called) {
  const auto* property = component.property(called);
  const auto time = property ? wire::parse_ical_time(property->value) : std::nullopt;
  if (!time) return "";
  const auto digits = wire::format_ical_time(*time);
  auto out = digits.substr(0, 4) + '-' + digits.substr(4, 2) + '-' + digits.substr(6, 2);
  if (time->is_date) return out;
  out += ' ' + digits.substr(9, 2) + ':' + digits.substr(11, 2);
  const auto zone = property->parameter_value("TZID");
  if (time->is_utc) out += " (UTC)";
  if (!zone.empty()) ((out += " (") += zone) += ')';
  return out;
}

const IcalComponent& lead_of(const IcalComponent& calendar) {
  const IcalComponent* lead = nullptr;
  for (const auto& component : calendar.components)
    if (itip::is_item(component) && (lead == nullptr || component.property("RECURRENCE-ID") == nullptr))
      lead = &component;
  return lead == nullptr ? calendar : *lead;
}

std::string_view answer_word(const IcalComponent& lead) {
  const auto* attendee = lead.property("ATTENDEE");
  const auto said = attendee == nullptr ? std::string() : itip::partstat_of(*attendee);
  if (said == "ACCEPTED") return "Accepted";
  if (said == "DECLINED") return "Declined";
  if (said == "TENTATIVE") return "Maybe";
  return "Answer";
}

struct Wording {
  std::string subject, first;
};
Wording wording(const std::string& who, const IcalComponent& lead, itip::Method method) {
  auto title = lead.text("SUMMARY");
  if (title.empty()) title = "(no title)";
  switch (method) {
    case itip::Method::request:
      return {"Invitation: " + title, who + " invites you to \"" + title + "\"."};
    case itip::Method::cancel:
      return {"Cancelled: " + title, who + " has cancelled \"" + title + "\"."};
    case itip::Method::reply:
      return {std::string(answer_word(lead)) + ": " + title,
              who + " has answered your invitation to \"" + title + "\": " + std::string(answer_word(lead)) +
                  '.'};
  }
  return {};
}

}  // namespace

std::string write_invitation(const Config& config, const store::Person& sender, const std::string& recipient,
                             const IcalComponent& calendar, itip::Method method, std::int64_t now) {
  const auto& lead = lead_of(calendar);
  const auto who = sender.display_name.empty() ? sender.name : sender.display_name;
  const auto words = wording(who, lead, method);
  mail::Message out;
  out.from = config.mail_from;
  out.from_name = who;
  out.reply_to = mail::is_address(sender.email) ? sender.email : std::string();
  out.to = recipient;
  out.subject = words.subject;
  out.text = words.first + "\n\n";
  if (const auto start = when(lead, "DTSTART"); !start.empty()) {
    out.text += "When: " + start;
    if (const auto end = when(lead, "DTEND"); !end.empty()) out.text += " to " + end;
    out.text += lead.property("RRULE") != nullptr ? ", and again\n" : "\n";
  }
  if (const auto place = lead.text("LOCATION"); !place.empty()) out.text += "Where: " + place + '\n';
  if (const auto about = lead.text("DESCRIPTION"); !about.empty() && method == itip::Method::request)
    out.text += '\n' + about + '\n';
  out.method = itip::name_of(method);
  wire::append_ical(out.calendar, calendar);
  out.id = crypto::random_token(18) + '@' + config.mail_from.substr(config.mail_from.find('@') + 1);
  out.at = now;
  return mail::render(out);
}

}  // namespace welkin::calendars
