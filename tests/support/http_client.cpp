#include "support/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace welkin::test {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// Status line and fields. @return bytes of the head with its blank line, 0 when it is not whole
std::size_t parse_head(std::string_view bytes, HttpResponse& out) {
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  auto head = bytes.substr(0, end + 2);
  const auto first = head.find("\r\n");
  const auto line = head.substr(0, first);
  if (line.size() < 12 || line.substr(0, 5) != "HTTP/") return 0;
  out.version = std::string(line.substr(0, 8));
  std::from_chars(line.data() + 9, line.data() + 12, out.status);
  if (line.size() > 13) out.reason = std::string(line.substr(13));
  head.remove_prefix(first + 2);
  while (!head.empty()) {
    const auto stop = head.find("\r\n");
    const auto field = head.substr(0, stop);
    const auto colon = field.find(':');
    if (colon == std::string_view::npos) throw std::runtime_error("answer has a field without a colon");
    out.headers.emplace_back(std::string(field.substr(0, colon)),
                             std::string(trimmed(field.substr(colon + 1))));
    head.remove_prefix(stop + 2);
  }
  return end + 4;
}

bool bodiless(int status) { return (status >= 100 && status < 200) || status == 204 || status == 304; }

/// Takes chunks off `bytes` from `at` on. @return true when the last chunk and its trailer were there
bool parse_chunks(std::string_view bytes, std::size_t& at, std::string& body) {
  for (;;) {
    const auto line_end = bytes.find("\r\n", at);
    if (line_end == std::string_view::npos) return false;
    std::uint64_t size = 0;
    const auto [stop, bad] = std::from_chars(bytes.data() + at, bytes.data() + line_end, size, 16);
    if (bad != std::errc{} || stop == bytes.data() + at)
      throw std::runtime_error("answer has a bad chunk size");
    const auto data = line_end + 2;
    if (size == 0) {
      if (bytes.substr(data, 2) == "\r\n") {
        at = data + 2;
        return true;
      }
      const auto trailer_end = bytes.find("\r\n\r\n", data);
      if (trailer_end == std::string_view::npos) return false;
      at = trailer_end + 4;
      return true;
    }
    if (bytes.size() < data + size + 2) return false;
    body.append(bytes.substr(data, size));
    if (bytes.substr(data + size, 2) != "\r\n")
      throw std::runtime_error("answer has a chunk without its end");
    at = data + size + 2;
  }
}

/// One answer from the front of `bytes`; `used` is what it took. With `ended`, no more bytes will come.
std::optional<HttpResponse> take_response(std::string_view bytes, bool head, bool ended, std::size_t& used) {
  HttpResponse out;
  const auto head_bytes = parse_head(bytes, out);
  if (head_bytes == 0) return ended ? std::optional<HttpResponse>(HttpResponse{}) : std::nullopt;
  used = head_bytes;
  out.chunked = same(out.header("transfer-encoding"), "chunked");
  if (head || bodiless(out.status)) {
    out.complete = true;
    return out;
  }
  if (out.chunked) {
    out.complete = parse_chunks(bytes, used, out.body);
  } else if (out.has("content-length")) {
    const auto announced = std::stoull(out.header("content-length"));
    out.body = std::string(bytes.substr(head_bytes, announced));
    out.complete = out.body.size() == announced;
    used = head_bytes + out.body.size();
  } else {
    out.body = std::string(bytes.substr(head_bytes));
    out.complete = ended;
    used = bytes.size();
  }
  if (!out.complete && !ended) return std::nullopt;
  return out;
}

}  // namespace

std::string HttpResponse::header(std::string_view name) const {
  for (const auto& [field, value] : headers)
    if (same(field, name)) return value;
  return "";
}

bool HttpResponse::has(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& h) { return same(h.first, name); });
}

std::vector<std::string> HttpResponse::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [field, value] : headers)
    if (same(field, name)) out.push_back(value);
  return out;
}

struct HttpClient::Impl {
  std::uint16_t port;
  HttpClientOptions options;
  int fd = -1;
  SSL_CTX* context = nullptr;
  SSL* ssl = nullptr;
  SSL_SESSION* session = nullptr;  // of the last connection, offered to the next
  std::string buffer;              // received and not yet taken
  bool ended = false;
  bool clean = false;

  Impl(std::uint16_t p, HttpClientOptions o) : port(p), options(std::move(o)) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  }
  ~Impl() {
    close();
    SSL_SESSION_free(session);
    SSL_CTX_free(context);
  }

  bool wait(short events) const {
    pollfd p{fd, events, 0};
    int n;
    do n = ::poll(&p, 1, static_cast<int>(options.timeout.count()));
    while (n < 0 && errno == EINTR);
    return n > 0;
  }

  void close() {
    if (ssl) {
      SSL_shutdown(ssl);  // says close_notify, does not wait for the answer
      SSL_SESSION_free(session);
      session = SSL_get1_session(ssl);
      SSL_free(ssl);
      ssl = nullptr;
      ERR_clear_error();
    }
    if (fd >= 0) ::close(fd);
    fd = -1;
    buffer.clear();
    ended = false;
    clean = false;
  }

  void connect() {
    close();
    const bool v6 = options.host.find(':') != std::string::npos;
    fd = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw std::runtime_error("socket: " + std::string(std::strerror(errno)));
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (options.receive_buffer_bytes > 0)
      ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer_bytes,
                   sizeof options.receive_buffer_bytes);
    if (!options.source.empty()) {
      sockaddr_in from{};
      from.sin_family = AF_INET;
      if (::inet_pton(AF_INET, options.source.c_str(), &from.sin_addr) != 1 ||
          ::bind(fd, reinterpret_cast<sockaddr*>(&from), sizeof from) != 0)
        throw std::runtime_error("cannot bind " + options.source);
    }
    sockaddr_storage to{};
    socklen_t to_bytes;
    if (v6) {
      auto& a = reinterpret_cast<sockaddr_in6&>(to);
      a.sin6_family = AF_INET6;
      a.sin6_port = htons(port);
      ::inet_pton(AF_INET6, options.host.c_str(), &a.sin6_addr);
      to_bytes = sizeof(sockaddr_in6);
    } else {
      auto& a = reinterpret_cast<sockaddr_in&>(to);
      a.sin_family = AF_INET;
      a.sin_port = htons(port);
      ::inet_pton(AF_INET, options.host.c_str(), &a.sin_addr);
      to_bytes = sizeof(sockaddr_in);
    }
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), to_bytes) != 0) {
      const std::string why = std::strerror(errno);
      close();
      throw std::runtime_error("connect: " + why);
    }
    const timeval limit{options.timeout.count() / 1000, (options.timeout.count() % 1000) * 1000};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (options.tls) handshake();
  }

  void handshake() {
    if (!context) {
      context = SSL_CTX_new(TLS_client_method());
      if (!options.ca_file.empty()) {
        SSL_CTX_load_verify_locations(context, options.ca_file.c_str(), nullptr);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
      }
    }
    ssl = SSL_new(context);
    if (options.tls_version != 0) {
      SSL_set_min_proto_version(ssl, options.tls_version);
      SSL_set_max_proto_version(ssl, options.tls_version);
      SSL_set_security_level(ssl, 0);  // old versions are refused by the server or not at all
    }
    SSL_set_tlsext_host_name(ssl, options.server_name.c_str());
    if (!options.alpn.empty()) {
      std::string wire;
      for (const auto& protocol : options.alpn) wire += static_cast<char>(protocol.size()) + protocol;
      SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(wire.data()),
                          static_cast<unsigned>(wire.size()));
    }
    if (session) SSL_set_session(ssl, session);
    SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) != 1) {
      const std::string why = ERR_error_string(ERR_get_error(), nullptr);
      SSL_free(ssl);
      ssl = nullptr;
      close();
      throw std::runtime_error("TLS: " + why);
    }
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      long n;
      if (ssl) {
        n = SSL_write(ssl, bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20)));
      } else {
        n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
      }
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  /// @return false at the end, on an error or when the timeout passed (then `ended` stays false)
  bool fill(std::size_t bytes_max = 65536) {
    if (ended || fd < 0) return false;
    const auto old = buffer.size();
    buffer.resize(old + bytes_max);
    long n;
    if (ssl) {
      n = SSL_read(ssl, buffer.data() + old, static_cast<int>(bytes_max));
      if (n <= 0) {
        const int why = SSL_get_error(ssl, static_cast<int>(n));
        ended = why != SSL_ERROR_WANT_READ && !(why == SSL_ERROR_SYSCALL && errno == EAGAIN);
        clean = why == SSL_ERROR_ZERO_RETURN;
      }
    } else {
      do n = ::recv(fd, buffer.data() + old, bytes_max, 0);
      while (n < 0 && errno == EINTR);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) ended = true;
    }
    buffer.resize(old + static_cast<std::size_t>(std::max(n, 0L)));
    return n > 0;
  }

  HttpResponse read_response(bool head) {
    for (;;) {
      std::size_t used = 0;
      if (auto got = take_response(buffer, head, ended, used)) {
        buffer.erase(0, used);
        return *got;
      }
      if (!fill() && !ended) {  // timed out: what is there, marked as not complete
        HttpResponse partial;
        if (auto got = take_response(buffer, head, true, used)) partial = *got;
        partial.complete = false;
        return partial;
      }
    }
  }
};

HttpClient::HttpClient(std::uint16_t port, HttpClientOptions options)
    : impl_(std::make_unique<Impl>(port, std::move(options))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

HttpResponse HttpClient::request(std::string_view method, std::string_view target, const HeaderList& headers,
                                 std::string_view body) {
  std::string head;
  head.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  const auto given = [&](std::string_view name) {
    return std::any_of(headers.begin(), headers.end(), [&](const auto& h) { return same(h.first, name); });
  };
  if (!given("host")) head += "Host: " + impl_->options.server_name + "\r\n";
  for (const auto& [name, value] : headers) head.append(name).append(": ").append(value).append("\r\n");
  if ((!body.empty() || method == "PUT" || method == "POST") && !given("content-length") &&
      !given("transfer-encoding"))
    head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  head += "\r\n";
  const bool reused = connected();
  if (!reused) connect();
  for (bool again = reused;; again = false) {
    const bool sent = send(head) && send(body);
    auto answer = read_response(method == "HEAD");
    while (answer.complete && answer.status >= 100 && answer.status < 200)
      answer = read_response(method == "HEAD");
    // A server may close an idle connection at any time; only then, and only once, the exchange is begun
    // anew.
    if (again && answer.status == 0 && (!sent || impl_->ended)) {
      connect();
      continue;
    }
    if (same(answer.header("connection"), "close") || impl_->ended) close();
    return answer;
  }
}

std::string HttpClient::raw(std::string_view bytes) {
  connect();
  send(bytes);
  return read_until_closed();
}

void HttpClient::connect() { impl_->connect(); }
void HttpClient::close() { impl_->close(); }
bool HttpClient::connected() const { return impl_->fd >= 0; }
bool HttpClient::send(std::string_view bytes) { return impl_->send(bytes); }
void HttpClient::finish_sending() {
  if (impl_->ssl)
    SSL_shutdown(impl_->ssl);
  else
    ::shutdown(impl_->fd, SHUT_WR);
}
HttpResponse HttpClient::read_response(bool head) { return impl_->read_response(head); }

std::string HttpClient::read_some(std::size_t bytes_max) {
  if (impl_->buffer.empty()) impl_->fill(bytes_max);
  std::string out = impl_->buffer.substr(0, bytes_max);
  impl_->buffer.erase(0, out.size());
  return out;
}

std::string HttpClient::read_until_closed() {
  while (impl_->fill()) {
  }
  return std::exchange(impl_->buffer, {});
}

bool HttpClient::closed_by_server() {
  if (impl_->fd < 0) return true;
  while (impl_->fill()) impl_->buffer.clear();
  return impl_->ended;
}

bool HttpClient::ended_cleanly() const { return impl_->clean; }

std::string HttpClient::alpn() const {
  const unsigned char* name = nullptr;
  unsigned bytes = 0;
  if (impl_->ssl) SSL_get0_alpn_selected(impl_->ssl, &name, &bytes);
  return {reinterpret_cast<const char*>(name), bytes};
}
std::string HttpClient::tls_version() const { return impl_->ssl ? SSL_get_version(impl_->ssl) : ""; }
bool HttpClient::tls_resumed() const { return impl_->ssl && SSL_session_reused(impl_->ssl) == 1; }

std::string HttpClient::certificate_fingerprint() const {
  if (!impl_->ssl) return "";
  X509* certificate = SSL_get1_peer_certificate(impl_->ssl);
  if (!certificate) return "";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned bytes = 0;
  X509_digest(certificate, EVP_sha256(), digest, &bytes);
  X509_free(certificate);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out.append({kHex[digest[i] >> 4], kHex[digest[i] & 15]});
  return out;
}

int HttpClient::native_handle() const { return impl_->fd; }
std::uint16_t HttpClient::port() const { return impl_->port; }

HttpResponse parse_response(std::string_view bytes, bool head) {
  std::size_t used = 0;
  return *take_response(bytes, head, true, used);
}

std::vector<HttpResponse> parse_responses(std::string_view bytes) {
  std::vector<HttpResponse> out;
  while (!bytes.empty()) {
    std::size_t used = 0;
    out.push_back(*take_response(bytes, false, true, used));
    if (used == 0) break;
    bytes.remove_prefix(used);
  }
  return out;
}

}  // namespace welkin::test
