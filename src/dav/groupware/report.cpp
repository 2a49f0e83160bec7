#include "dav/groupware/report.hpp"

#include "dav/groupware/answer.hpp"
#include "dav/groupware/book_query.hpp"
#include "dav/groupware/calendar_query.hpp"
#include "dav/groupware/multiget.hpp"
#include "dav/groupware/principal_reports.hpp"
#include "dav/groupware/refusal.hpp"
#include "dav/groupware/sync.hpp"
#include "welkin/core/error.hpp"
#include "welkin/dav/resource.hpp"

namespace welkin::dav::groupware {
namespace {

constexpr unsigned kPeople = kRoot | kPrincipals | kPrincipal;

/// Of what never holds anything.
Task<> nothing(ReportRequest& request) {
  const auto query = read_report_props(request.body);
  Answer answer(request.services, request.rq, request.rp, query, request.target.spot);
  co_await answer.begin();
  co_await answer.end();
}

constexpr Report kReports[] = {
    {kDav, "principal-property-search", kPeople, principal_property_search},
    {kDav, "principal-search-property-set", kPeople, principal_search_property_set},
    {kDav, "principal-match", kPeople | kHome, principal_match},
    {kDav, "expand-property", kPeople | kHome | kCollection | kInbox, expand_property},
    {kDav, "acl-principal-prop-set", kCollection, acl_principal_prop_set},
    {kServer, "calendarserver-principal-search", kPeople, calendarserver_principal_search},
    {kDav, "sync-collection", kCollection | kInbox | kHome, sync_collection},
    {kCaldav, "calendar-multiget", kCalendar | kInbox, multiget},
    {kCaldav, "calendar-query", kCalendar | kInbox, calendar_query},
    {kCaldav, "calendar-multiget", kOutbox, nothing},
    {kCaldav, "calendar-query", kOutbox, nothing},
    {kCaldav, "free-busy-query", kCalendar, free_busy_query},
    {kCarddav, "addressbook-multiget", kBook, multiget},
    {kCarddav, "addressbook-query", kBook, book_query},
};

}  // namespace

std::span<const Report> reports() { return kReports; }

Task<> report(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto body = co_await read_xml(rq);
  if (!body) throw Error(Errc::invalid, "bad_report", "A REPORT says in its body which");
  const auto target = co_await require_target(services, rq.caller(), spot_of(rq));
  for (const auto& known : reports()) {
    if (!body->is(known.ns, known.name) || (known.kinds & target.spot.kind) == 0) continue;
    ReportRequest request{services, rq, rp, target, *body};
    co_await known.run(request);
    co_return;
  }
  forbid("d:supported-report");
}

}  // namespace welkin::dav::groupware
