#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "welkin/http/path.hpp"

namespace welkin::http {

/// nullptr when every name and value of a query decodes to UTF-8 without NUL, else what is wrong.
const char* check_query(std::string_view query);
/// The first value of `name`, decoded ('+' is a blank); nullopt when absent. `query` has passed check_query.
std::optional<std::string> find_query(std::string_view query, std::string_view name);

/// The value of a cookie in a Cookie field, without quotes; "" when absent.
std::string_view find_cookie(std::string_view cookies, std::string_view name);

}  // namespace welkin::http
