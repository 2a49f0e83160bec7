#include "mail/wire.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace welkin::mail {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
constexpr std::size_t kLineBytesMax = 2000;

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeTls {
  void operator()(SSL* tls) const { SSL_free(tls); }
};
struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

/// Waits until the socket can be read or written.
void wait_for(int socket, short events, SteadyTime until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) throw WireError("the relay did not answer in time");
    pollfd one{socket, events, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left.count()));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw WireError(std::strerror(errno));
  }
}

bool connect_one(int socket, const addrinfo& address, SteadyTime until) {
  if (::connect(socket, address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  wait_for(socket, POLLOUT, until);
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

int connect_any(const Relay& relay, SteadyTime until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(relay.host.c_str(), std::to_string(relay.port).c_str(), &hints, &found) != 0)
    throw WireError("the relay's name is not known");
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  for (const auto* one = found; one != nullptr; one = one->ai_next) {
    const int made =
        ::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol);
    if (made < 0) continue;
    try {
      if (connect_one(made, *one, until)) return made;
    } catch (const WireError&) {
      // The next address has what is left of the time.
    }
    ::close(made);
  }
  throw WireError("the relay cannot be reached");
}

}  // namespace

struct Wire::Impl {
  explicit Impl(const Relay& to) : relay(to) {}
  ~Impl() {
    if (tls) SSL_shutdown(tls.get());
    tls.reset();
    if (socket >= 0) ::close(socket);
  }

  SteadyTime until() const { return std::chrono::steady_clock::now() + relay.timeout; }

  /// Waits for what TLS wants next. @throws WireError
  void tls_turn(int result, SteadyTime end) {
    const int error = SSL_get_error(tls.get(), result);
    if (error == SSL_ERROR_WANT_READ) return wait_for(socket, POLLIN, end);
    if (error == SSL_ERROR_WANT_WRITE) return wait_for(socket, POLLOUT, end);
    if (SSL_get_verify_result(tls.get()) != X509_V_OK)
      throw WireError(std::string("the relay's certificate is not trusted: ") +
                      X509_verify_cert_error_string(SSL_get_verify_result(tls.get())));
    throw WireError("TLS with the relay failed");
  }

  std::size_t read_some(char* into, std::size_t room) {
    const auto end = until();
    for (;;) {
      ERR_clear_error();
      const auto got =
          tls ? SSL_read(tls.get(), into, static_cast<int>(room)) : ::recv(socket, into, room, 0);
      if (got > 0) return static_cast<std::size_t>(got);
      if (tls) {
        tls_turn(static_cast<int>(got), end);
      } else {
        if (got == 0) throw WireError("the relay ended the connection");
        if (errno != EAGAIN && errno != EINTR) throw WireError(std::strerror(errno));
        wait_for(socket, POLLIN, end);
      }
    }
  }

  Relay relay;
  int socket = -1;
  std::unique_ptr<SSL_CTX, FreeContext> context;
  std::unique_ptr<SSL, FreeTls> tls;
  std::string buffer;
};

Wire::Wire(const Relay& relay) : impl_(std::make_unique<Impl>(relay)) {
  impl_->socket = connect_any(relay, impl_->until());
  if (relay.tls == Tls::implicit) start_tls();
}

Wire::~Wire() = default;

bool Wire::is_secret() const { return impl_->tls != nullptr; }

void Wire::start_tls() {
  auto& s = *impl_;
  if (!s.buffer.empty()) throw WireError("the relay said more than it may before TLS");
  s.context.reset(SSL_CTX_new(TLS_client_method()));
  if (!s.context || SSL_CTX_set_min_proto_version(s.context.get(), TLS1_2_VERSION) != 1)
    throw WireError("TLS cannot be set up");
  const bool trusts = s.relay.ca_file.empty() ? SSL_CTX_set_default_verify_paths(s.context.get()) == 1
                                              : SSL_CTX_load_verify_locations(
                                                    s.context.get(), s.relay.ca_file.c_str(), nullptr) == 1;
  if (!trusts) throw WireError("the certificates to trust cannot be read");
  SSL_CTX_set_verify(s.context.get(), SSL_VERIFY_PEER, nullptr);
  s.tls.reset(SSL_new(s.context.get()));
  if (!s.tls || SSL_set_fd(s.tls.get(), s.socket) != 1) throw WireError("TLS cannot be set up");
  SSL_set_tlsext_host_name(s.tls.get(), s.relay.host.c_str());
  // An address is looked for among the certificate's addresses, a name among its names.
  auto* parameters = SSL_get0_param(s.tls.get());
  if (X509_VERIFY_PARAM_set1_ip_asc(parameters, s.relay.host.c_str()) != 1 &&
      X509_VERIFY_PARAM_set1_host(parameters, s.relay.host.c_str(), 0) != 1)
    throw WireError("the relay's name cannot be verified");
  const auto end = s.until();
  for (;;) {
    ERR_clear_error();
    const int result = SSL_connect(s.tls.get());
    if (result == 1) return;
    s.tls_turn(result, end);
  }
}

void Wire::write(std::string_view bytes) {
  auto& s = *impl_;
  auto end = s.until();
  while (!bytes.empty()) {
    ERR_clear_error();
    const auto piece = bytes.substr(0, 16'384);
    const auto sent = s.tls ? SSL_write(s.tls.get(), piece.data(), static_cast<int>(piece.size()))
                            : ::send(s.socket, piece.data(), piece.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      end = s.until();
    } else if (s.tls) {
      s.tls_turn(static_cast<int>(sent), end);
    } else {
      if (errno != EAGAIN && errno != EINTR) throw WireError(std::strerror(errno));
      wait_for(s.socket, POLLOUT, end);
    }
  }
}

std::string Wire::line() {
  auto& s = *impl_;
  for (;;) {
    if (const auto at = s.buffer.find('\n'); at != std::string::npos) {
      auto out = s.buffer.substr(0, at);
      s.buffer.erase(0, at + 1);
      if (!out.empty() && out.back() == '\r') out.pop_back();
      return out;
    }
    if (s.buffer.size() > kLineBytesMax) throw WireError("the relay's answer is too long");
    std::array<char, 1024> piece{};
    s.buffer.append(piece.data(), s.read_some(piece.data(), piece.size()));
  }
}

}  // namespace welkin::mail
