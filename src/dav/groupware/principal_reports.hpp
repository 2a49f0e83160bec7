#pragma once
#include "dav/groupware/report.hpp"

namespace welkin::dav::groupware {

// RFC 3744 §9. Whom a search finds is decided by people::Directory.
Task<> principal_property_search(ReportRequest& request);
Task<> calendarserver_principal_search(ReportRequest& request);
Task<> acl_principal_prop_set(ReportRequest& request);
Task<> principal_search_property_set(ReportRequest& request);
Task<> principal_match(ReportRequest& request);

/// RFC 3253 §3.8: properties that are hrefs are told with what is there.
Task<> expand_property(ReportRequest& request);

}  // namespace welkin::dav::groupware
