#include "support/db_proxy.hpp"

#include <libpq-fe.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "support/test_db.hpp"

namespace welkin::tests {
namespace {

constexpr std::string_view kCommitMark = "db.commit/";  // the name under which the pool prepares COMMIT

int open_unix(const std::string& path, bool listen_on_it) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("socket path too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* at = reinterpret_cast<const sockaddr*>(&address);
  const bool ok = listen_on_it ? bind(fd, at, sizeof address) == 0 && listen(fd, 64) == 0
                               : connect(fd, at, sizeof address) == 0;
  if (ok) return fd;
  close(fd);
  return -1;
}

int open_tcp(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool ok = connect(fd, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  if (ok) return fd;
  close(fd);
  return -1;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

DbProxy::DbProxy(const std::string& url) {
  std::string user, database;
  PQconninfoOption* const options = PQconninfoParse(url.c_str(), nullptr);
  for (auto* o = options; o != nullptr && o->keyword != nullptr; ++o) {
    const std::string value = o->val != nullptr ? o->val : "";
    if (std::strcmp(o->keyword, "host") == 0) upstream_host_ = value;
    if (std::strcmp(o->keyword, "port") == 0) upstream_port_ = value.empty() ? "5432" : value;
    if (std::strcmp(o->keyword, "user") == 0) user = value;
    if (std::strcmp(o->keyword, "dbname") == 0) database = value;
  }
  PQconninfoFree(options);
  url_ = "host=" + folder_.path() + " port=5432 dbname=" + database + (user.empty() ? "" : " user=" + user);
  listener_ = open_unix(folder_.path() + "/.s.PGSQL.5432", true);
  if (listener_ < 0) throw std::runtime_error("the proxy cannot listen");
  acceptor_ = std::thread([this] { accept_links(); });
}

DbProxy::~DbProxy() {
  ending_ = true;
  acceptor_.join();
  for (auto& link : links_) link.join();
  close(listener_);
}

void DbProxy::accept_links() {
  while (!ending_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, 20) <= 0) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    if (black_hole_) {
      close(client);
      continue;
    }
    links_.emplace_back([this, client] { relay(client); });
  }
}

// @return false when the link is to be closed
bool DbProxy::pass(int from, int to, bool is_client, bool& swallow) {
  std::array<char, 65536> buffer;
  const auto n = recv(from, buffer.data(), buffer.size(), 0);
  if (n <= 0) return false;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(n));
  if (black_hole_) return true;
  if (!is_client && swallow) return false;  // the answer to the COMMIT is here, so it has happened
  if (is_client && bytes.find(kCommitMark) != std::string_view::npos) {
    const Cut cut = cut_.exchange(Cut::none);
    if (cut != Cut::none) ++cuts_;
    if (cut == Cut::before_commit) return false;
    if (cut == Cut::at_commit) return send_all(to, bytes), false;
    swallow = cut == Cut::after_commit;
  }
  return send_all(to, bytes);
}

void DbProxy::relay(int client) {
  const int server = upstream_host_.starts_with("/")
                         ? open_unix(upstream_host_ + "/.s.PGSQL." + upstream_port_, false)
                         : open_tcp(upstream_host_, upstream_port_);
  bool swallow = false;
  bool open = server >= 0;
  while (open && !ending_) {
    std::array<pollfd, 2> waiting{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    if (poll(waiting.data(), waiting.size(), 20) <= 0) continue;
    if (waiting[0].revents != 0) open = pass(client, server, true, swallow);
    if (open && waiting[1].revents != 0) open = pass(server, client, false, swallow);
  }
  close(client);
  if (server >= 0) close(server);
}

}  // namespace welkin::tests
