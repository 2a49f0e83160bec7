#pragma once
#include <span>

#include "dav/groupware/target.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav::groupware {

struct ReportRequest {
  const Services& services;
  http::Request& rq;
  http::Reply& rp;
  const Target& target;
  const wire::XmlElement& body;
};

struct Report {
  std::string_view ns, name;
  unsigned kinds;  // where it is offered
  Task<> (*run)(ReportRequest& request);
};
/// What is announced as DAV:supported-report-set is what is answered.
std::span<const Report> reports();

Task<> report(const Services& services, http::Request& rq, http::Reply& rp);

}  // namespace welkin::dav::groupware
