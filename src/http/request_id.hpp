#pragma once
#include <string>
#include <string_view>

namespace welkin::http {

/// 1..64 of [A-Za-z0-9._-]: what a client or proxy may name a request, safe in logs and headers.
bool is_request_id(std::string_view s);
/// A UUID of version 7 (RFC 9562 §5.7): sorts by time.
void make_request_id(std::string& out);

}  // namespace welkin::http
