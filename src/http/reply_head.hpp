#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "welkin/http/message.hpp"

namespace welkin::http {

/// How a body's end is told (RFC 9112 §6).
enum class Framing : std::uint8_t { none, length, chunked, until_close };

struct ReplyHead {
  Status status = Status::ok;
  const Fields* fields = nullptr;
  std::string_view content_type;  // "" : none, unless `fields` has one
  Framing framing = Framing::none;
  std::uint64_t length = 0;
  bool close = false;
  bool say_keep_alive = false;  // to an HTTP/1.0 client that asked for it
  bool strict_transport = false;
  std::string_view date;
  std::string_view request_id;
};

/// Appends status line, fields, the defaults the fields leave open (a field set to "" suppresses its default)
/// and the blank line. Framing fields belong to the writer: a handler's Content-Length, Transfer-Encoding,
/// Connection and Keep-Alive are dropped.
/// @throws Error internal `bad_header` when a name is no token or a value holds a control character: nothing
/// that a user
///         can get into a value splits an answer in two
void write_head(std::string& out, const ReplyHead& head);

}  // namespace welkin::http
