#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "welkin/core/task.hpp"
#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

namespace welkin::http {

struct WebSocketLimits {
  std::size_t message_bytes_max = 4096;
  /// A peer that has been silent for so long is pinged, and let go when it stays silent for as long again.
  std::chrono::milliseconds silence{30'000};
  std::size_t unsent_bytes_max = std::size_t{64} * 1024;  // for a peer that does not take what it is sent
};

/// The server's end of a WebSocket (RFC 6455). Used on its io thread only, by one receiver and any number of
/// senders at once. Pings are answered, fragments put together, and masks taken off in here.
class WebSocket {
 public:
  enum class What : std::uint8_t { text, binary, nothing, closed };
  struct Message {
    What what = What::closed;
    std::string data;
  };

  /// The next message; `nothing` when none has come within `limit`; `closed` once there will be no more.
  Task<Message> receive(std::chrono::milliseconds limit);
  /// Returns when the message is with the socket, or waits there in a bounded queue. A closed socket ignores
  /// it.
  Task<> send_text(std::string_view message);
  /// Says goodbye and ends the receiving. Codes: RFC 6455 §7.4.1. Does nothing the second time.
  Task<> close(std::uint16_t code, std::string_view reason = {});
  bool closed() const;

  struct State;
  explicit WebSocket(State& state) : state_(state) {}
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

 private:
  State& state_;
};

/// Whether the request asks to go on as a WebSocket (§4.2.1), well or not.
bool asks_for_web_socket(const Request& rq);

/// Takes the connection over, if the request is as it has to be, and runs `talk` on it; closes it when that
/// returns or throws. Cancelling does not reach `talk`: the socket's end does, and whatever else it waits for
/// must end by itself.
/// @throws Error invalid `not_a_web_socket`, before anything was sent
Task<> serve_web_socket(Request& rq, Reply& rp, const WebSocketLimits& limits,
                        const std::function<Task<>(WebSocket&)>& talk);

/// Runs both on this io thread, one beside the other, until both have ended. What the first throws is thrown
/// then; each must see to it that the other ends.
Task<> side_by_side(Task<> one, Task<> other);

}  // namespace welkin::http
