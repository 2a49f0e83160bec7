#include "http/loop.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

#include "http/http_metrics.hpp"
#include "welkin/core/log.hpp"

namespace welkin::http {
namespace {

namespace asio = boost::asio;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable_t<Executor>());
constexpr std::chrono::milliseconds kAcceptPause{50};
constexpr std::chrono::seconds kComplaintInterval{10};
constexpr unsigned kAcceptsInARow = 64;
constexpr unsigned kEvictionLook = 64;

Address address_of(const sockaddr_storage& from) {
  if (from.ss_family == AF_INET)
    return Address::from_v4(&reinterpret_cast<const sockaddr_in&>(from).sin_addr);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  return Address::from_v6(&v6.sin6_addr);
}

/// "127.0.0.1:8086": what an HTTP/1.0 client without Host has asked.
std::string local_authority_of(int fd) {
  sockaddr_storage own{};
  socklen_t bytes = sizeof own;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) return "localhost";
  const auto address = address_of(own);
  const auto port = ntohs(own.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(own).sin_port
                                                   : reinterpret_cast<const sockaddr_in6&>(own).sin6_port);
  return (address.is_v4() ? address.text() : "[" + address.text() + "]") + ":" + std::to_string(port);
}

/// Says so and hangs up. Best effort: a full socket buffer of a new connection does not happen.
void turn_away(int fd, bool tls, std::string_view status) {
  if (!tls) {
    const std::string answer = "HTTP/1.1 " + std::string(status) +
                               "\r\nContent-Length: 0\r\nRetry-After: 5\r\nConnection: close\r\n\r\n";
    [[maybe_unused]] const auto n = ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(fd, SHUT_WR);
    // Whatever the client has sent already is taken, or the close would reset the answer away.
    char rubbish[4096];
    while (::recv(fd, rubbish, sizeof rubbish, MSG_DONTWAIT) > 0) {
    }
  }
  ::close(fd);
}

}  // namespace

Admission::Answer Admission::enter(const Address& peer, bool in_place_of_another) {
  const unsigned limit = max_ + (peer.is_loopback() ? kReserved : 0);
  if (open_.fetch_add(1) >= limit && !in_place_of_another) {
    open_.fetch_sub(1);
    return Answer::full;
  }
  if (settings_.connections_per_address_max == 0 || !counts(peer)) return Answer::welcome;
  const std::lock_guard lock(mutex_);
  auto& count = per_address_[peer.limit_key()];
  if (count >= settings_.connections_per_address_max) {
    open_.fetch_sub(1);
    return Answer::too_many_of_address;
  }
  ++count;
  return Answer::welcome;
}

void Admission::leave(const Address& peer) {
  open_.fetch_sub(1);
  if (settings_.connections_per_address_max == 0 || !counts(peer)) return;
  const std::lock_guard lock(mutex_);
  const auto found = per_address_.find(peer.limit_key());
  if (found != per_address_.end() && --found->second == 0) per_address_.erase(found);
}

Loop::Loop(asio::io_context& io, const Settings& settings, const Router& router, Admission& admission,
           Tally& tally, ContextSource tls)
    : io_(io),
      settings_(settings),
      router_(router),
      admission_(admission),
      tally_(tally),
      tls_(std::move(tls)),
      acceptor_(io.get_executor()),
      sweep_timer_(io.get_executor()),
      accept_pause_(io.get_executor()),
      spare_fd_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

Loop::~Loop() {
  if (spare_fd_ >= 0) ::close(spare_fd_);
}

void Loop::start(int listening_fd, bool v6) {
  v6_ = v6;
  acceptor_.assign(v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), listening_fd);
  const auto done = [this](const std::exception_ptr& failure) {
    if (failure) log::error("an io thread's acceptor or sweep ended unexpectedly");
    tally_.finish();
  };
  tally_.begin();
  asio::co_spawn(io_.get_executor(), accept_all(), done);
  tally_.begin();
  asio::co_spawn(io_.get_executor(), sweep_all(), done);
}

Task<> Loop::accept_all() {
  while (!stopping_) {
    const auto [error] = co_await acceptor_.async_wait(Acceptor::wait_read, kTuple);
    if (error || stopping_) break;
    if (accept_some()) continue;
    // No descriptor is left: somebody idle goes, and nothing is tried again for a moment. Spinning would help
    // nobody.
    evict_one();
    accept_pause_.expires_after(kAcceptPause);
    co_await accept_pause_.async_wait(kTuple);
  }
}

bool Loop::accept_some() {
  for (unsigned i = 0; i < kAcceptsInARow && !stopping_; ++i) {
    sockaddr_storage from{};
    socklen_t bytes = sizeof from;
    const int fd = ::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&from), &bytes,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      admit(fd, address_of(from), local_authority_of(fd), from.ss_family == AF_INET6);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      if (const auto now = std::chrono::steady_clock::now(); now - last_complaint_ > kComplaintInterval) {
        last_complaint_ = now;
        log::warn("cannot accept: {}", std::strerror(errno));
      }
      drop_one_without_descriptor();
      return false;
    }
    // Anything else is the fault of the one connection that went away (accept(2)).
  }
  return true;
}

/// Takes the first waiting connection with the spare descriptor and closes it: better a refusal than silence.
void Loop::drop_one_without_descriptor() {
  if (spare_fd_ >= 0) ::close(spare_fd_);
  const int fd = ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    server_metrics().refused_full.add();
    turn_away(fd, tls_() != nullptr, "503 Service Unavailable");
  }
  spare_fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void Loop::admit(int fd, const Address& peer, std::string local_authority, bool v6) {
  const auto tls = tls_();
  auto answer = admission_.enter(peer);
  if (answer == Admission::Answer::full && evict_one()) answer = admission_.enter(peer, true);
  if (answer != Admission::Answer::welcome) {
    const bool full = answer == Admission::Answer::full;
    (full ? server_metrics().refused_full : server_metrics().refused_address).add();
    turn_away(fd, tls != nullptr, full ? "503 Service Unavailable" : "429 Too Many Requests");
    return;
  }
  try {
    begin_session(tls ? make_tls_stream(io_, fd, v6, tls) : make_tcp_stream(io_, fd, v6), peer,
                  std::move(local_authority), tls != nullptr);
  } catch (const std::exception& e) {  // out of memory or of kernel resources: the acceptor must live on
    log::error("a connection could not be taken: {}", e.what());
    admission_.leave(peer);
  }
}

void Loop::begin_session(std::unique_ptr<Stream> stream, const Address& peer, std::string local_authority,
                         bool tls) {
  Entries made(1);
  const auto entry = made.begin();
  entry->session = std::make_unique<Session>(std::move(stream), settings_, router_, state_, peer,
                                             std::move(local_authority), tls);
  sessions_.splice(sessions_.end(), made);
  server_metrics().accepted.add();
  server_metrics().connections.add(1);
  tally_.begin();
  asio::co_spawn(
      io_.get_executor(), entry->session->run(),
      asio::bind_cancellation_slot(entry->cancel.slot(), [this, entry](const std::exception_ptr& failure) {
        if (failure && !state_.cutting) log::error("a session ended with an exception");
        admission_.leave(entry->session->peer());
        sessions_.erase(entry);
        server_metrics().connections.add(-1);
        if (stopping_ && sessions_.empty()) sweep_timer_.cancel();
        tally_.finish();
      }));
}

/// Closes a connection that waits for its client: of the first kEvictionLook ones that wait, the one that has
/// done so for longest. Busy ones go to the end of the list, so that a flood does not look at them again and
/// again.
bool Loop::evict_one() {
  Session* oldest = nullptr;
  unsigned waiting = 0;
  auto at = sessions_.begin();
  for (auto left = sessions_.size(); left > 0 && waiting < kEvictionLook; --left) {
    auto& session = *at->session;
    const auto next = std::next(at);
    if (!session.is_waiting_for_client() || session.connection().cut() != Cut::none) {
      sessions_.splice(sessions_.end(), sessions_, at);
    } else {
      ++waiting;
      if (!oldest || session.idle_since() < oldest->idle_since()) oldest = &session;
    }
    at = next;
  }
  if (!oldest) return false;
  oldest->connection().cut(Cut::evicted);
  server_metrics().evicted.add();
  return true;
}

Task<> Loop::sweep_all() {
  while (!stopping_ || !sessions_.empty()) {
    sweep_timer_.expires_after(kSweepInterval);
    co_await sweep_timer_.async_wait(kTuple);
    const auto now = std::chrono::steady_clock::now();
    for (auto& entry : sessions_) entry.session->connection().sweep(now);
  }
}

void Loop::begin_drain() {
  stopping_ = true;
  state_.draining = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  accept_pause_.cancel();
  for (auto& entry : sessions_) {
    auto& connection = entry.session->connection();
    if (connection.waiting() == Wait::web_socket) connection.cut(Cut::timeout);  // it will see why, and say goodbye
    if (connection.waiting() != Wait::idle) continue;
    int unread = 0;  // a request that has arrived and was not read yet is in flight, not idle
    if (::ioctl(connection.stream().native_handle(), FIONREAD, &unread) == 0 && unread > 0) continue;
    connection.cut(Cut::drained);
  }
  if (sessions_.empty()) sweep_timer_.cancel();
}

void Loop::cut_all() {
  state_.cutting = true;
  for (auto& entry : sessions_) {
    entry.session->connection().cut(Cut::drained);
    entry.cancel.emit(asio::cancellation_type::terminal);
  }
}

}  // namespace welkin::http
