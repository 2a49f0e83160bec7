#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The framing of WebSockets (RFC 6455 §5), as the server's side of it. Pure.
namespace welkin::http {

enum class Opcode : std::uint8_t { more = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

/// Codes of a close frame (§7.4.1).
namespace close_codes {
inline constexpr std::uint16_t kNormal = 1000;
inline constexpr std::uint16_t kGoingAway = 1001;
inline constexpr std::uint16_t kProtocolError = 1002;
inline constexpr std::uint16_t kBadData = 1007;
inline constexpr std::uint16_t kTooBig = 1009;
}  // namespace close_codes

/// A message or a control frame, whole and unmasked.
struct WebSocketFrame {
  Opcode opcode = Opcode::text;  // never `more`
  std::string payload;
};

/// Puts frames together as bytes arrive, and messages from their fragments. Nothing is held beyond
/// `message_bytes_max` and one control frame.
class FrameReader {
 public:
  explicit FrameReader(std::size_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

  /// Takes what it can use of `bytes` and removes it from them. @return a frame as soon as one is whole
  std::optional<WebSocketFrame> read(std::string_view& bytes);
  /// The close code for what the peer did wrong; 0: nothing. After that nothing is read any more.
  std::uint16_t error() const { return error_; }

 private:
  bool read_head(std::string_view& bytes);
  bool accept_head();
  std::optional<WebSocketFrame> finish_frame();
  std::nullopt_t fail(std::uint16_t code) {
    error_ = code;
    return std::nullopt;
  }

  const std::size_t message_bytes_max_;
  std::string head_;  // of the frame that has begun, until it is whole
  bool has_head_ = false;
  bool is_last_ = false;
  Opcode opcode_ = Opcode::more;
  std::uint64_t left_ = 0;  // payload bytes of this frame still to come
  std::uint8_t mask_[4] = {};
  std::size_t mask_at_ = 0;
  std::optional<Opcode> kind_;  // of the message whose fragments are coming
  std::string message_, control_;
  std::uint16_t error_ = 0;
};

/// Appends one frame, unmasked as a server's are (§5.1).
void append_frame(std::string& out, Opcode opcode, std::string_view payload);
void append_close(std::string& out, std::uint16_t code, std::string_view reason);

/// Whether a close frame's payload is one (§5.5.1): empty, or a code that may be sent, and UTF-8.
bool is_close_payload(std::string_view payload);

/// The value of Sec-WebSocket-Accept (§4.2.2).
std::string accept_key(std::string_view key);
/// Whether `key` is base64 of 16 bytes (§4.1).
bool is_web_socket_key(std::string_view key);

}  // namespace welkin::http
