#include "http/web_socket_frames.hpp"

#include <algorithm>

#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::http {
namespace {

constexpr std::uint8_t kFinal = 0x80, kReserved = 0x70, kMasked = 0x80;
constexpr std::size_t kControlBytesMax = 125;  // §5.5
constexpr std::size_t kMaskBytes = 4;

std::uint8_t byte(std::string_view s, std::size_t at) { return static_cast<std::uint8_t>(s[at]); }

bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

/// How long a frame's head is, once its first two bytes are there (§5.2).
std::size_t head_bytes(std::string_view head) {
  const auto length = byte(head, 1) & 0x7f;
  const std::size_t extended = length == 126 ? 2 : length == 127 ? 8 : 0;
  return 2 + extended + ((byte(head, 1) & kMasked) != 0 ? kMaskBytes : 0);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value = value << 8 | byte(bytes, i);
  return value;
}

}  // namespace

/// @return whether the head is whole
bool FrameReader::read_head(std::string_view& bytes) {
  while (!bytes.empty()) {
    head_ += bytes.front();
    bytes.remove_prefix(1);
    if (head_.size() >= 2 && head_.size() == head_bytes(head_)) return true;
  }
  return false;
}

/// Judges a whole head. @return false: the peer broke the rules
bool FrameReader::accept_head() {
  const auto first = byte(head_, 0), second = byte(head_, 1);
  is_last_ = (first & kFinal) != 0;
  opcode_ = static_cast<Opcode>(first & 0x0f);
  const std::string_view head = head_;
  const auto extended = head_.size() - 2 - kMaskBytes;
  left_ = extended == 0 ? second & 0x7f : big_endian(head.substr(2, extended));
  const bool known = opcode_ <= Opcode::binary || (opcode_ >= Opcode::close && opcode_ <= Opcode::pong);
  const bool minimal = extended == 0 || left_ > (extended == 2 ? 125U : 0xffffU);
  // No extension was agreed on, and a client masks what it sends (§5.1, §5.2).
  if ((first & kReserved) != 0 || (second & kMasked) == 0 || !known || !minimal) return false;
  if (is_control(opcode_)) {
    if (!is_last_ || left_ > kControlBytesMax) return false;
  } else {
    if ((opcode_ == Opcode::more) != kind_.has_value()) return false;
    if (!kind_) kind_ = opcode_;
    if (left_ > message_bytes_max_ - message_.size()) {
      error_ = close_codes::kTooBig;
      return false;
    }
  }
  for (std::size_t i = 0; i < kMaskBytes; ++i) mask_[i] = byte(head, head.size() - kMaskBytes + i);
  mask_at_ = 0;
  return true;
}

std::optional<WebSocketFrame> FrameReader::finish_frame() {
  has_head_ = false;
  head_.clear();
  if (is_control(opcode_)) {
    WebSocketFrame frame{opcode_, std::move(control_)};
    control_.clear();
    if (opcode_ == Opcode::close && !is_close_payload(frame.payload))
      return fail(close_codes::kProtocolError);
    return frame;
  }
  if (!is_last_) return std::nullopt;
  WebSocketFrame frame{*kind_, std::move(message_)};
  message_.clear();
  kind_.reset();
  if (frame.opcode == Opcode::text && !text::is_utf8(frame.payload)) return fail(close_codes::kBadData);
  return frame;
}

std::optional<WebSocketFrame> FrameReader::read(std::string_view& bytes) {
  while (error_ == 0) {
    if (!has_head_) {
      if (!read_head(bytes)) return std::nullopt;
      if ((byte(head_, 1) & kMasked) == 0 || !accept_head())
        return fail(error_ != 0 ? error_ : close_codes::kProtocolError);
      has_head_ = true;
    }
    const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    auto& into = is_control(opcode_) ? control_ : message_;
    for (const char c : bytes.substr(0, take)) {
      into += static_cast<char>(static_cast<std::uint8_t>(c) ^ mask_[mask_at_]);
      mask_at_ = (mask_at_ + 1) % kMaskBytes;
    }
    bytes.remove_prefix(take);
    left_ -= take;
    if (left_ > 0) return std::nullopt;
    if (auto frame = finish_frame()) return frame;
  }
  return std::nullopt;
}

void append_frame(std::string& out, Opcode opcode, std::string_view payload) {
  out += static_cast<char>(kFinal | static_cast<std::uint8_t>(opcode));
  const std::uint64_t length = payload.size();
  const std::size_t extended = length < 126 ? 0 : length <= 0xffff ? 2 : 8;
  out += static_cast<char>(extended == 0 ? length : extended == 2 ? 126 : 127);
  for (std::size_t i = extended; i > 0; --i) out += static_cast<char>(length >> (8 * (i - 1)));
  out += payload;
}

void append_close(std::string& out, std::uint16_t code, std::string_view reason) {
  std::string payload{static_cast<char>(code >> 8), static_cast<char>(code)};
  payload += reason.substr(0, kControlBytesMax - 2);
  append_frame(out, Opcode::close, payload);
}

bool is_close_payload(std::string_view payload) {
  if (payload.empty()) return true;
  if (payload.size() == 1) return false;
  const auto code = big_endian(payload.substr(0, 2));
  const bool defined =
      (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
  return defined && text::is_utf8(payload.substr(2));
}

std::string accept_key(std::string_view key) {
  crypto::DigestStream sha1(crypto::Digest::sha1);
  sha1.update(as_bytes(key));
  sha1.update(as_bytes(std::string_view("258EAFA5-E914-47DA-95CA-C5AB0DC85B11")));
  return text::base64(sha1.finish());
}

bool is_web_socket_key(std::string_view key) {
  const auto bytes = text::from_base64(key);
  return bytes && bytes->size() == 16;
}

}  // namespace welkin::http
