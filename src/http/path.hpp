#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::http {

/// Splits and decodes a path once, with the rules every protocol shares: split at '/', empty segments
/// dropped, then %XX decoded. '+' is a plus.
/// @param path  starts with '/', no query
/// @return nullptr, or what is wrong: a '.' or '..' segment, an encoded '/', NUL, a control character (C0,
/// DEL, C1), bytes
///         that are not UTF-8, a bad escape
const char* decode_path(std::string_view path, std::vector<std::string>& segments, bool& trailing_slash);

/// nullptr when every name and value of a query decodes to UTF-8 without NUL, else what is wrong.
const char* check_query(std::string_view query);
/// The first value of `name`, decoded ('+' is a blank); nullopt when absent. `query` has passed check_query.
std::optional<std::string> find_query(std::string_view query, std::string_view name);

/// The value of a cookie in a Cookie field, without quotes; "" when absent.
std::string_view find_cookie(std::string_view cookies, std::string_view name);

}  // namespace welkin::http
