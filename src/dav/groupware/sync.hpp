#pragma once
#include "dav/groupware/report.hpp"

namespace welkin::dav::groupware {

/// RFC 6578 of one collection.
Task<> sync_collection(ReportRequest& request);

}  // namespace welkin::dav::groupware
