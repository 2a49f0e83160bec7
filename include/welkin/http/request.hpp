#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/core/task.hpp"
#include "welkin/http/message.hpp"

namespace welkin::http {

/// One request. Lives until its handler has ended; views into it die with it.
///
/// The path is decoded exactly once, by the session, with the rules every protocol shares: segments are split
/// at '/', then percent-decoded; empty segments collapse; '.', '..', an encoded '/', NUL, control characters,
/// bytes that are not UTF-8 and bad escapes are answered 400 before any handler or look-up. '+' is a plus.
class Request : public ByteSource {
 public:
  ~Request() override;

  Method method() const;
  std::string_view method_token() const;
  /// As sent: path and query, without scheme and authority.
  std::string_view target() const;
  /// The path as sent, with the configured base path removed, undecoded.
  std::string_view raw_path() const;
  /// Decoded segments below the base path, NFC not yet applied.
  const std::vector<std::string>& segments() const;
  bool trailing_slash() const;
  /// The value the router matched for `{name}` in the route's pattern, decoded. `{*name}` is the rest, see
  /// `rest()`.
  const std::string& param(std::string_view name) const;
  /// The segments matched by a final `{*name}`.
  std::vector<std::string> rest() const;

  /// Decoded query value ('+' is a blank here: application/x-www-form-urlencoded); nullopt when absent.
  std::optional<std::string> query(std::string_view name) const;
  std::string_view raw_query() const;

  const Fields& headers() const;
  std::string_view header(std::string_view name) const { return headers().get(name); }
  /// Value of a cookie; "" when absent.
  std::string_view cookie(std::string_view name) const;

  /// nullopt: chunked. 0: no body.
  std::optional<std::uint64_t> content_length() const;
  bool has_body() const;
  /// The next piece of the body (at most 256 KiB), empty at its end. Sends 100 Continue first when it was
  /// asked for.
  /// @throws Error invalid `truncated_body`, `bad_chunk`, too_large `body_too_large`; ClientGone
  Task<ByteView> read() override;
  /// The whole body as text. @throws Error too_large `body_too_large` when it is longer than `bytes_max`
  Task<std::string> text(std::size_t bytes_max);
  /// Lowers or raises the limit of `read` for this request; the session's default is upload_bytes_max. 0: no
  /// limit.
  void limit_body(std::uint64_t bytes_max);

  /// Whether the client's side of the connection is encrypted: TLS here, or a trusted proxy says so.
  bool is_secure() const;
  /// Address of the client, text form; from forwarding headers only when the peer is a trusted proxy, and
  /// then the right-most hop that is not one.
  const std::string& client_address() const;
  /// client_address cut to what limits count: IPv4 whole, IPv6 its /64.
  std::string limit_key() const;
  /// Origin and base path for links: WELKIN_BASE_URL, else scheme and Host of this request. No trailing
  /// slash.
  std::string base_url() const;
  /// Whether `host` (without port) is a name of this server for the client: the Host of this request, what a
  /// trusted proxy says it was (X-Forwarded-Host, Forwarded), or a configured one. On the loopback its names
  /// are one.
  bool is_own_host(std::string_view host) const;
  /// The configured base path, "" or "/cloud". Prefix every own href and Location with it.
  std::string_view base_path() const;
  /// Sent back as X-Request-Id; from the client if it sent a sane one (1..64 of [A-Za-z0-9._-]).
  const std::string& id() const;

  /// Set by the authentication middleware of a protocol.
  void set_caller(Caller caller);
  const Caller& caller() const;
  /// Name of the matched route for metrics and the access log ("" before routing).
  std::string_view route_name() const;

  struct State;
  explicit Request(State& state) : state_(state) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  State& state() { return state_; }

 private:
  State& state_;
};

}  // namespace welkin::http
