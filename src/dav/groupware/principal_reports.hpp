#pragma once
#include "dav/groupware/report.hpp"

namespace welkin::dav::groupware {

// RFC 3744 §9. Only one's own principal exists for anybody, so a search finds it or nothing.
Task<> principal_property_search(ReportRequest& request);
Task<> principal_search_property_set(ReportRequest& request);
Task<> principal_match(ReportRequest& request);

/// RFC 3253 §3.8: properties that are hrefs are told with what is there.
Task<> expand_property(ReportRequest& request);

}  // namespace welkin::dav::groupware
