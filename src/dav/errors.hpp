#pragma once
#include <string>
#include <string_view>

#include "welkin/http/router.hpp"

namespace welkin::dav {

/// The one place where an exception becomes a DAV answer: `DAV:error` XML with a precondition element (RFC
/// 4918 §16), and on 401 the Basic challenge.
/// @param write  the body of an answer, when it is not error_xml
using ErrorWriter = std::string (*)(std::string_view slug, std::string_view message);
http::Middleware answer_errors(ErrorWriter write = nullptr);

/// The body of an error. `slug` is a DAV: element where RFC 4918 or 4331 name one, else an element of our own
/// namespace. @param inside  its content, XML
std::string error_xml(std::string_view slug, std::string_view message, std::string_view inside = {});

}  // namespace welkin::dav
