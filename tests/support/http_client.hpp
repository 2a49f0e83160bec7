#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A plain blocking HTTP/1.1 client for tests: raw bytes in and out, nothing corrected, nothing retried
/// silently. It knows nothing of the server's code, so the two cannot share a misunderstanding.
namespace welkin::test {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 0;  // 0: the connection ended (or timed out) before a status line came
  std::string reason;
  std::string version;    // "HTTP/1.1"
  HeaderList headers;     // as sent, in order
  std::string body;       // decoded when chunked, never decompressed
  bool complete = false;  // the announced length, the last chunk or (close-delimited) the end was seen
  bool chunked = false;

  /// The first value of `name` (any case); "" when absent.
  std::string header(std::string_view name) const;
  bool has(std::string_view name) const;
  /// All values of `name`, in order.
  std::vector<std::string> all(std::string_view name) const;
};

struct HttpClientOptions {
  std::string host = "127.0.0.1";         // numeric address to connect to
  bool tls = false;                       //
  std::string ca_file = "";               // TLS: verify against this; empty: accept anything
  std::string server_name = "localhost";  // TLS: SNI
  int tls_version = 0;                    // TLS: TLS1_2_VERSION and the like, no other; 0: the newest
  std::vector<std::string> alpn = {};  // TLS: protocols offered, in order; empty: the extension is not sent
  std::chrono::milliseconds timeout{10'000};  // for each wait on the socket
  int receive_buffer_bytes = 0;               // SO_RCVBUF; 0: the system's
  std::string source = "";                    // local address to bind (127.0.0.2); empty: any
};

/// Throws std::runtime_error when it cannot connect; answers say themselves whether they are complete.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, HttpClientOptions options = {});
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  /// One exchange on the kept-alive connection (opened, or opened again after the server closed it). Adds
  /// Host when not given, and Content-Length when there is a body or the method is PUT or POST; give either
  /// header to override.
  HttpResponse request(std::string_view method, std::string_view target, const HeaderList& headers = {},
                       std::string_view body = "");
  HttpResponse get(std::string_view target, const HeaderList& headers = {}) {
    return request("GET", target, headers);
  }

  /// On a new connection: sends `bytes`, then reads until the server closes or the timeout passes. Everything
  /// received.
  std::string raw(std::string_view bytes);

  // The pieces, for tests that need to stop half-way.
  void connect();  // closes a connection that is open
  void close();
  bool connected() const;
  bool send(std::string_view bytes);                     // false: the server is gone
  void finish_sending();                                 // shutdown(SHUT_WR); TLS: close_notify
  HttpResponse read_response(bool head = false);         // head: no body follows
  std::string read_some(std::size_t bytes_max = 65536);  // "" at the end or timeout
  std::string read_until_closed();
  /// Whether the server has closed: waits for the end of the stream, at most the timeout; bytes received are
  /// dropped.
  bool closed_by_server();
  /// TLS: whether the end came with close_notify, so that nobody can have cut it short.
  bool ended_cleanly() const;
  /// The negotiated ALPN protocol, TLS version ("TLSv1.3") and whether the session was resumed.
  std::string alpn() const;
  std::string tls_version() const;
  bool tls_resumed() const;
  /// SHA-256 fingerprint of the server's certificate, hex.
  std::string certificate_fingerprint() const;
  int native_handle() const;
  std::uint16_t port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Parses one answer out of bytes that are all there; close-delimited when nothing announces a length.
HttpResponse parse_response(std::string_view bytes, bool head = false);
/// All answers in a row, as a pipelined connection yields them.
std::vector<HttpResponse> parse_responses(std::string_view bytes);

}  // namespace welkin::test
