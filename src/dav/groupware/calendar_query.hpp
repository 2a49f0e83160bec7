#pragma once
#include "dav/groupware/report.hpp"

namespace welkin::dav::groupware {

/// calendar-query (RFC 4791 §7.8).
Task<> calendar_query(ReportRequest& request);
/// free-busy-query (§7.10).
Task<> free_busy_query(ReportRequest& request);

}  // namespace welkin::dav::groupware
