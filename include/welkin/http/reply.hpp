#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "welkin/core/bytes.hpp"
#include "welkin/core/task.hpp"
#include "welkin/http/message.hpp"

namespace welkin::http {

/// Thrown by reads and writes when the client has gone or was too slow. Not an error of the server:
/// middlewares that log exceptions let it pass; the session closes the connection.
class ClientGone final : public std::exception {
 public:
  const char* what() const noexcept override { return "the client is gone"; }
};

/// The answer to one request. Either `send` (a whole body) or `begin`, any number of writes, `end`.
/// A handler that returns without answering is answered 500; one that throws after `begin` gets its
/// connection cut, so that the client can tell (the last chunk or the announced length never arrives). HEAD:
/// bodies are counted into Content-Length and not sent; handlers need not care.
///
/// Defaults added unless the handler has set them: Date, X-Request-Id, X-Content-Type-Options: nosniff,
/// X-Frame-Options: DENY, Referrer-Policy: no-referrer, Permissions-Policy, Cross-Origin-Resource-Policy:
/// same-origin, Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none';
/// form-action 'none', Cache-Control: private, no-store; with https base URL also Strict-Transport-Security.
/// A default whose field is set to
/// "" is left out. Content-Length, Transfer-Encoding and Connection belong to the session and are dropped
/// from `headers`.
///
/// When a body is compressed, Vary: Accept-Encoding is added and a strong ETag becomes weak (RFC 9110
/// §8.8.3.3: another coding is another representation). `Cache-Control: no-transform` prevents it.
class Reply : public ByteSink {
 public:
  ~Reply() override;

  Fields& headers();
  /// Values with CR, LF or NUL are refused (Error internal): response splitting is impossible.
  void set(std::string_view name, std::string_view value) { headers().set(name, value); }
  /// Set-Cookie and Vary-like fields that may stand several times.
  void add(std::string_view name, std::string_view value) { headers().add(name, value); }

  /// The whole answer. Compressed when the client accepts it, the type is text-like and it is over 1 KiB.
  Task<> send(Status status, std::string_view content_type, std::string body);
  Task<> send(Status status);  // no body; Content-Length: 0 where the status allows one

  /// Starts a streamed answer. With a length: Content-Length, and writing less or more is an error.
  /// Without: chunked (HTTP/1.0: until close), compressed when `may_compress` and the client accepts it.
  Task<> begin(Status status, std::string_view content_type, std::optional<std::uint64_t> length,
               bool may_compress = false);
  Task<> write(ByteView bytes) override;
  Task<> write(std::string_view text) { return write(as_bytes(text)); }
  Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) override;
  /// Hands what is buffered to the socket now (first page of a stream, an SSE event).
  Task<> flush();
  Task<> end();

  /// True once the status line is on its way: errors can then only cut the connection. Before that `send` may
  /// still replace what was begun: `begin` and small writes are held back until 16 KiB or `flush`.
  bool begun() const;
  /// Forgets every header set and whatever was begun, for an error answer. Only while `begun` is false.
  void reset();
  Status status() const;
  /// Close the connection after this answer.
  void close_after();

  struct State;
  explicit Reply(State& state) : state_(state) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  State& state() { return state_; }

 private:
  State& state_;
};

}  // namespace welkin::http
