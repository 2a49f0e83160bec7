#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/http/message.hpp"

namespace welkin::http {

inline constexpr std::size_t kRangesMax = 16;

/// Reads a Range header (RFC 9110 §14.2) against a body of `size_bytes` bytes.
///
/// @return the slices to send, in the order asked, overlapping or touching ones joined; empty when the header
/// is to be
///         ignored and 200 sent (unknown unit, malformed, more than kRangesMax after joining)
/// @throws Error range_not_satisfiable `range` when no byte asked for is in the body (416, §15.5.17)
std::vector<Slice> parse_range(std::string_view value, std::uint64_t size_bytes);

/// Whether Range counts at all: true without If-Range; with one, only if it is the current strong tag or the
/// exact Last-Modified date (RFC 9110 §13.1.5).
bool if_range_holds(const Fields& headers, std::string_view etag, std::optional<Micros> last_modified);

/// "bytes 0-499/1234"
std::string content_range(const Slice& slice, std::uint64_t size_bytes);

}  // namespace welkin::http
