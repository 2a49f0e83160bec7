#include "dav/groupware/refusal.hpp"

#include <optional>

#include "welkin/http/message.hpp"

namespace welkin::dav::groupware {
namespace {

/// How a slug is said here. What is not listed is an element of our own.
struct Wording {
  std::string_view slug, element;
};
constexpr Wording kWordings[] = {
    {"forbidden", "<d:need-privileges/>"},
    {"quota_not_exceeded", "<d:quota-not-exceeded/>"},
    {"too_many_collections", "<d:quota-not-exceeded/>"},
    {"too_many_properties", "<d:quota-not-exceeded/>"},
    {"no_external_entities", "<d:no-external-entities/>"},
    {"exists", "<d:resource-must-be-null/>"},
    // RFC 4791 §5.3.2.1
    {"valid_calendar_data", "<C:valid-calendar-data/>"},
    {"valid_calendar_object_resource", "<C:valid-calendar-object-resource/>"},
    {"supported_calendar_component", "<C:supported-calendar-component/>"},
    {"max_resource_size", "<C:max-resource-size/>"},
    {"max_instances", "<C:max-instances/>"},
    {"max_attendees_per_instance", "<C:max-attendees-per-instance/>"},
    {"min_date_time", "<C:min-date-time/>"},
    {"max_date_time", "<C:max-date-time/>"},
    {"valid_filter", "<C:valid-filter/>"},
    // RFC 6638 §3.2.4
    {"unique_scheduling_object_resource", "<C:unique-scheduling-object-resource/>"},
    {"same_organizer_in_all_components", "<C:same-organizer-in-all-components/>"},
    {"allowed_organizer_scheduling_object_change", "<C:allowed-organizer-scheduling-object-change/>"},
    {"allowed_attendee_scheduling_object_change", "<C:allowed-attendee-scheduling-object-change/>"},
    {"default_calendar_needed", "<C:default-calendar-needed/>"},
    {"valid_schedule_default_calendar_url", "<C:valid-schedule-default-calendar-URL/>"},
    {"valid_scheduling_message", "<C:valid-scheduling-message/>"},
    {"valid_organizer", "<C:valid-organizer/>"},
    // RFC 6352 §6.3.2.1
    {"valid_address_data", "<A:valid-address-data/>"},
    {"supported_address_data", "<A:supported-address-data/>"},
    {"supported_rscale", "<C:supported-rscale/>"},  // RFC 7529 §7
};

Task<> guarded(const http::Handler& next, http::Request& rq, http::Reply& rp) {
  std::optional<Refusal> refusal;
  try {
    co_await next(rq, rp);
  } catch (const Refusal& e) {
    if (rp.begun()) throw;
    refusal = e;
  }
  if (!refusal) co_return;
  rp.reset();
  co_await rp.send(refusal->status(), "application/xml; charset=utf-8", error_document(refusal->condition()));
}

}  // namespace

void forbid(std::string_view element) {
  throw Refusal(http::Status::forbidden, "<" + std::string(element) + "/>");
}

void forbid_privilege(std::string_view href, std::string_view privilege) {
  throw Refusal(http::Status::forbidden, "<d:need-privileges><d:resource><d:href>" + std::string(href) +
                                             "</d:href><d:privilege><" + std::string(privilege) +
                                             "/></d:privilege></d:resource></d:need-privileges>");
}

void forbid_uid(bool calendar, std::string_view href) {
  const std::string name = calendar ? "C:no-uid-conflict" : "A:no-uid-conflict";
  throw Refusal(http::Status::forbidden,
                "<" + name + "><d:href>" + std::string(href) + "</d:href></" + name + ">");
}

std::string error_document(std::string_view condition) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<d:error xmlns:d=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" "
      "xmlns:A=\"urn:ietf:params:xml:ns:carddav\" xmlns:CS=\"http://calendarserver.org/ns/\" "
      "xmlns:w=\"urn:welkin:error\">";
  return (out += condition) += "</d:error>";
}

std::string write_error(http::Status /*status*/, std::string_view slug, std::string_view /*message*/) {
  for (const auto& known : kWordings)
    if (known.slug == slug) return error_document(known.element);
  return error_document("<w:" + std::string(slug) + "/>");
}

http::Middleware answer_refusals() { return guarded; }

}  // namespace welkin::dav::groupware
