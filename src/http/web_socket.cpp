#include "welkin/http/web_socket.hpp"

#include <array>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>

#include "http/ascii.hpp"
#include "http/http_metrics.hpp"
#include "http/reply_state.hpp"
#include "http/web_socket_frames.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/event.hpp"
#include "welkin/core/log.hpp"

namespace welkin::http {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr std::size_t kReceiveBytesMax = 8192;

bool lists(std::string_view value, std::string_view token) {
  bool found = false;
  ascii::each_element(value, [&](std::string_view element) { found |= ascii::iequals(element, token); });
  return found;
}

Error refusal(const char* why) { return {Errc::invalid, "not_a_web_socket", why}; }

void require_handshake(const Request& rq) {
  if (rq.method() != Method::get || rq.has_body() || !asks_for_web_socket(rq))
    throw refusal("This address speaks WebSocket only");
  if (ascii::trim(rq.header("sec-websocket-version")) != "13")
    throw refusal("Only version 13 of WebSocket is spoken");
  if (!is_web_socket_key(ascii::trim(rq.header("sec-websocket-key"))))
    throw refusal("The key of the WebSocket is not usable");
}

}  // namespace

struct WebSocket::State {
  State(Connection& c, const LoopState& of, const WebSocketLimits& l)
      : connection(c), loop(of), limits(l), reader(l.message_bytes_max) {}

  Connection& connection;
  const LoopState& loop;
  const WebSocketLimits& limits;
  FrameReader reader;
  std::string unsent;
  bool sending = false;
  bool said_goodbye = false;
  bool over = false;    // no message will come any more
  bool pinged = false;  // since the peer was last heard
  Ticks heard = steady_clock::now();

  Task<> send();
  Task<> give_up(std::uint16_t code, std::string_view reason);
  /// @return a message, if the frame is one or the end
  Task<std::optional<WebSocket::Message>> take(WebSocketFrame frame);
  Task<> fill_or_ping(Ticks deadline);
};

/// One at a time; who comes meanwhile leaves his bytes to the one who is at it.
Task<> WebSocket::State::send() {
  if (sending) {
    if (unsent.size() > limits.unsent_bytes_max) {
      over = true;
      connection.cut(Cut::timeout);
    }
    co_return;
  }
  sending = true;
  while (!unsent.empty() && !over) {
    const std::string now = std::exchange(unsent, {});
    std::array pieces = {std::string_view(now)};
    // Meant for the receiver, who was woken by it and has not had his turn yet.
    if (connection.cut() == Cut::timeout) connection.forgive();
    if (!co_await connection.send(pieces, false)) over = true;
  }
  sending = false;
}

Task<> WebSocket::State::give_up(std::uint16_t code, std::string_view reason) {
  if (!said_goodbye && !over) {
    said_goodbye = true;
    append_close(unsent, code, reason);
    co_await send();
  }
  over = true;
  connection.cut(Cut::drained);  // ends a receiver that waits
  connection.forgive();
}

Task<std::optional<WebSocket::Message>> WebSocket::State::take(WebSocketFrame frame) {
  switch (frame.opcode) {
    case Opcode::text:
      co_return Message{What::text, std::move(frame.payload)};
    case Opcode::binary:
      co_return Message{What::binary, std::move(frame.payload)};
    case Opcode::ping:
      append_frame(unsent, Opcode::pong, frame.payload);
      co_await send();
      co_return std::nullopt;
    case Opcode::close:  // said back, then over (§5.5.1)
      co_await give_up(close_codes::kNormal, {});
      co_return Message{};
    default:
      co_return std::nullopt;
  }
}

/// Waits for bytes until `deadline`; says so to a peer that is silent for long.
Task<> WebSocket::State::fill_or_ping(Ticks deadline) {
  const auto impatient = heard + limits.silence * (pinged ? 2 : 1);
  connection.set_deadline(std::min(deadline, impatient));
  const auto n = co_await connection.fill(Wait::web_socket, kReceiveBytesMax);
  const auto now = steady_clock::now();
  if (n > 0) {
    heard = now;
    pinged = false;
    co_return;
  }
  const auto cut = connection.cut();
  const bool woken = cut == Cut::timeout || (cut == Cut::none && loop.draining);
  if (n == 0 || !woken || over) {
    over = true;
    co_return;
  }
  connection.forgive();
  if (now < impatient) co_return;
  if (pinged) {
    co_await give_up(close_codes::kGoingAway, "no answer");
    co_return;
  }
  pinged = true;
  append_frame(unsent, Opcode::ping, {});
  co_await send();
}

Task<WebSocket::Message> WebSocket::receive(std::chrono::milliseconds limit) {
  auto& s = state_;
  const auto deadline = steady_clock::now() + limit;
  while (!s.over) {
    auto bytes = s.connection.received();
    const auto before = bytes.size();
    auto frame = s.reader.read(bytes);
    s.connection.consume(before - bytes.size());
    if (frame) {
      if (auto message = co_await s.take(std::move(*frame))) co_return std::move(*message);
      continue;
    }
    if (s.reader.error() != 0) {
      co_await s.give_up(s.reader.error(), {});
      break;
    }
    if (s.loop.draining) {
      co_await s.give_up(close_codes::kGoingAway, "the server is stopping");
      break;
    }
    if (steady_clock::now() >= deadline) co_return Message{What::nothing, {}};
    co_await s.fill_or_ping(deadline);
  }
  co_return Message{};
}

Task<> WebSocket::send_text(std::string_view message) {
  if (state_.over || state_.said_goodbye) co_return;
  append_frame(state_.unsent, Opcode::text, message);
  co_await state_.send();
}

Task<> WebSocket::close(std::uint16_t code, std::string_view reason) {
  if (!state_.over) co_await state_.give_up(code, reason);
}

bool WebSocket::closed() const { return state_.over; }

bool asks_for_web_socket(const Request& rq) {
  return lists(rq.headers().joined("connection"), "upgrade") &&
         lists(rq.headers().joined("upgrade"), "websocket");
}

Task<> serve_web_socket(Request& rq, Reply& rp, const WebSocketLimits& limits,
                        const std::function<Task<>(WebSocket&)>& talk) {
  require_handshake(rq);
  // Whoever talks has a second coroutine beside him, which nobody would cancel.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  auto& reply = rp.state();
  auto& connection = reply.connection;
  std::string head =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
      "Upgrade\r\nSec-WebSocket-Accept: ";
  head += accept_key(ascii::trim(rq.header("sec-websocket-key")));
  ((head += "\r\nX-Request-Id: ") += rq.id()) += "\r\n\r\n";
  reply.status = Status::switching_protocols;
  reply.begun = reply.sent = reply.ended = reply.close = true;
  std::array pieces = {std::string_view(head)};
  if (!co_await connection.send(pieces, false)) throw ClientGone();

  WebSocket::State state(connection, reply.loop, limits);
  WebSocket socket(state);
  std::exception_ptr failed;
  try {
    co_await talk(socket);
  } catch (...) {
    failed = std::current_exception();
  }
  co_await socket.close(failed ? 1011 : close_codes::kNormal);
  if (failed) std::rethrow_exception(failed);
}

Task<> side_by_side(Task<> one, Task<> other) {
  Event ended;
  std::exception_ptr failed_one, failed_other;
  asio::co_spawn(co_await asio::this_coro::executor, std::move(other),
                 [&](const std::exception_ptr& failure) {
                   failed_other = failure;
                   ended.set();
                 });
  try {
    co_await std::move(one);
  } catch (...) {
    failed_one = std::current_exception();
  }
  co_await ended.wait();
  if (failed_one) std::rethrow_exception(failed_one);
  if (failed_other) std::rethrow_exception(failed_other);
}

}  // namespace welkin::http
