#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "support/http_client.hpp"

namespace welkin::test {

/// A plain blocking WebSocket client for tests, on the HTTP client's connection. It knows nothing of the
/// server's code.
class WebSocketClient {
 public:
  explicit WebSocketClient(std::uint16_t port, HttpClientOptions options = {})
      : http_(port, std::move(options)) {}

  /// Sends the handshake. @return the status of the answer; 101 when it is a WebSocket now
  int open(std::string_view path, const HeaderList& headers = {}) {
    http_.connect();
    std::string request =
        "GET " + std::string(path) +
        " HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (const auto& [name, value] : headers) request += name + ": " + value + "\r\n";
    http_.send(request + "\r\n");
    while (received_.find("\r\n\r\n") == std::string::npos) {
      const auto piece = http_.read_some();
      if (piece.empty()) return 0;
      received_ += piece;
    }
    const auto end = received_.find("\r\n\r\n");
    head = received_.substr(0, end);
    received_.erase(0, end + 4);
    return std::stoi(head.substr(9, 3));
  }

  void send_frame(unsigned first, std::string_view payload) {
    std::string out(1, static_cast<char>(first));
    if (payload.size() < 126) {
      out += static_cast<char>(0x80 | payload.size());
    } else {
      out += static_cast<char>(0x80 | 126);
      out += static_cast<char>(payload.size() >> 8);
      out += static_cast<char>(payload.size());
    }
    const char mask[] = {'\x12', '\x34', '\x56', '\x78'};
    out.append(mask, 4);
    for (std::size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
    http_.send(out);
  }
  void send_text(std::string_view text) { send_frame(0x81, text); }
  void send_bytes(std::string_view bytes) { http_.send(bytes); }

  struct Frame {
    unsigned opcode = 0;
    std::string payload;
  };
  /// The next frame; nullopt: the connection has ended, or nothing came in time.
  std::optional<Frame> read() {
    for (;;) {
      if (received_.size() >= 2) {
        std::size_t head_bytes = 2, length = static_cast<unsigned char>(received_[1]);
        if (length == 126) {
          head_bytes = 4;
          length = received_.size() < 4
                       ? 1 << 16
                       : static_cast<std::size_t>(static_cast<unsigned char>(received_[2])) << 8 |
                             static_cast<unsigned char>(received_[3]);
        }
        if (received_.size() >= head_bytes + length) {
          Frame frame{static_cast<unsigned>(received_[0]) & 0x0f, received_.substr(head_bytes, length)};
          received_.erase(0, head_bytes + length);
          return frame;
        }
      }
      const auto piece = http_.read_some();
      if (piece.empty()) return std::nullopt;
      received_ += piece;
    }
  }
  /// The next text; "" at the end. Pings are answered.
  std::string read_text() {
    for (;;) {
      const auto frame = read();
      if (!frame || frame->opcode == 8) return "";
      if (frame->opcode == 9) send_frame(0x8a, frame->payload);
      if (frame->opcode == 1) return frame->payload;
    }
  }
  /// Reads on to the server's goodbye. @return its code; 0: there was none
  unsigned read_close() {
    for (;;) {
      const auto frame = read();
      if (!frame) return 0;
      if (frame->opcode != 8) continue;
      if (frame->payload.size() < 2) return 1005;
      return static_cast<unsigned>(static_cast<unsigned char>(frame->payload[0])) << 8 |
             static_cast<unsigned char>(frame->payload[1]);
    }
  }
  HttpClient& http() { return http_; }
  std::string head;

 private:
  HttpClient http_;
  std::string received_;
};

}  // namespace welkin::test
