#pragma once
#include <string>
#include <string_view>

#include "welkin/http/router.hpp"

namespace welkin::dav {

/// The one place where an exception becomes a DAV answer: `DAV:error` XML with a precondition element (RFC
/// 4918 §16), and on 401 the Basic challenge.
/// @param write  the body of an answer, when it is not error_xml
using ErrorWriter = std::string (*)(http::Status status, std::string_view slug, std::string_view message);
http::Middleware answer_errors(ErrorWriter write = nullptr);

/// The body of an error. `slug` is a DAV: element where RFC 4918 or 4331 name one, else an element of our own
/// namespace. @param inside  its content, XML
/// @param exception  what s:exception says; "": the slug
std::string error_xml(std::string_view slug, std::string_view message, std::string_view inside = {},
                      std::string_view exception = {});

/// The same, with the names that the sync clients of Nextcloud know: `Sabre\\DAV\\Exception\\NotFound`.
std::string nextcloud_error(http::Status status, std::string_view slug, std::string_view message);
std::string nextcloud_error(http::Status status, std::string_view slug, std::string_view message,
                            std::string_view inside);
/// The class of such an error.
std::string_view nextcloud_exception(http::Status status, std::string_view slug);

}  // namespace welkin::dav
