#include "app/healthcheck.hpp"

#include <fmt/core.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "app/command.hpp"
#include "app/data_lock.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"

namespace welkin::app {
namespace {

constexpr int kSeconds = 4;
constexpr std::size_t kAnswerBytesMax = 64 << 10;

struct Connection {
  Fd socket;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{nullptr, SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> tls{nullptr, SSL_free};

  long read(char* out, std::size_t size) {
    return tls ? SSL_read(tls.get(), out, static_cast<int>(size)) : ::recv(socket.get(), out, size, 0);
  }
  bool write(const std::string& text) {
    const auto size = static_cast<long>(text.size());
    return tls ? SSL_write(tls.get(), text.data(), static_cast<int>(size)) == size
               : ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) == size;
  }
};

/// "" or why it failed.
std::string connect_to(const std::string& host, std::uint16_t port, bool tls, Connection& out) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return "no such address";
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> guard(found, freeaddrinfo);
  out.socket.reset(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{kSeconds, 0};
  ::setsockopt(out.socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(out.socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(out.socket.get(), found->ai_addr, found->ai_addrlen) != 0) return std::strerror(errno);
  if (!tls) return "";
  out.context.reset(SSL_CTX_new(TLS_client_method()));
  out.tls.reset(SSL_new(out.context.get()));
  SSL_set_fd(out.tls.get(), out.socket.get());
  return SSL_connect(out.tls.get()) == 1 ? "" : "the TLS handshake failed";
}

std::string host_of(const std::string& base_url, const std::string& address) {
  const auto scheme = base_url.find("://");
  if (scheme == std::string::npos) return address;
  const auto begin = scheme + 3;
  return base_url.substr(begin, base_url.find('/', begin) - begin);
}

std::string path_of(const std::string& base_url) {
  const auto scheme = base_url.find("://");
  const auto slash = scheme == std::string::npos ? scheme : base_url.find('/', scheme + 3);
  return slash == std::string::npos ? "" : base_url.substr(slash);
}

/// Whether the lock of the directory tells who runs on it: not to users it is closed to.
bool may_look_at(const std::string& data_dir) {
  return ::access(data_dir.c_str(), R_OK | W_OK | X_OK) == 0 || errno == ENOENT;
}

/// An address to listen on, as one to ask.
std::string askable(const std::string& listen) {
  const auto [host, port] = parse_address(listen);
  const auto shown = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host;
  return shown.find(':') == std::string::npos ? fmt::format("{}:{}", shown, port)
                                              : fmt::format("[{}]:{}", shown, port);
}

}  // namespace

HttpAnswer http_get(const std::string& address, bool tls, const std::string& host,
                    const std::string& target) {
  const auto [ip, port] = parse_address(address);
  Connection connection;
  if (const auto fault = connect_to(ip, port, tls, connection); !fault.empty()) return {0, fault};
  const auto request = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: welkin-healthcheck/{}\r\n"
      "Accept-Encoding: identity\r\nConnection: close\r\n\r\n",
      target, host, WELKIN_VERSION);
  if (!connection.write(request)) return {0, "the request could not be sent"};
  std::string answer;
  char piece[4096];
  long got = 0;
  while (answer.size() < kAnswerBytesMax && (got = connection.read(piece, sizeof piece)) > 0) {
    answer.append(piece, static_cast<std::size_t>(got));
  }
  if (!answer.starts_with("HTTP/1.") || answer.size() < 12) return {0, "no answer came in time"};
  const auto status = text::number(std::string_view(answer).substr(9, 3));
  const auto body = answer.find("\r\n\r\n");
  return {status ? static_cast<int>(*status) : 0, body == std::string::npos ? "" : answer.substr(body + 4)};
}

int healthcheck(bool quiet) {
  const auto loaded = begin_command(DataDir::look_only);
  const auto& config = loaded.config;
  std::string address;
  bool tls = !config.tls_cert.empty();
  if (const auto holder = DataLock::holder(config.data_dir); holder && !holder->address.empty()) {
    address = holder->address;
    tls = holder->tls;
  } else if (may_look_at(config.data_dir)) {
    // Whoever answers at the address that is configured serves something else.
    if (!quiet) fmt::print(stderr, "welkin: not ready: no server runs on {}\n", config.data_dir);
    return 1;
  } else {
    address = askable(config.listen);
  }
  const auto answer =
      http_get(address, tls, host_of(config.base_url, address), path_of(config.base_url) + "/ready");
  const bool ready = answer.status == 200;
  if (!quiet && ready) fmt::print("ready: {}\n", address);
  if (!quiet && !ready) {
    fmt::print(
        stderr, "welkin: not ready: {}: {}\n", address,
        log::one_line(answer.status == 0 ? answer.text : fmt::format("{} {}", answer.status, answer.text)));
  }
  return ready ? 0 : 1;
}

}  // namespace welkin::app
