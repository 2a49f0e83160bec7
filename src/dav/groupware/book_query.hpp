#pragma once
#include "dav/groupware/report.hpp"

namespace welkin::dav::groupware {

/// addressbook-query (RFC 6352 §8.6).
Task<> book_query(ReportRequest& request);

}  // namespace welkin::dav::groupware
