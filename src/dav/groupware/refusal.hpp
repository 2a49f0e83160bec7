#pragma once
#include <exception>
#include <string>
#include <string_view>

#include "welkin/http/router.hpp"

namespace welkin::dav::groupware {

/// Ends a request with an element that says more than its name: who has the UID, which privilege is missing.
class Refusal final : public std::exception {
 public:
  /// @param condition  the one child of DAV:error, XML with the prefixes of kNamespaces
  Refusal(http::Status status, std::string condition) : status_(status), condition_(std::move(condition)) {}
  const char* what() const noexcept override { return condition_.c_str(); }
  http::Status status() const noexcept { return status_; }
  const std::string& condition() const noexcept { return condition_; }

 private:
  http::Status status_;
  std::string condition_;
};

/// 403 with a precondition that needs no content: "C:valid-calendar-data".
[[noreturn]] void forbid(std::string_view element);
/// 403 DAV:need-privileges (RFC 3744 §7.1.1). @param href  ready for a DAV:href
[[noreturn]] void forbid_privilege(std::string_view href, std::string_view privilege);
/// 403 with the href of whoever has the UID.
[[noreturn]] void forbid_uid(bool calendar, std::string_view href);

/// The document of an error: exactly one child (clients and test suites look for nothing else).
std::string error_document(std::string_view condition);
/// For errors that other rooms throw.
std::string write_error(http::Status status, std::string_view slug, std::string_view message);

/// Answers what is thrown as Refusal.
http::Middleware answer_refusals();

}  // namespace welkin::dav::groupware
