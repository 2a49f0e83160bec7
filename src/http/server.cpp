#include "welkin/http/server.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "http/loop.hpp"
#include "welkin/core/bytes.hpp"
#include "welkin/core/log.hpp"

namespace welkin::http {
namespace {

namespace asio = boost::asio;
constexpr int kBacklog = 1024;
constexpr rlim_t kDescriptorsForOthers = 256;  // files being served, databases, logs

[[noreturn]] void fail(const std::string& listen, const std::string& what, int error) {
  throw std::runtime_error("cannot listen on " + listen + ": " + what + ": " + std::strerror(error));
}

struct BindTo {
  sockaddr_storage address{};
  socklen_t bytes = 0;
  bool v6() const { return address.ss_family == AF_INET6; }
  void set_port(std::uint16_t port) {
    if (v6())
      reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
    else
      reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  }
};

BindTo resolve(const std::string& listen) {
  const auto parsed = parse_listen(listen);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const auto port = std::to_string(parsed.port);
  const int error =
      ::getaddrinfo(parsed.host.empty() ? nullptr : parsed.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) throw std::runtime_error("cannot listen on " + listen + ": " + ::gai_strerror(error));
  const addrinfo* chosen = found;
  // All addresses: the IPv6 wildcard takes IPv4 too, where there is IPv6.
  if (parsed.host.empty())
    for (const auto* a = found; a; a = a->ai_next)
      if (const Fd probe(a->ai_family == AF_INET6 ? ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1);
          probe)
        chosen = a;
  BindTo out;
  std::memcpy(&out.address, chosen->ai_addr, chosen->ai_addrlen);
  out.bytes = chosen->ai_addrlen;
  ::freeaddrinfo(found);
  return out;
}

Fd bind_to(const BindTo& to, bool shared, const std::string& listen) {
  Fd fd(::socket(to.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) fail(listen, "socket", errno);
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Accepted sockets inherit these two.
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  if (to.v6()) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (shared && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0)
    fail(listen, "SO_REUSEPORT", errno);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&to.address), to.bytes) != 0)
    fail(listen, "bind", errno);
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage own{};
  socklen_t bytes = sizeof own;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &bytes);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(own).sin_port);
}

/// How many connections the process can have, whatever the configuration hopes for.
unsigned connections_possible(unsigned wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  const rlim_t needed_by_others = kDescriptorsForOthers + Admission::kReserved;
  const rlim_t room = limit.rlim_cur > needed_by_others + 64 ? limit.rlim_cur - needed_by_others : 64;
  if (room >= wanted) return wanted;
  log::warn("the limit of {} open files allows {} connections, not the {} configured", limit.rlim_cur, room,
            wanted);
  return static_cast<unsigned>(room);
}

}  // namespace

struct IoThreads::Impl {
  struct Thread {
    asio::io_context context{1};
    asio::executor_work_guard<Executor> guard{context.get_executor()};
    std::thread thread;
  };
  std::vector<std::unique_ptr<Thread>> threads;
  std::atomic<bool> running{false};
};

IoThreads::IoThreads(unsigned threads) : impl_(std::make_unique<Impl>()) {
  for (unsigned i = 0; i < std::max(1u, threads); ++i)
    impl_->threads.push_back(std::make_unique<Impl::Thread>());
}

IoThreads::~IoThreads() { stop_and_join(); }

std::size_t IoThreads::size() const { return impl_->threads.size(); }
asio::io_context& IoThreads::at(std::size_t i) { return impl_->threads.at(i)->context; }
bool IoThreads::running() const { return impl_->running; }

void IoThreads::start() {
  if (impl_->running.exchange(true)) return;
  for (std::size_t i = 0; i < impl_->threads.size(); ++i) {
    auto& t = *impl_->threads[i];
    t.thread = std::thread([&t, i] {
      ::pthread_setname_np(::pthread_self(), ("welkin-io-" + std::to_string(i)).c_str());
      for (;;) {
        try {
          t.context.run();
          return;
        } catch (const std::exception& e) {
          log::error("an exception reached an io thread: {}", e.what());
        } catch (...) {
          log::error("an unknown exception reached an io thread");
        }
      }
    });
  }
}

void IoThreads::stop_and_join() {
  for (auto& t : impl_->threads) t->guard.reset();
  for (auto& t : impl_->threads)
    if (t->thread.joinable()) t->thread.join();
  impl_->running = false;
}

struct Server::Impl {
  IoThreads& io;
  const std::string listen;
  const std::string tls_certificate;
  const std::string tls_key;
  const Settings settings;
  const Router& router;
  Admission admission;
  Tally tally;
  std::mutex tls_mutex;
  std::shared_ptr<TlsContext> tls;
  std::vector<std::unique_ptr<Loop>> loops;
  bool listening = false;

  Impl(IoThreads& io_, const Config& config, const Router& router_)
      : io(io_),
        listen(config.listen),
        tls_certificate(config.tls_cert),
        tls_key(config.tls_key),
        settings(config),
        router(router_),
        admission(settings, connections_possible(settings.connections_max)) {
    if (tls_certificate.empty() != tls_key.empty())
      throw std::runtime_error("TLS needs both a certificate and a key: tls_cert and tls_key");
    if (!tls_certificate.empty()) tls = std::make_shared<TlsContext>(tls_certificate, tls_key);
    const auto source = [this] {
      const std::lock_guard lock(tls_mutex);
      return tls;
    };
    for (std::size_t i = 0; i < io.size(); ++i)
      loops.push_back(std::make_unique<Loop>(io.at(i), settings, router, admission, tally, source));
  }

  template <class F>
  void on_each_loop(F f) {
    for (std::size_t i = 0; i < loops.size(); ++i)
      asio::post(io.at(i), [loop = loops[i].get(), f] { f(*loop); });
  }
};

Server::Server(IoThreads& io, const Config& config, const Router& router) {
  std::signal(SIGPIPE, SIG_IGN);  // sendfile and OpenSSL have no flag against it
  impl_ = std::make_unique<Impl>(io, config, router);
}

Server::~Server() { drain(std::chrono::seconds(0)); }

std::uint16_t Server::listen() {
  auto& s = *impl_;
  auto to = resolve(s.listen);
  // Sockets that share a port would also share it with another server of this user. One that does not share
  // finds out.
  auto first = bind_to(to, false, s.listen);
  const auto port = port_of(first.get());
  std::vector<Fd> sockets;
  if (s.loops.size() == 1) {
    sockets.push_back(std::move(first));
  } else {
    first.reset();
    to.set_port(port);
    for (std::size_t i = 0; i < s.loops.size(); ++i) sockets.push_back(bind_to(to, true, s.listen));
  }
  for (const auto& fd : sockets)
    if (::listen(fd.get(), kBacklog) != 0) fail(s.listen, "listen", errno);
  for (std::size_t i = 0; i < s.loops.size(); ++i) s.loops[i]->start(sockets[i].release(), to.v6());
  s.listening = true;
  return port;
}

void Server::reload_tls() {
  auto& s = *impl_;
  if (s.tls_certificate.empty()) return;
  try {
    auto fresh = std::make_shared<TlsContext>(s.tls_certificate, s.tls_key);
    const std::lock_guard lock(s.tls_mutex);
    s.tls = std::move(fresh);
  } catch (const std::exception& e) {
    log::error("the old certificate stays in use: {}", e.what());
    return;
  }
  log::info("TLS certificate read again");
}

void Server::drain(std::chrono::seconds limit) {
  auto& s = *impl_;
  if (!s.listening || !s.io.running()) return;
  s.listening = false;
  s.on_each_loop([](Loop& loop) { loop.begin_drain(); });
  if (s.tally.wait_until(std::chrono::steady_clock::now() + limit)) return;
  s.on_each_loop([](Loop& loop) { loop.cut_all(); });
  while (!s.tally.wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(5)))
    log::warn("{} connections still wait for work that cannot be cancelled", s.admission.open());
}

}  // namespace welkin::http
