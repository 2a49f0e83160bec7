#pragma once
#include "dav/groupware/report.hpp"

namespace welkin::dav::groupware {

/// calendar-multiget (RFC 4791 §7.9) and addressbook-multiget (RFC 6352 §8.7).
Task<> multiget(ReportRequest& request);

}  // namespace welkin::dav::groupware
