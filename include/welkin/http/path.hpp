#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace welkin::http {

/// Splits and decodes a path once, with the rules every protocol shares: split at '/', empty segments
/// dropped, then %XX decoded. '+' is a plus. The session does this for each request; protocols do it for
/// paths in other headers.
/// @param path  starts with '/', no query
/// @return nullptr, or what is wrong: a '.' or '..' segment, an encoded '/', NUL, a control character (C0,
/// DEL, C1), bytes
///         that are not UTF-8, a bad escape
const char* decode_path(std::string_view path, std::vector<std::string>& segments, bool& trailing_slash);

}  // namespace welkin::http
